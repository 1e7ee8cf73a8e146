import { describe, expect, test } from 'vitest'
import type { ValueRules } from '../../src/transform/values/collectValues.ts'
import { readValues } from '../../src/transform/values/readValues.ts'
import { usualDistance } from '../../src/transform/values/steps.ts'
import { parseInstant } from '../../src/util/time/instant.ts'

const MIDNIGHT = parseInstant('2025-07-01T00:00:00Z')
const HOUR = 3_600
const at = (hour: number): string => `2025-07-01T${String(hour).padStart(2, '0')}:00:00Z`
const row = (hour: number, over: object = {}): object => ({ value: hour, datetime: at(hour), geo_id: 3, ...over })
const RULES: ValueRules = { window: null, path: '$.indicator.values', zone: 'Europe/Madrid' }
const read = (...rows: readonly unknown[]) => readValues(rows, RULES)
const reasonOf = (over: unknown): string =>
  read(over !== null && typeof over === 'object' ? row(0, over) : over).rejects[0]!.reason

describe('rejected rows', () => {
  test.each([
    [null, 'value is not an object'],
    [{ value: '1' }, 'value "1" is not a number'],
    [{ value: Number.POSITIVE_INFINITY }, 'value "Infinity" is not a number'],
    [{ datetime: '2025-07-01T00:00:00' }, 'datetime "2025-07-01T00:00:00" is not an instant with an offset'],
    [{ datetime: null, tz_time: at(0) }, 'datetime null is not an instant with an offset'],
    [{ datetime: '2025-02-30T00:00:00Z' }, 'datetime "2025-02-30T00:00:00Z" is not an instant with an offset'],
    [{ value: undefined }, 'value missing is not a number'],
    [{ datetime: undefined }, 'datetime missing is not an instant with an offset'],
    [{ datetime: undefined, tz_time: 'soon' }, 'datetime missing is not an instant with an offset'],
    [{ tz_time: at(1) }, `datetime "${at(0)}" and tz_time "${at(1)}" differ`],
    [{ tz_time: '' }, `datetime "${at(0)}" and tz_time "" differ`],
    [{ datetime_utc: at(1) }, `datetime "${at(0)}" and datetime_utc "${at(1)}" differ`],
    [{ geo_id: '3' }, 'geo_id "3" is not a whole number'],
    [{ geo_id: 1.5 }, 'geo_id 1.5 is not a whole number'],
  ])('a row with %j is rejected with its reason', (over, reason) => expect(reasonOf(over)).toBe(reason))

  test('a reject has its path, reason and fragment, and is counted', () => {
    const bad = row(1, { value: 'x' })
    const { rejects, rejected, rows, observations } = read(row(0), bad)
    expect(rejects).toMatchObject([
      { path: '$.indicator.values[1]', reason: 'value "x" is not a number', fragment: bad },
    ])
    expect([rejected, rows, observations.at]).toEqual([1, 2, [MIDNIGHT]])
  })
})

describe('valid rows', () => {
  test.each([
    ['tz_time if datetime is missing', { datetime: undefined, tz_time: at(2) }, MIDNIGHT + 2 * HOUR],
    ['datetime if tz_time is null', { tz_time: null }, MIDNIGHT],
  ])('a row has the instant of %s', (_, over, instant) => {
    expect(read(row(0, over)).observations.at).toEqual([instant])
  })

  test.each([
    [{ geo_id: undefined }, 0],
    [{ geo_id: null, geo_ids: [8741] }, 8741],
    [{ geo_id: null, geo_ids: [1, 2] }, 0],
    [{ geo_id: null, geo_ids: ['1'] }, 0],
    [{ geo_id: null, geo_ids: 'x' }, 0],
  ])('a row with %j has the geo %i', (over, geo) => expect(read(row(0, over)).observations.geoIds).toEqual([geo]))

  const autumn = (offset: string, utc: string, datetime_utc = utc) =>
    row(0, {
      datetime: `2021-10-31T02:15:00.000${offset}`,
      tz_time: `2021-10-31T${utc}:00.000Z`,
      datetime_utc: `2021-10-31T${datetime_utc}:00Z`,
    })

  test('in the second of two equal local hours, datetime_utc may repeat the time of the first', () => {
    const { observations, rejected } = read(
      autumn('+02:00', '00:15'),
      autumn('+01:00', '01:15', '00:15'),
      row(0, { datetime_utc: 'soon' }),
      row(1, { datetime_utc: null }),
    )
    const first = parseInstant('2021-10-31T00:15:00Z')
    expect(observations.at).toEqual([first, first + HOUR, MIDNIGHT, MIDNIGHT + HOUR])
    expect(rejected).toBe(0)
  })

  test.each([
    ['the first hour has the time of the second', autumn('+02:00', '00:15', '01:15')],
    ['the second hour has another time', autumn('+01:00', '01:15', '00:00')],
    ['the second hour has a later time', autumn('+01:00', '01:15', '02:15')],
    ['a row has the time of another time zone', row(2, { datetime_utc: at(3) })],
    ['datetime_utc has the local clock', row(0, { datetime: '2025-07-01T02:00:00+02:00', datetime_utc: at(2) })],
  ])('a row is rejected if %s in datetime_utc', (_, sent) => {
    const { rejects, observations } = read(sent)
    const { datetime, datetime_utc } = sent as { datetime: string; datetime_utc: string }
    expect(rejects).toMatchObject([{ reason: `datetime "${datetime}" and datetime_utc "${datetime_utc}" differ` }])
    expect(observations.at).toEqual([])
  })

  test('each row has its own instant, also if it repeats texts of the row before', () => {
    const rows = [
      row(1),
      row(1, { geo_id: 4, tz_time: at(1) }),
      row(2, { datetime: 'x' }),
      row(2, { datetime: 'x', geo_id: 4 }),
      row(3, { tz_time: at(1) }),
      row(3, { geo_id: 4, tz_time: at(3) }),
    ]
    const { observations, rejected } = read(...rows)
    expect(observations).toMatchObject({
      geoIds: [3, 4, 4],
      at: [MIDNIGHT + HOUR, MIDNIGHT + HOUR, MIDNIGHT + 3 * HOUR],
    })
    expect(rejected).toBe(3)
  })

  test('a row may have a null value', () => {
    expect(read(row(0, { value: null })).observations.values).toEqual([null])
  })

  test('a row names its geo unless the name is empty', () => {
    const names = read(
      row(0, { geo_name: 'Spain' }),
      row(1, { geo_id: 4, geo_name: '' }),
      row(2, { geo_name: 'again' }),
    )
    expect([...names.geoNames]).toEqual([[3, 'Spain']])
  })
})

describe('sorted values', () => {
  test('values are sorted by geo and time', () => {
    const { observations, rejected } = read(row(2), row(0, { geo_id: 1 }), row(1), row(3, { geo_id: 1 }), row(0))
    expect(observations.geoIds).toEqual([1, 1, 3, 3, 3])
    expect(observations.values).toEqual([0, 3, 0, 1, 2])
    expect(rejected).toBe(0)
  })

  test('the later of two values for one instant is kept, and the earlier one is reported', () => {
    const { observations, rejects } = read(row(0), row(0, { value: 9 }), row(1), row(1))
    expect(observations.values).toEqual([9, 1])
    expect(rejects).toMatchObject([
      {
        path: '$.indicator.values',
        reason: 'duplicate geo and instant with different values; the later value is used',
        fragment: { geo_id: 3, at: MIDNIGHT, value: 0 },
      },
    ])
  })

  test('values outside the window are omitted and counted', () => {
    const window = { from: MIDNIGHT + HOUR, to: MIDNIGHT + 3 * HOUR }
    const { observations, outside, rows } = readValues([row(0), row(1), row(2), row(3)], { ...RULES, window })
    expect([observations.values, outside, rows]).toEqual([[1, 2], 2, 4])
  })

  test.each([
    ['the smaller of two distances of one geo', [3, 3, 3], [0, 7, 10], 3],
    ['not that of a stray row', [3, 3, 3, 3, 3], [0, 10, 20, 30, 31], 10],
    ['not measured across geos', [1, 3, 3], [0, 1, 9], 8],
    ['not longer than 68 years', [3, 3, 3], [-3e9, 0, 86_400], 86_400],
    ['undefined for values that are further apart', [3, 3], [-3e9, 0], null],
    ['undefined for a single value', [3], [0], null],
    ['undefined for one value per geo', [1, 2], [0, 1], null],
  ])('the usual distance is %s', (_, geoIds, times, distance) => {
    expect(usualDistance({ geoIds, at: times, values: times })).toBe(distance)
  })
})
