import { describe, expect, test } from 'vitest'
import type { PlannedRequest, SeriesIdentity } from '../../src/job/plannedRequest.ts'
import type { AnyParams } from '../../src/service/routes.ts'
import { SERVICES } from '../../src/service/services.ts'
import { transform } from '../../src/transform/transform.ts'
import { SchemaError } from '../../src/util/errors.ts'
import { parseInstant } from '../../src/util/time/instant.ts'

const at = (text: string) => parseInstant(text)
const RAW: SeriesIdentity = {
  kind: 'indicator',
  indicatorId: 600,
  timeTrunc: null,
  timeAgg: null,
  geoAgg: null,
  geoTrunc: null,
  geoIds: null,
}
const planned = (series: Partial<SeriesIdentity> = {}, params: AnyParams = { id: 600 }): PlannedRequest => ({
  entry: 'series[0]',
  route: 'indicator',
  params,
  request: { route: 'indicator', target: '/indicators/600', headers: {} },
  locale: 'es',
  reason: 'missing',
  series: { ...RAW, ...series },
  geoIds: [0],
  window: { from: at('2021-10-30T22:00:00Z'), to: at('2021-10-31T23:00:00Z') },
  settledBefore: 0,
  lookbackS: null,
  timeZone: 'Europe/Madrid',
  service: SERVICES.generic,
  complete: false,
})
const value = (over: object = {}) => ({
  value: 10,
  datetime: '2021-10-31T00:00:00.000+02:00',
  datetime_utc: '2021-10-30T22:00:00Z',
  tz_time: '2021-10-30T22:00:00.000Z',
  geo_id: 3,
  geo_name: 'España',
  ...over,
})
const body = (values: unknown, over: object = {}) =>
  Buffer.from(
    JSON.stringify({
      indicator: {
        id: 600,
        name: 'Precio',
        short_name: 'P',
        tiempo: [{ name: 'Hora', id: 4 }],
        geos: [],
        values,
        ...over,
      },
    }),
  )
const read = (values: unknown, over: object = {}, series: Partial<SeriesIdentity> = {}) =>
  transform(body(values, over), planned(series))

describe('values become observations', () => {
  test('the second of two equal clock hours is an hour of its own, whatever datetime_utc says', () => {
    const { observations } = read([
      value({
        datetime: '2021-10-31T02:00:00.000+02:00',
        tz_time: '2021-10-31T00:00:00.000Z',
        datetime_utc: '2021-10-31T00:00:00Z',
      }),
      value({
        datetime: '2021-10-31T02:00:00.000+01:00',
        tz_time: '2021-10-31T01:00:00.000Z',
        datetime_utc: '2021-10-31T00:00:00Z',
      }),
    ])
    expect(observations!.at).toEqual([at('2021-10-31T00:00:00Z'), at('2021-10-31T01:00:00Z')])
  })

  test('unsorted rows of several geos come out by geo and instant, repeated ones once', () => {
    const later = { datetime: '2021-10-31T01:00:00.000+02:00', tz_time: '2021-10-30T23:00:00.000Z' }
    const { observations, rejects } = read([
      value({ geo_id: 9, value: 1 }),
      value({ ...later, value: 2 }),
      value(),
      value(),
    ])
    expect(observations).toMatchObject({ geoIds: [3, 3, 9], values: [10, 2, 1] })
    expect(rejects).toEqual([])
  })

  test('of two different values for one instant the later holds and the earlier is told', () => {
    const { observations, rejects } = read([value({ value: 1 }), value({ value: 2 })])
    expect(observations!.values).toEqual([2])
    expect(rejects).toHaveLength(1)
  })

  test('rows outside the window are left out and counted', () => {
    const { observations, outside } = read([
      value(),
      value({ datetime: '2021-11-01T00:00:00.000+01:00', tz_time: '2021-10-31T23:00:00.000Z' }),
    ])
    expect(observations!.at).toHaveLength(1)
    expect(outside).toBe(1)
  })

  test.each([
    ['a text', { value: '10.5' }, /"10.5" is not a number/],
    ['missing', { value: undefined }, /missing is not a number/],
    ['an object', { value: {} }, /is not a number/],
  ])('a value that is %s is rejected with its place, the others are read', (_name, over, reason) => {
    const { observations, rejects } = read([value({ geo_id: 1 }), value(over)])
    expect(observations!.at).toHaveLength(1)
    expect(rejects).toHaveLength(1)
    expect(rejects[0]).toMatchObject({ path: '$.indicator.values[1]', reason: expect.stringMatching(reason) })
  })

  test('the key of the answer that has the values is that of the route', () => {
    const { generic } = SERVICES
    const routes = { ...generic.routes, indicator: { ...generic.routes.indicator!, root: 'serie' } }
    const other = { ...planned(), service: { ...generic, routes } }
    const answer = (body: object) => transform(Buffer.from(JSON.stringify(body)), other)
    const values = [value({ geo_id: 1 }), value({ value: '10.5' })]
    const { observations, rejects } = answer({ serie: { id: 600, values } })
    expect(observations!.at).toHaveLength(1)
    expect(rejects).toMatchObject([{ path: '$.serie.values[1]' }])
    expect(() => answer({ serie: { id: 600 } })).toThrow(expect.objectContaining({ path: '$.serie.values' }))
  })

  test.each([
    ['a date that does not exist', { datetime: '2021-02-30T00:00:00.000+01:00', tz_time: undefined }],
    ['no offset', { datetime: '2021-10-31T00:00:00.000', tz_time: undefined }],
    ['datetime and tz_time that disagree', { tz_time: '2021-10-30T23:00:00.000Z' }],
    ['a geo that is a text', { geo_id: '3' }],
    ['nothing at all', null],
  ])('%s goes to quarantine', (_name, over) => {
    const { observations, rejects } = read([over === null ? 7 : value(over)])
    expect(observations!.at).toEqual([])
    expect(rejects).toHaveLength(1)
  })

  test('null is a value, and zero and negative ones too', () => {
    const hours = ['00', '01', '02'].map((hour, i) =>
      value({
        datetime: `2021-10-31T${hour}:00:00.000+02:00`,
        tz_time: `2021-10-${i < 2 ? '30' : '31'}T${['22', '23', '00'][i]}:00:00.000Z`,
        value: [null, 0, -3.5][i],
      }),
    )
    expect(read(hours).observations!.values).toEqual([null, 0, -3.5])
  })

  test('geos are taken from the list and from the values; a single geo of an aggregate is that geo, others are 0', () => {
    const { tables } = read([value()], { geos: [{ geo_id: 5, geo_name: 'Aragón' }] })
    expect(tables.find(({ table }) => table === 'geo_text')!.rows).toEqual([
      { id: 3, locale: 'es', name: 'España' },
      { id: 5, locale: 'es', name: 'Aragón' },
    ])
    const summed = (geo_ids: unknown) =>
      read([value({ geo_id: undefined, geo_name: undefined, geo_ids })]).observations!.geoIds
    expect(summed([3])).toEqual([3])
    expect(summed([3, 1])).toEqual([0])
  })

  test('an empty answer is empty, and no error', () => {
    expect(read([], { values_updated_at: null })).toMatchObject({ empty: true, rejects: [], observations: { at: [] } })
  })

  test.each([
    [{ tiempo: [{ name: 'Hora', id: 223 }] }, 3600],
    [{ tiempo: [{ name: 'Quince minutos', id: 218 }] }, 900],
    [{ tiempo: [{ name: 'Cinco minutos', id: 99_999 }] }, 300],
    [{ tiempo: [] }, 3600],
  ])('the step of %o is %i s', (over, step) => expect(read([value()], over).observations!.steps).toBe(step))

  test('a day that the service grouped is as long as its calendar says', () => {
    const steps = read([value()], {}, { timeTrunc: 'day', timeAgg: 'sum' }).observations!.steps
    expect(steps).toBe(25 * 3600)
  })

  test('fields without a column stay in the payload', () => {
    const { tables } = read([value()], { colour: 'green' })
    expect(tables.find(({ table }) => table === 'indicator')!.rows[0]).toMatchObject({ payload: '{"colour":"green"}' })
  })
})

describe('a body that is not what we believe', () => {
  test.each([
    ['no JSON', 'not json', /not JSON/],
    ['truncated JSON', '{"indicator":{"values":[', /not JSON/],
    ['a list', '[]', /not a JSON object/],
    ['a message', '{"message":"No values for specified archive"}', /No values for specified archive/],
    ['no indicator', '{"other":1}', /no indicator/],
    ['values that are no list', '{"indicator":{"id":600,"values":{}}}', /values is not a list/],
    ['another indicator', '{"indicator":{"id":601,"values":[]}}', /600 was requested, 601 was answered/],
  ])('%s is a SchemaError', (_name, text, message) => {
    expect(() => transform(Buffer.from(text), planned())).toThrow(SchemaError)
    expect(() => transform(Buffer.from(text), planned())).toThrow(message)
  })
})

describe('what no recording shows is read tolerantly', () => {
  test('the series under another root', () => {
    const text = body([value()]).toString().replace('"indicator"', '"offer_indicator"')
    expect(transform(Buffer.from(text), planned()).observations!.at).toHaveLength(1)
  })

  test('a listing without its envelope', () => {
    const { tables } = transform(Buffer.from('[{"id":7,"name":"x"}]'), { ...planned(), route: 'archives' })
    expect(tables.find(({ table }) => table === 'archive_text')!.rows).toEqual([
      { kind: 'archive', id: 7, locale: 'es', name: 'x' },
    ])
  })

  test('a single widget, with and without an envelope, by its number, its name or the one it was asked by', () => {
    const read = (text: string, id: string | number) =>
      transform(Buffer.from(text), { ...planned({}, { id }), route: 'widget' }).tables[0]!.rows
    expect(read('{"widget":{"id_widget":3,"id":"a","new":1}}', 'a')).toEqual([{ id: 3, slug: 'a' }])
    expect(read('{"id_widget":3,"id":"a"}', 'a')).toEqual([{ id: 3, slug: 'a' }])
    expect(read('{"widget":{"id":"a"}}', 3)).toEqual([{ id: 3, slug: 'a' }])
    expect(() => read('{"widget":{"id":"a"}}', 'a')).toThrow(/no number/)
  })
})
