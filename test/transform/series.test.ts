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
  entryPath: 'series[0]',
  route: 'indicator',
  params,
  http: { route: 'indicator', target: '/indicators/600', headers: {} },
  locale: 'es',
  reason: 'missing',
  series: { ...RAW, ...series },
  geoIds: [0],
  window: { from: at('2021-10-30T22:00:00Z'), to: at('2021-10-31T23:00:00Z') },
  settledBefore: 0,
  lookbackS: null,
  timeZone: 'Europe/Madrid',
  service: SERVICES.generic,
  isUnfiltered: false,
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

describe('observations from values', () => {
  test('the values are read from the root key of the route', () => {
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

  test('names of geos are read from the list and from the values', () => {
    const { tables } = read([value()], { geos: [{ geo_id: 5, geo_name: 'Aragón' }] })
    expect(tables.find(({ table }) => table === 'geo_text')!.rows).toEqual([
      { id: 3, locale: 'es', name: 'España' },
      { id: 5, locale: 'es', name: 'Aragón' },
    ])
  })

  test('an empty reply is not an error', () => {
    expect(read([], { values_updated_at: null })).toMatchObject({
      isEmpty: true,
      rejects: [],
      observations: { at: [] },
    })
  })
})

describe('invalid bodies', () => {
  test.each([
    ['text other than JSON', 'not json', /not JSON/],
    ['no text', '', /not JSON/],
    ['truncated JSON', '{"indicator":{"values":[', /not JSON/],
    ['a trailing comma', '{"indicator":{"values":[1,]}}', /not JSON/],
    ['text after the reply', '{"indicator":{"values":[]}} x', /not JSON/],
    ['a list', '[]', /not a JSON object/],
    ['a message', '{"message":"No values for specified archive"}', /No values for specified archive/],
    ['a missing indicator', '{"other":1}', /no field `indicator`/],
    ['a field `values` that is not a list', '{"indicator":{"id":600,"values":{}}}', /`values` is not a list/],
    [
      'another indicator',
      '{"indicator":{"id":601,"values":[]}}',
      /Requested indicator 600, but the response contains indicator 601/,
    ],
  ])('%s is a SchemaError', (_name, text, message) => {
    expect(() => transform(Buffer.from(text), planned())).toThrow(SchemaError)
    expect(() => transform(Buffer.from(text), planned())).toThrow(message)
  })
})

describe('unrecorded variants of replies', () => {
  test('a series with another root key is read', () => {
    const text = body([value()]).toString().replace('"indicator"', '"offer_indicator"')
    expect(transform(Buffer.from(text), planned()).observations!.at).toHaveLength(1)
  })

  test('a listing without its envelope is read', () => {
    const { tables } = transform(Buffer.from('[{"id":7,"name":"x"}]'), { ...planned(), route: 'archives' })
    expect(tables.find(({ table }) => table === 'archive_text')!.rows).toEqual([
      { kind: 'archive', id: 7, locale: 'es', name: 'x' },
    ])
  })

  test('a widget is read with or without envelope, by id, name or requested id', () => {
    const read = (text: string, id: string | number) =>
      transform(Buffer.from(text), { ...planned({}, { id }), route: 'widget' }).tables[0]!.rows
    expect(read('{"widget":{"id_widget":3,"id":"a","new":1}}', 'a')).toEqual([{ id: 3, slug: 'a' }])
    expect(read('{"id_widget":3,"id":"a"}', 'a')).toEqual([{ id: 3, slug: 'a' }])
    expect(read('{"widget":{"id":"a"}}', 3)).toEqual([{ id: 3, slug: 'a' }])
    expect(() => read('{"widget":{"id":"a"}}', 'a')).toThrow(/no id/)
  })
})

test('values at shorter periods than the requested ones are refused', () => {
  const hours = Array.from({ length: 24 }, (_, i) => {
    const utc = new Date(Date.UTC(2021, 9, 30, 22 + i)).toISOString()
    return value({ datetime: utc.replace('Z', '+00:00'), datetime_utc: utc, tz_time: utc })
  })
  const byDay = { timeTrunc: 'day', timeAgg: 'average' }
  expect(() => read(hours, {}, byDay)).toThrow(
    'Requested values by day, but 23 of 24 rows are not at the start of one.',
  )
  const stray = [
    hours[0],
    ...[1, 2].map((day) => value({ datetime: `2021-11-0${day}T00:00:00+01:00`, datetime_utc: null, tz_time: null })),
    hours[5],
  ]
  expect(read(stray, {}, byDay)).toMatchObject({
    rejected: 1,
    rejects: [{ path: '$.indicator.values[3]', reason: expect.stringMatching(/is not the start of a day/) }],
  })
  expect(read(hours, {}, { timeTrunc: 'hour', timeAgg: 'average' }).observations?.at).toHaveLength(24)
  expect(read(hours.slice(0, 1), {}, byDay).observations?.steps).toBe(90_000)
})
