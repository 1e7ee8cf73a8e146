import { expect, test } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/startEmulator.ts'
import { emulate } from '../support/kit.ts'

const HOUR = 3_600
const DAY = 86_400
const NOW = Date.UTC(2025, 10, 4, 12) / 1000

interface Value {
  readonly value: number
  readonly datetime: string
  readonly datetime_utc: string
  readonly tz_time: string
  readonly geo_id?: number
  readonly geo_ids?: readonly number[]
}
interface Series {
  readonly tiempo: readonly { readonly name: string; readonly id: number }[]
  readonly geos: readonly { readonly geo_id: number }[]
  readonly values_updated_at: string | null
  readonly values: readonly Value[]
}

async function open(options: EmulatorOptions = {}) {
  const emulator = await emulate({ now: NOW, ...options })
  const planned = async (target: string): Promise<Series> => {
    const response = await fetch(`${emulator.url}${target}`, { headers: { 'x-api-key': emulator.key } })
    expect(response.status, target).toBe(200)
    return ((await response.json()) as { indicator: Series }).indicator
  }
  /** Requests whole local days of an indicator. */
  const days = (id: number, from: string, to = from, more = '') =>
    planned(`/indicators/${id}?start_date=${from}T00:00&end_date=${to}T23:59${more}`)
  return { emulator, ask: planned, days }
}

const sum = (values: readonly Value[]): number => values.reduce((total, { value }) => total + value, 0)

test('only the second 02:00 of the 25-hour day has a wrong UTC time', async () => {
  const { days } = await open()
  const { values } = await days(1739, '2021-10-31')
  expect(values.slice(1, 5).map(({ datetime, datetime_utc, tz_time }) => [datetime, datetime_utc, tz_time])).toEqual([
    ['2021-10-31T01:00:00.000+02:00', '2021-10-30T23:00:00Z', '2021-10-30T23:00:00.000Z'],
    ['2021-10-31T02:00:00.000+02:00', '2021-10-31T00:00:00Z', '2021-10-31T00:00:00.000Z'],
    ['2021-10-31T02:00:00.000+01:00', '2021-10-31T00:00:00Z', '2021-10-31T01:00:00.000Z'],
    ['2021-10-31T03:00:00.000+01:00', '2021-10-31T02:00:00Z', '2021-10-31T02:00:00.000Z'],
  ])
  for (const { datetime, tz_time } of values) expect(Date.parse(datetime)).toBe(Date.parse(tz_time))
})

test('geos are unordered on the 25-hour day and sorted on every other day', async () => {
  const { days } = await open()
  const ordersOn = async (date: string): Promise<number[][]> => {
    const { values } = await days(1001, date)
    const orders = Map.groupBy(values, ({ tz_time }) => tz_time)
    return [...orders.values()].map((those) => those.map(({ geo_id }) => geo_id!))
  }
  const ascending = [8741, 8742, 8743, 8744, 8745]
  const long = await ordersOn('2021-10-31')
  expect(long).toHaveLength(25)
  expect(new Set(long.map(String)).size).toBeGreaterThan(1)
  for (const geos of long) expect([...geos].sort((a, b) => a - b)).toEqual(ascending)
  expect(new Set((await ordersOn('2021-10-30')).map(String))).toEqual(new Set([String(ascending)]))
})

test('the id of a magnitude is stable while its name changes', async () => {
  const named = async (now: number) => {
    const { days } = await open({ now })
    return ((await days(1739, '2021-10-30')) as unknown as { magnitud: unknown }).magnitud
  }
  expect(await named(Date.UTC(2022, 5, 1) / 1000)).toEqual([{ id: 23, name: 'Precio' }])
  expect(await named(NOW)).toEqual([{ id: 23, name: 'Precio €/MWh' }])
})

test.each([
  [1001, '2025-03-30', 23 * 5],
  [1739, '2025-10-26', 25],
  [1293, '2025-03-30', 276],
  [1293, '2025-10-26', 300],
  [10355, '2025-10-26', 150],
  [612, '2024-06-13', 24 * 2],
  [612, '2024-06-14', 96 * 2],
  [600, '2025-10-26', 100 * 6],
  [10010, '2022-05-23', 24],
  [10010, '2022-05-24', 96],
  [1159, '2025-06-01', 24 * 17],
])('indicator %i has on %s %i values', async (id, date, count) => {
  const { days } = await open()
  const { values } = await days(id, date)
  expect(values).toHaveLength(count)
  expect(new Set(values.map(({ tz_time, geo_id }) => `${tz_time} ${geo_id}`)).size).toBe(count)
})

test.each([
  [600, '2025-09-30', '', 'Hora', 4],
  [600, '2025-10-01', '', 'Quince minutos', 218],
  [1293, '2025-10-01', '', 'Cinco minutos', 222],
  [10355, '2025-10-01', '', 'Diez minutos', 219],
  [1293, '2025-10-01', '&time_trunc=hour', 'Hora', 223],
  [1293, '2025-10-01', '&time_trunc=day', 'Día', 2],
])('the resolution of indicator %i on %s%s has its name', async (id, date, more, name, number) => {
  const { days } = await open()
  expect((await days(id, date, date, more)).tiempo).toEqual([{ name, id: number }])
})

test('prices across a change of resolution are four times too high, but averages are correct', async () => {
  const { days } = await open()
  const { tiempo, values } = await days(600, '2025-09-30', '2025-10-01', '&geo_ids[]=3')
  expect(tiempo).toEqual([{ name: 'Hora', id: 223 }])
  const right = await days(600, '2025-09-30', '2025-10-01', '&geo_ids[]=3&time_trunc=hour&time_agg=average')
  expect(values.slice(0, 24)).toEqual(right.values.slice(0, 24))
  expect(sum(values.slice(24)) / sum(right.values.slice(24))).toBeCloseTo(4, 2)
})

test('an hour of rewritten history becomes four equal quarters', async () => {
  const { emulator, days } = await open({ historyRewrittenAt: NOW + DAY })
  const before = await days(600, '2025-09-29', '2025-09-30', '&geo_ids[]=3')
  emulator.setNow(NOW + 2 * DAY)
  const after = await days(600, '2025-09-29', '2025-09-30', '&geo_ids[]=3')
  expect(after.tiempo).toEqual([{ name: 'Quince minutos', id: 218 }])
  expect(after.values.map(({ value }) => value)).toEqual(before.values.flatMap(({ value }) => Array(4).fill(value)))
  expect(Date.parse(after.values_updated_at!) / 1000).toBe(NOW + DAY)
  expect((await days(600, '2025-09-30', '2025-10-01', '&geo_ids[]=3')).values).toHaveLength(192)
})

test.each([
  ['2025-11-01', '2025-11-01', 1],
  ['2025-11-01T00:00:00', '2025-11-01T03:00:00', 4],
  ['2025-10-31T23:00:00Z', '2025-11-01T02:00:00Z', 4],
  ['2025-11-01T00:00:00%2B01:00', '2025-11-01T03:00:00%2B01:00', 4],
  ['2025-11-01 00:00:00 %2B0100', '2025-11-01 03:00:00 %2B0100', 4],
  ['2025-11-01T00:01', '2025-11-01T02:59', 2],
  ['2025-11-02', '2025-11-01', 0],
])('a window from %s to %s contains %i hours', async (from, to, count) => {
  const { ask: planned } = await open()
  const { values } = await planned(`/indicators/1739?start_date=${from}&end_date=${to}`)
  expect(values).toHaveLength(count)
})

test('a request for one instant returns its value', async () => {
  const { ask: planned } = await open()
  const { values } = await planned('/indicators/1739?datetime=2025-11-01T10:30:00Z')
  expect(values.map(({ tz_time }) => tz_time)).toEqual(['2025-11-01T10:00:00.000Z'])
})

test('groups begin at local midnight: days, months and years', async () => {
  const { days } = await open()
  const starts = async (trunc: string) =>
    (await days(1739, '2024-12-01', '2025-03-31', `&time_trunc=${trunc}&time_agg=average`)).values.map(
      ({ datetime }) => datetime,
    )
  expect((await starts('day')).length).toBe(121)
  expect((await starts('day')).at(-1)).toBe('2025-03-31T00:00:00.000+02:00')
  expect(await starts('month')).toEqual([
    '2024-12-01T00:00:00.000+01:00',
    '2025-01-01T00:00:00.000+01:00',
    '2025-02-01T00:00:00.000+01:00',
    '2025-03-01T00:00:00.000+01:00',
  ])
  expect(await starts('year')).toEqual(['2024-01-01T00:00:00.000+01:00', '2025-01-01T00:00:00.000+01:00'])
})

test('geos can be filtered, aggregated and grouped by level', async () => {
  const { days } = await open()
  const all = await days(1159, '2025-06-01')
  expect((await days(1159, '2025-06-01', '2025-06-01', '&geo_ids[]=4&geo_ids[]=9')).geos).toEqual([
    { geo_id: 4, geo_name: 'Andalucía' },
    { geo_id: 9, geo_name: 'Cataluña' },
  ])
  const country = await days(1159, '2025-06-01', '2025-06-01', '&geo_agg=sum&geo_trunc=country')
  expect(country.values).toHaveLength(24)
  expect(country.values[0]).toMatchObject({ geo_ids: [3] })
  expect(country.values[0]).not.toHaveProperty('geo_id')
  expect(country.values[0]).not.toHaveProperty('geo_name')
  expect(sum(country.values)).toBeCloseTo(sum(all.values), 0)
  const average = await days(1159, '2025-06-01', '2025-06-01', '&geo_agg=average&geo_trunc=country')
  expect(sum(country.values) / sum(average.values)).toBeCloseTo(17, 1)
  const systems = await days(1159, '2025-06-01', '2025-06-01', '&geo_agg=sum&geo_trunc=electric_system')
  expect(new Set(systems.values.map(({ geo_ids }) => geo_ids![0]))).toEqual(new Set([8741, 8742, 8743]))
  const each = await days(1159, '2025-06-01', '2025-06-01', '&geo_agg=sum')
  expect(each.values.map(({ value }) => value)).toEqual(all.values.map(({ value }) => value))
  // The level of grouping has no effect without an aggregation.
  expect((await days(1159, '2025-06-01', '2025-06-01', '&geo_trunc=country')).values).toEqual(all.values)
})

test('a window without data returns an empty reply', async () => {
  const { days } = await open()
  for (const empty of [await days(600, '2013-12-31'), await days(600, '2026-06-01'), await days(551, '2025-11-09')])
    expect(empty).toMatchObject({ geos: [], values_updated_at: null, values: [] })
  expect((await days(600, '2014-01-01', '2014-01-01', '&geo_ids[]=3')).values).toHaveLength(24)
})

test.each([
  [600, '2025-11-05', '2025-11-04T12:59:59Z', 0],
  [600, '2025-11-05', '2025-11-04T13:00:00Z', 96],
  [1001, '2025-11-05', '2025-11-04T19:19:59Z', 0],
  [1001, '2025-11-05', '2025-11-04T19:20:00Z', 24],
  [1739, '2025-11-05', '2025-11-04T19:20:00Z', 24],
  [1293, '2025-11-04', '2025-11-04T12:00:00Z', 156],
  [541, '2025-11-07', '2025-11-04T12:00:00Z', 24],
  [541, '2025-11-08', '2025-11-04T12:00:00Z', 0],
  [10211, '2025-11-03', '2025-11-04T12:00:00Z', 24],
  [10211, '2025-11-04', '2025-11-04T12:00:00Z', 0],
])('indicator %i for %s has at %s %i values per geo', async (id, date, now, count) => {
  const { days } = await open({ now: Date.parse(now) / 1000 })
  const { values } = await days(id, date)
  expect(values.filter(({ geo_id }) => geo_id === values[0]!.geo_id)).toHaveLength(count)
})

test.each([
  ['real time within hours', 551, '2025-11-01', [1, 3, 7, 30, 300].map((h) => h * HOUR), [1, 1, 0, 0]],
  ['P48 on the next morning', 10010, '2025-11-01', [23 * HOUR, 40 * HOUR, 200 * DAY], [1, 0]],
  ['settlement for eight months', 10211, '2025-01-15', [2, 20, 40, 100, 250, 900].map((d) => d * DAY), [0, 1, 1, 1, 0]],
  ['forecasts until their hour', 541, '2025-11-03', [-60, -30, -12, -1, 24, 90].map((h) => h * HOUR), [1, 1, 1, 1, 0]],
  ['day-ahead prices never', 600, '2025-11-01', [-6 * HOUR, HOUR, 400 * DAY], [0, 0]],
])('revisions happen on schedule: %s', async (_what, id, date, ages, changes) => {
  const { emulator, ask: planned } = await open()
  const first = Date.parse(`${date}T00:00:00+01:00`) / 1000
  const answered: (readonly [number, string])[] = []
  for (const age of ages) {
    emulator.setNow(first + age)
    const { values, values_updated_at } = await planned(`/indicators/${id}?datetime=${date}T00:00:00%2B01:00`)
    expect(values.length).toBeGreaterThan(0)
    expect(Date.parse(values_updated_at!) / 1000).toBeLessThanOrEqual(first + age)
    answered.push([values[0]!.value, values_updated_at!])
  }
  const steps = answered.slice(1).map((now, i) => [now, answered[i]!] as const)
  expect(steps.map(([now, before]) => (now[0] === before[0] ? 0 : 1))).toEqual(changes)
  // A change without a later timestamp would not be noticed.
  for (const [now, before] of steps)
    expect(now[0] === before[0] || Date.parse(now[1]) > Date.parse(before[1])).toBe(true)
})

test('values follow realistic daily and seasonal patterns', async () => {
  const { days } = await open()
  for (const date of ['2025-01-10', '2025-07-10']) {
    const { values } = await days(1295, date)
    expect(values.slice(0, 60).every(({ value }) => value === 0)).toBe(true)
    expect(values[160]!.value).toBeGreaterThan(2_000)
  }
  const nuclear = (await days(549, '2025-07-10')).values.map(({ value }) => value)
  expect(Math.max(...nuclear) / Math.min(...nuclear)).toBeLessThan(1.1)
  const demand = (await days(1293, '2025-07-10')).values.map(({ value }) => value)
  expect(demand[250]! / demand[48]!).toBeGreaterThan(1.2)
  const spring = (await days(600, '2025-03-15', '2025-05-31', '&geo_ids[]=3')).values.map(({ value }) => value)
  expect(Math.min(...spring)).toBeLessThan(0)
})

test('offer values have no geo', async () => {
  const { ask: planned } = await open()
  const { geos, values } = await planned('/offer_indicators/27?start_date=2025-11-01&end_date=2025-11-03T23:59')
  expect(geos).toEqual([])
  expect(values).toHaveLength(72)
  expect(Object.keys(values[0]!)).toEqual(['value', 'datetime', 'datetime_utc', 'tz_time'])
})
