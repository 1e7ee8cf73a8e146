import { describe, expect, test } from 'vitest'
import { STEPS } from '../../src/service/resolutions.ts'
import { findSteps } from '../../src/transform/values/steps.ts'
import { addUnits, floorTo, startOfDate } from '../../src/util/time/zone.ts'
import { emulate, json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const ZONE = 'Europe/Madrid'
const DAY = 86_400
const at = (date: string): number => startOfDate(ZONE, date)!
const of = (tiempo: unknown, dates: readonly (string | number)[], window = 400 * DAY) => {
  const instants = dates.map((date) => (typeof date === 'number' ? date : at(date)))
  const observations = { geoIds: instants.map(() => 3), at: instants, values: instants.map(() => 1) }
  return findSteps(STEPS, ZONE, null, tiempo, observations, window)
}
const named = (name: string, id = 999) => [{ id, name }]

describe('the length of calendar periods', () => {
  test.each([
    ['declared days with a hole', named('Día'), ['2025-03-29', '2025-03-30', '2025-04-02'], [24, 23, 24]],
    ['undeclared days', [], ['2025-10-25', '2025-10-26', '2025-10-29'], [24, 25, 24]],
    ['days declared as hours', [{ id: 4, name: 'Hora' }], ['2025-10-25', '2025-10-26', '2025-10-27'], [24, 25, 24]],
    ['declared months', named('Mes'), ['2025-02-01', '2025-03-01', '2025-10-01'], [672, 743, 745]],
    ['months declared in English', named('Month'), ['2024-02-01'], [696]],
    ['undeclared months with a hole', [], ['2025-01-01', '2025-03-01'], [744, 743]],
    ['one undeclared month', [], ['2025-03-01'], [743]],
    ['undeclared years', [], ['2024-01-01', '2025-01-01'], [8784, 8760]],
    ['weeks', [], ['2025-03-24', '2025-03-31', '2025-04-07'], [167, 168, 168]],
    ['a month declared as hour', [{ id: 4 }], ['2025-03-01'], [743]],
    ['hours declared as months', named('Mes'), [at('2025-03-01'), at('2025-03-01') + 3600], [1, 1]],
    ['quarters declared as hours', named('Hora', 4), [at('2025-03-01'), at('2025-03-01') + 900], [0.25, 0.25]],
  ] as const)('the length is correct for %s', (_name, tiempo, dates, hours) => {
    const steps = of(tiempo, dates)
    const seconds = hours.map((hour) => hour * 3600)
    expect(typeof steps === 'number' ? dates.map(() => steps) : steps).toEqual(seconds)
  })

  const from = at('2025-03-01')
  const every = (step: number): number[] => Array.from({ length: 24 }, (_, i) => from + i * step)
  test.each([
    ['hours', [{ id: 4 }], [...every(3600), from + 1800], 3600],
    ['quarters', [{ id: 218 }], [...every(900), from + 450], 900],
    ['hours with a stray quarter', [], [...every(3600), from + 900], 3600],
    ['quarters declared as hours, with a stray row', [{ id: 4 }], [...every(900), from + 450], 900],
  ])('a stray row does not change the step of other rows: %s', (_name, tiempo, instants, step) =>
    expect(
      of(
        tiempo,
        instants.sort((a, b) => a - b),
      ),
    ).toBe(step),
  )

  test('irregular events have their smallest distance as step, even for 300,000 events', () => {
    const instants = Array.from({ length: 300_000 }, (_, i) => from + (i * (i + 1)) / 2)
    expect(of([], instants)).toBe(1)
  })

  test('a single midnight declared as hours is an hour if no longer period fits', () =>
    expect(of([{ id: 4 }], ['2025-03-01'], 7 * DAY)).toBe(3600))

  test('a single midnight of a single day is an hour by default', () => expect(of([], ['2025-03-01'], DAY)).toBe(3600))
})

const POWER: [number, string] = [20, 'Potencia']

test('daily and monthly series have correct hours, averages and energy, for any chunk', async () => {
  const now = ms('2025-11-04T12:00:00Z')
  for (const chunk of ['1y', '1mo', '3w']) {
    const emulator = await emulate({
      now: now / 1000,
      scripts: [
        { id: 9001, magnitude: POWER, geos: [3], resolutions: [{ from: at('2025-01-01'), every: 'day' }] },
        {
          id: 9002,
          magnitude: POWER,
          geos: [3],
          resolutions: [{ from: at('2024-01-01'), every: 'month', tiempo: 77 }],
        },
      ],
    })
    const store = await tempStore()
    await runJob(
      store,
      emulator,
      `series:\n  - { indicators: [9001, 9002], window: { from: 2025-01-01, to: 2025-11-01 }, chunk: ${chunk} }`,
      { now },
    )
    const rows = store.all('select indicator_id as id, at, step_s as step from observations order by 1, 2') as {
      id: number
      at: number
      step: number
    }[]
    expect(rows).toHaveLength(304 + 10)
    for (const { id, at: from, step } of rows) {
      const unit = id === 9001 ? 'day' : 'month'
      expect([floorTo(ZONE, from, unit), from + step]).toEqual([from, addUnits(ZONE, from, unit, 1)])
    }
    expect(
      store.all(
        `select indicator_id as id, count, hours, round(energy / hours - avg, 6) as off from observations_monthly
         where local_month = '2025-10' order by 1`,
      ),
    ).toEqual([
      { id: 9001, count: 31, hours: 745, off: 0 },
      { id: 9002, count: 1, hours: 745, off: 0 },
    ])
    // A window that starts within a month lacks its value, which is earlier.
    if (chunk !== '3w') expect(store.get('select count(*) from gaps')).toBe(0)
    expect(store.get('select count(*) from observation_revision')).toBe(0)
  }
})

describe('geos with different steps in one reply', () => {
  test.each([
    ['hours', 4, 3600, [3, 5, 6, 7, 8]],
    ['quarters', 218, 900, [3]],
  ])('each geo gets its own step in a reply declared as %s', async (_name, tiempo, stated, hourly) => {
    const store = await tempStore()
    const from = ms('2025-01-01T00:00:00+01:00')
    const rows = (geo_id: number, step: number, hours = 24) =>
      Array.from({ length: (hours * 3600) / step }, (_, i) => ({
        value: 1,
        datetime: new Date(from + i * step * 1000).toISOString(),
        geo_id,
      }))
    const values = [...hourly.flatMap((geo) => rows(geo, 3600)), ...rows(1, 900), ...rows(2, stated, 1)]
    const server = await serve((_request, response) =>
      json(response, {
        indicator: { id: 700, magnitud: [{ id: 20, name: 'Potencia' }], tiempo: [{ id: tiempo }], values },
      }),
    )
    const yaml = 'series:\n  - { indicators: [700], window: { from: 2025-01-01, to: 2025-01-02 } }'
    await runJob(store, server, yaml, { now: ms('2025-02-01T12:00:00Z') })
    const STEPS_HELD = 'select geo_id, step_s, count(*) as n from observation where geo_id < 4 group by 1, 2 order by 1'
    expect(store.all(STEPS_HELD)).toEqual([
      { geo_id: 1, step_s: 900, n: 96 },
      { geo_id: 2, step_s: stated, n: 3600 / stated },
      { geo_id: 3, step_s: 3600, n: 24 },
    ])
    expect(store.all('select energy from observations_daily where geo_id < 4 and geo_id <> 2')).toEqual([
      { energy: 24 },
      { energy: 24 },
    ])
    expect(store.get('select step_s from _fetch')).toBe(stated)
  })
})

describe('days with different steps in one reply', () => {
  test.each([
    ['quarters', 218],
    ['hours', 4],
  ])('each day gets its own step in a reply declared as %s', async (_name, tiempo) => {
    const store = await tempStore()
    const from = ms('2025-03-26T00:00:00+01:00')
    const change = ms('2025-03-29T00:00:00+01:00')
    const end = ms('2025-04-01T00:00:00+02:00')
    const values: { value: number; datetime: string; geo_id: number }[] = []
    for (let at = from; at < end; at += at < change ? 3_600_000 : 900_000)
      values.push({ value: 1, datetime: new Date(at).toISOString(), geo_id: 3 })
    const missing = values.findIndex(({ datetime }) => datetime === '2025-03-30T10:15:00.000Z')
    values.splice(missing, 1)
    values.splice(5, 1)
    const server = await serve((_request, response) =>
      json(response, { indicator: { id: 700, tiempo: [{ id: tiempo }], values } }),
    )
    const yaml = 'series:\n  - { indicators: [700], window: { from: 2025-03-26, to: 2025-04-01 } }'
    await runJob(store, server, yaml, { now: ms('2025-05-01T12:00:00Z') })
    expect(store.all('select local_date, count, hours from observations_daily order by 1')).toEqual([
      { local_date: '2025-03-26', count: 23, hours: 23 },
      { local_date: '2025-03-27', count: 24, hours: 24 },
      { local_date: '2025-03-28', count: 24, hours: 24 },
      { local_date: '2025-03-29', count: 96, hours: 24 },
      { local_date: '2025-03-30', count: 91, hours: 22.75 },
      { local_date: '2025-03-31', count: 96, hours: 24 },
    ])
  })
})
