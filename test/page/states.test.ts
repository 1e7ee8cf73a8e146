import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GapReason } from '../../src/db/tables/codes.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { drawBand, drawSteps, eachPeriod, type LineData, periodAt } from '../../src/page/client/segments.ts'
import { readCoverageIntervals, readStates } from '../../src/page/queries/intervals.ts'
import { joinValues } from '../../src/page/queries/series/window.ts'
import { timeTicks } from '../../src/page/timeTicks.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { localClock, startOfDate } from '../../src/util/time/zone.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'

const at = (text: string): number => ms(text) / 1000
const HOUR = 3_600

test('every part of a range has its worst state, and nothing in the future is missing', async () => {
  const store = await tempStore()
  const service = await startHourlyService({
    has: (instant) =>
      (instant < at('2025-06-03T10:00Z') || instant >= at('2025-06-03T14:00Z')) && instant < at('2025-06-12T06:00Z'),
    status: (_path, { from }) => (from >= at('2025-06-06T22:00Z') && from < at('2025-06-07T22:00Z') ? 400 : undefined),
  })
  const now = '2025-06-12T12:00:00Z'
  const job = (from: string, to: string) =>
    `series: [{ indicators: [7], geoIds: [3], window: { from: ${from}, to: ${to} }, chunk: 1d, lookback: 2d }]`
  await service.run(store, job('2025-05-25', '2025-06-13'), now)
  const { id } = store.all('select id from series')[0] as { id: number }
  const range = { from: at('2025-05-22T22:00Z'), to: at('2025-06-20T22:00Z') }
  const states = await readStates({ store, now: at(now) }, { seriesId: id, geoId: 3 }, range)
  expect(
    states.map(({ from, to, state }) => `${formatUtc(from).slice(0, 13)}..${formatUtc(to).slice(0, 13)} ${state}`),
  ).toEqual([
    '2025-05-22T22..2025-05-24T22 none',
    '2025-05-24T22..2025-06-03T10 final',
    '2025-06-03T10..2025-06-03T14 absent',
    '2025-06-03T14..2025-06-06T22 final',
    '2025-06-06T22..2025-06-07T22 failed',
    '2025-06-07T22..2025-06-09T22 final',
    // After the last value and after now, nothing is published yet.
    '2025-06-09T22..2025-06-12T06 provisional',
    '2025-06-12T06..2025-06-12T12 expected',
  ])
  expect(states[2]).toMatchObject({ missing: 4 })
})

test('stored ranges that follow the clock end at the time of the page, as gaps do', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const now = '2025-06-12T12:00:00Z'
  await service.run(
    store,
    'series: [{ indicators: [7], window: { from: 2025-06-01, to: 2025-06-12 }, lookback: 2d }]',
    now,
  )
  store.run("update _span set to_at = null, lag_s = 0 where state = 'provisional'", [])
  const intervals = (await readCoverageIntervals({ store, now: at(now) }, [1])).get(1)!
  expect(Math.max(...intervals.map(({ to }) => to))).toBe(at(now))
})

test('the page of a series has the reasons of gaps: what a job never requested, and what is late', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const range = { from: at('2025-10-20T22:00Z'), to: at('2025-11-12T23:00Z') }
  let now = '2025-11-04T20:15:00Z'
  service.state.has = (instant) => instant < Math.min(at(now), at('2025-11-06T20:00Z'))
  const states = async (seriesId: number) =>
    (await readStates({ store, now: at(now) }, { seriesId, geoId: 3 }, range))
      .filter(({ state }) => state !== 'final')
      .map(({ from, to, state }) => [state, formatUtc(from), formatUtc(to)])
  const gaps = async (indicator: number, reason: GapReason) =>
    (await findGaps(store, at(now)))
      .filter((gap) => gap.indicator_id === indicator && gap.reason === reason)
      .map(({ from, to }) => [formatUtc(at(from)), formatUtc(at(to))])
  // Its budget ends the run, so the other days of the job remain.
  const wide = `name: wide
pace: { callsPerDay: 2 }
series: [{ indicators: [7], window: { from: 2025-10-25, to: 2025-10-30 }, chunk: 1d }]`
  await service.run(store, wide, now)
  const unrequested = await gaps(7, 'never requested')
  expect(unrequested.length).toBeGreaterThan(0)
  expect(await states(1)).toEqual([
    ['none', '2025-10-20T22:00:00Z', '2025-10-24T22:00:00Z'],
    ...unrequested.map((gap) => ['unrequested', ...gap]),
    ['none', '2025-10-29T23:00:00Z', '2025-11-04T20:15:00Z'],
  ])
  for (let day = 4; day < 10; day++) {
    now = `2025-11-${String(day).padStart(2, '0')}T21:15:00Z`
    await service.run(store, 'name: live\nseries: [{ indicators: [5], window: { last: 5d }, refresh: 1h }]', now)
  }
  const late = await gaps(5, 'late')
  expect(late).toHaveLength(1)
  expect((await states(2)).filter(([state]) => state === 'late' || state === 'unverified')).toEqual([
    ['late', ...late[0]!],
  ])
})

const VALUES = fc
  .array(
    fc.record({
      distance: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50_000 }), fc.constant(900), fc.constant(HOUR)),
      step: fc.constantFrom(300, 900, HOUR, 23 * HOUR, 24 * HOUR),
      value: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    }),
    { maxLength: 60 },
  )
  .map((rows) => {
    let next = at('2025-01-01T00:00Z')
    return rows.map(({ distance, step, value }) => {
      const row = { at: next + distance, step, value }
      next = row.at + step
      return row
    })
  })

test('segments contain the same values for any steps and holes', () => {
  fc.assert(
    fc.property(VALUES, (values) => {
      const drawn = { kind: 'values', segments: joinValues(values) } as const
      const periods = [...eachPeriod(drawn)].filter(({ mean }) => mean !== null)
      const known = values.filter(({ value }) => value !== null)
      expect(periods).toEqual(
        known.map(({ at: from, step, value }) => ({
          from,
          to: from + step,
          min: value,
          max: value,
          mean: value,
          seconds: step,
        })),
      )
      for (const { at: from, step, value } of known) expect(periodAt(drawn, from + step - 1)?.mean).toBe(value)
    }),
  )
})

/** Returns the level intervals of a drawn line. */
function levels(draw: typeof drawSteps, drawn: LineData): [from: number, to: number, y: number][] {
  const drawnLevels: [number, number, number][] = []
  let x = 0
  let y = 0
  const go = (nx: number, ny: number): void => {
    ;[x, y] = [nx, ny]
  }
  draw(
    drawn,
    {
      moveTo: go,
      lineTo(nx, ny) {
        if (ny === y && nx !== x) drawnLevels.push([x, nx, y])
        go(nx, ny)
      },
    },
    { x: (one) => one, y: (value) => value },
  )
  return drawnLevels
}

test('a line is level during each period and interrupted without values', () => {
  fc.assert(
    fc.property(VALUES, (values) => {
      const drawn: LineData = { kind: 'values', segments: joinValues(values) }
      const lines = levels(drawSteps, drawn)
      const length = lines.reduce((sum, [from, to]) => sum + to - from, 0)
      const known = values.filter(({ value }) => value !== null)
      expect(length).toBe(known.reduce((sum, { step }) => sum + step, 0))
      for (const { at: from, step, value } of known)
        expect(lines.some(([a, b, y]) => a <= from && b >= from + step && y === value)).toBe(true)
    }),
  )
})

test('a band follows the largest values forwards and the smallest backwards', () => {
  const drawn: LineData = {
    kind: 'extremes',
    segments: [{ from: 0, step: 10, min: [1, null, 3], max: [2, null, 5], values: [1, null, 4] }],
  }
  expect(levels(drawBand, drawn)).toEqual([
    [0, 10, 2],
    [10, 0, 1],
    [20, 30, 5],
    [30, 20, 3],
  ])
})

test('a time axis labels days with weekdays, and the first day of a month with the month', () => {
  const from = startOfDate('Europe/Madrid', '2025-03-01')!
  const labels = (days: number) =>
    timeTicks('Europe/Madrid', { from, to: from + days * 86_400 }, 'en').map(({ label }) => label)
  expect(labels(5)).toEqual(['1 Mar', 'Sun 2', 'Mon 3', 'Tue 4', 'Wed 5', 'Thu 6'])
  expect(labels(3).slice(0, 4)).toEqual(['Sat 1', '12:00', 'Sun 2', '12:00'])
})

test.each(['Europe/Madrid', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Chatham', 'Africa/Cairo'])(
  "ticks of a time axis are at local boundaries of the service's zone: %s",
  (zone) => {
    for (const days of [1, 2, 12, 30, 70, 180, 500, 4_000]) {
      const from = startOfDate(zone, '2025-03-01')!
      const ticks = timeTicks(zone, { from, to: from + days * 86_400 }, 'en')
      expect(ticks.length).toBeGreaterThan(3)
      expect(ticks.length).toBeLessThan(20)
      // If midnight is skipped, as in Cairo, the day starts after the gap.
      for (const { at: mark } of ticks) {
        if (days <= 2) expect(localClock(zone, mark)).toMatch(/:(00|30|45|15):00/)
        else expect(mark).toBe(startOfDate(zone, localClock(zone, mark).slice(0, 10)))
      }
    }
  },
)
