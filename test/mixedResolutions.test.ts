import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SERVICES } from '../src/service/services.ts'
import { localDate } from '../src/util/time/zone.ts'
import { json, ms, requestedWindow, runJob, serve, tempStore } from './support/kit.ts'
import { cases } from './support/randomCases.ts'
import {
  dayOf,
  type Question,
  type Resolution,
  serveTruth,
  type Truth,
  valuesOf,
  zoneOf,
} from './support/resolutionService.ts'
import type { Store } from './support/testStore.ts'

const NOW = ms('2026-06-01T12:00:00Z')
const QUARTERS: Resolution = { step: 900, id: 218 }
const HOURS: Resolution = { step: 3600, id: 4 }
const OWN_SUMS: Resolution = { step: 3600, id: 223 }
const FIVES: Resolution = { step: 300, id: 222 }
const STRANGE_HOURS: Resolution = { step: 3600, id: 911 }
const DAYS: Resolution = { step: 'day', id: 2 }
const UNNAMED: Resolution = { step: 900, id: null }
const FIRST = '2025-10-15'

const truthOf = (days: Truth['days'], more: Partial<Truth> = {}): Truth => ({ id: 777, first: FIRST, days, ...more })
const times = (n: number, resolution: Resolution | null): (Resolution | null)[] => Array(n).fill(resolution)
const jobOf = (truth: Truth, more = ''): string => {
  const date = (i: number): string => localDate(zoneOf(truth), dayOf(truth, i))
  return `series:\n  - { indicators: [777], window: { from: ${date(0)}, to: ${date(truth.days.length)} }${more} }`
}
/** The values without their steps, which short stretches do not decide. */
const withoutSteps = (values: readonly unknown[]) =>
  (values as { at: number; value: number }[]).map(({ at, value }) => ({ at, value }))
const stored = (store: Store) => store.all('select at, step_s as step, value from observation order by at')
const meant = (truth: Truth) => valuesOf(truth).map(({ at, step, value }) => ({ at, step, value }))
const serviceOf = (truth: Truth) => ({ ...SERVICES.generic, timeZone: zoneOf(truth) })
/** Conditions in which two rows are less than an hour apart, for any resolution. Clocks change on the second day. */
const CLOSE: readonly [string, Partial<Truth>][] = [
  ['', {}],
  [', with stray rows', { strays: [1, 4, 7, 12, 20] }],
  [', with a clock change by half an hour', { zone: 'Australia/Lord_Howe', first: '2025-10-04' }],
  [', with a clock change by a quarter of an hour', { zone: 'Asia/Kathmandu', first: '1985-12-31' }],
]
const spans = ({ from, to }: Question): boolean => to - from > 25 * 3600

/** Days of a series, by the kind of their resolutions. Fourteen days after any clock change decide their step; a single finer day does at once. */
const COURSES: readonly [string, Truth['days']][] = [
  ['one change', [...times(16, HOURS), ...times(15, QUARTERS)]],
  ['another resolution in the middle', [...times(15, QUARTERS), ...times(16, HOURS), ...times(15, QUARTERS)]],
  ['hours, quarters, hours', [...times(15, HOURS), ...times(16, QUARTERS), ...times(15, HOURS)]],
  ['one single day of quarters', [...times(16, HOURS), QUARTERS, ...times(16, HOURS)]],
  ['three resolutions', [...times(15, HOURS), ...times(15, QUARTERS), ...times(16, FIVES)]],
  [
    'days without values at the ends',
    [...times(3, null), ...times(15, HOURS), ...times(15, QUARTERS), ...times(4, null)],
  ],
  ['days without values at the change', [...times(15, HOURS), ...times(5, null), ...times(15, QUARTERS)]],
  ['hours with the id of sums', [...times(15, OWN_SUMS), ...times(4, QUARTERS), ...times(15, OWN_SUMS)]],
  ['sums as fine as the finest', [...times(15, DAYS), ...times(15, HOURS)]],
  ['an unknown id', [...times(16, STRANGE_HOURS), ...times(4, QUARTERS), ...times(15, STRANGE_HOURS)]],
  ['no id', [...times(16, HOURS), ...times(15, UNNAMED), ...times(15, HOURS)]],
  ['one id for all resolutions', [...times(16, { step: 3600, id: 223 }), ...times(15, { step: 900, id: 223 })]],
]
/** Cases in which a reply alone does not reveal its resolution, which differ if rows are close together. */
const UNTOLD = ['one change', 'one single day of quarters', 'an unknown id', 'no id', 'one id for all resolutions']

describe.each(CLOSE)('mixed resolutions%s', (close, more) => {
  test.each(COURSES.filter(([name]) => close === '' || UNTOLD.includes(name)))(
    'no sum is stored as a value: %s',
    async (_name, days) => {
      const store = await tempStore()
      const truth = truthOf(days, more)
      const service = serviceOf(truth)
      const server = await serveTruth(() => ({ truth }))
      await runJob(store, server, jobOf(truth, ', chunk: 6mo'), { now: NOW, service })
      // A few values between the hours are not sums, but they leave open which step the hours beside a change have (C5).
      const isOpen = more.strays !== undefined
      const withoutSteps = (rows: readonly unknown[]) =>
        rows.map((row) => ({ ...(row as object), step: isOpen ? 0 : (row as { step: number }).step }))
      expect(withoutSteps(stored(store))).toEqual(withoutSteps(meant(truth)))
      const before = server.questions.length
      await runJob(store, server, jobOf(truth, ', chunk: 6mo'), { now: NOW, service })
      expect(server.questions.length - before).toBe(0)
    },
  )
})

describe('random mixtures of resolutions', () => {
  test('every value is correct or absent after faults, and complete after later runs', async () => {
    const resolution = fc.constantFrom(HOURS, QUARTERS, FIVES, OWN_SUMS, STRANGE_HOURS, DAYS, UNNAMED)
    const interval = fc.tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.oneof({ weight: 5, arbitrary: resolution }, fc.constant(null)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(interval, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 30 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 3 }),
        fc.constantFrom(404, 500, 200),
        fc.boolean(),
        fc.constantFrom('', ', chunk: 3d', ', chunk: 1w', ', chunk: 1y'),
        fc.constantFrom(4, 223, 218, 5),
        fc.constantFrom(...CLOSE.slice(0, 3).map(([, more]) => more)),
        async (intervals, late, broken, status, single, chunk, emptyId, more) => {
          const truth = truthOf(
            intervals.flatMap(([n, what]) => times(n, what)),
            more,
          )
          const days = truth.days.map((what, i) => (i >= truth.days.length - late ? null : what))
          const published = truthOf(days, more)
          const service = serviceOf(truth)
          let night = 0
          const failing = broken.map((i) => dayOf(truth, i % truth.days.length))
          const server = await serveTruth(
            () => ({ truth: night === 0 ? published : truth, emptyId }),
            ({ from, to }, _request, response) => {
              const hit = failing.some((day) => from <= day && to > day && (!single || to - from < 26 * 3600))
              if (night > 0 || !hit) return false
              json(response, status === 200 ? '{"indicator":{"id":777,"val' : {}, status)
              return true
            },
          )
          const store = await tempStore()
          const isTrue = () => {
            const known = new Map(meant(truth).map(({ at, value }) => [at, value]))
            for (const { at, value } of withoutSteps(stored(store))) expect(value, String(at)).toBe(known.get(at))
          }
          await runJob(store, server, jobOf(truth, chunk), { now: NOW, service })
          isTrue()
          night = 1
          await runJob(store, server, jobOf(truth, `${chunk}, lookback: 5y, refresh: 1h`), {
            now: NOW + 86_400_000,
            service,
          })
          expect(withoutSteps(stored(store))).toEqual(withoutSteps(meant(truth)))
        },
      ),
      { numRuns: cases(4) },
    )
  })
})

describe('extra requests', () => {
  test('an hourly series needs no extra requests, and an unknown resolution id two', async () => {
    for (const [resolution, more] of [
      [HOURS, 0],
      [QUARTERS, 0],
      [STRANGE_HOURS, 2],
      [DAYS, 0],
    ] as const) {
      const store = await tempStore()
      const truth = truthOf(times(60, resolution))
      const server = await serveTruth(() => ({ truth }))
      await runJob(store, server, jobOf(truth, ', chunk: 10d'), { now: NOW })
      expect(stored(store)).toHaveLength(valuesOf(truth).length)
      expect(server.questions).toHaveLength(6 + more)
    }
  })

  test('a run requests nothing twice, and every change of resolution is stored', async () => {
    const store = await tempStore()
    const truth = truthOf([...times(70, HOURS), ...times(40, QUARTERS), ...times(71, HOURS)])
    const server = await serveTruth(() => ({ truth }))
    await runJob(store, server, jobOf(truth, ', chunk: 6mo'), { now: NOW })
    const loaded = store.all(
      `select from_at as "from", to_at as "to" from _fetch where outcome = 'ok' order by 1`,
    ) as Question[]
    for (const [i, { from }] of loaded.entries())
      expect(from, JSON.stringify(loaded)).toBe(i === 0 ? dayOf(truth, 0) : loaded[i - 1]!.to)
    expect(server.questions.length).toBeLessThanOrEqual(2 * 8 * 2)
    expect(store.all('select from_at as at, step_s as step from _resolution order by 1')).toEqual([
      { at: dayOf(truth, 70), step: 900 },
      { at: dayOf(truth, 110), step: 3600 },
    ])
    const before = server.questions.length
    await runJob(store, server, jobOf(truth, ', chunk: 6mo'), { now: NOW, options: { restate: true } })
    expect(server.questions.length - before).toBe(3)
    expect(store.get('select count(*) from observation_revision')).toBe(0)
  })
})

describe('coarse replies', () => {
  test('a coarse reply is recorded if its parts fail, and requested again', async () => {
    const store = await tempStore()
    const truth = truthOf([...times(15, HOURS), ...times(15, QUARTERS)])
    let broken = true
    const server = await serveTruth(
      () => ({ truth }),
      (question, _request, response) => {
        if (!broken || question.to < dayOf(truth, 30) || question.from === dayOf(truth, 0)) return false
        json(response, {}, 404)
        return true
      },
    )
    const first = await runJob(store, server, jobOf(truth), { now: NOW })
    expect(first.outcome).toBe('partial')
    expect(store.all('select outcome, code, count(*) as n from _fetch group by 1, 2')).toContainEqual({
      outcome: 'refused',
      code: 'not-found',
      n: 1,
    })
    expect(
      store.get(`select count(*) from _fetch where outcome = 'coarse' and reply_hash is not null`),
    ).toBeGreaterThan(0)
    expect(store.get('select requests from _run')).toBe(server.questions.length)
    expect(store.get('select count(*) from _fetch')).toBe(server.questions.length)
    broken = false
    await runJob(store, server, jobOf(truth), { now: NOW + 86_400_000 })
    expect(stored(store)).toEqual(meant(truth))
  })

  test('sums stored as values are removed by a replay', async () => {
    const store = await tempStore()
    const truth = truthOf([...times(5, HOURS), ...times(5, QUARTERS), ...times(5, HOURS)])
    const server = await serveTruth(() => ({ truth }))
    await runJob(store, server, jobOf(truth), { now: NOW })
    store.run('delete from observation where at % 3600 <> 0', [])
    store.run('update observation set value = value * 4 + 6, step_s = 3600', [])
    for (const table of ['_resolution', 'observation_revision']) store.run(`delete from ${table}`, [])
    await runJob(store, server, jobOf(truth), { now: NOW, options: { restate: true } })
    expect(stored(store)).toEqual(meant(truth))
  })

  test('an empty reply does not reveal a resolution, whatever its id', async () => {
    const store = await tempStore()
    const truth = truthOf([...times(9, null)])
    const server = await serveTruth(() => ({ truth, emptyId: 223 }))
    await runJob(store, server, jobOf(truth), { now: NOW })
    expect(store.all('select outcome, step_s, resolution_id from _fetch')).toEqual([
      { outcome: 'empty', step_s: null, resolution_id: null },
    ])
    expect(spans(server.questions[0]!)).toBe(true)
  })
})

test('a reply of unknown resolution with values on one day is split once', async () => {
  const store = await tempStore()
  const event = (hour: number) => ms('2025-10-15T00:00:00+02:00') / 1000 + hour * 3600
  // The first event of the day appeared between the two replies, so that distances differ.
  const requested: string[] = []
  const server = await serve((request, response) => {
    const { from, end } = requestedWindow(request)
    requested.push(`${from}-${end}`)
    const values = [3, ...(requested.length > 1 ? [5.2] : []), 6, 11.5]
      .map((hour) => ({ value: hour, datetime: new Date(event(hour) * 1000).toISOString(), geo_id: 3 }))
      .filter(({ datetime }) => ms(datetime) / 1000 >= from && ms(datetime) / 1000 <= end)
    json(response, { indicator: { id: 777, tiempo: [{ id: 300, name: 'Evento' }], geos: [], values } })
  })
  await runJob(store, server, 'series: [{ indicators: [777], window: { from: 2025-10-15, to: 2025-10-17 } }]', {
    now: NOW,
  })
  expect(requested).toHaveLength(3)
  expect(store.get('select count(*) from _resolution')).toBe(0)
  expect(store.get('select count(*) from observation')).toBe(4)
})
