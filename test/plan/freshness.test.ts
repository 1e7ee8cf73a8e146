import { describe, expect, test } from 'vitest'
import { findSettledBorder } from '../../src/judge/finality.ts'
import { judge } from '../../src/judge/judge.ts'
import type { Coverage } from '../../src/judge/stored.ts'
import { isOrdinary } from '../../src/plan/due.ts'
import { type Freshness, isDue } from '../../src/plan/freshness.ts'
import { parseInstant } from '../../src/util/time/instant.ts'
import { findPeriods } from '../../src/util/time/periods.ts'
import { requirement, store } from '../judge/cases.ts'

const ZONE = 'Europe/Madrid'
const DAY = 86_400
/** Parses a local time in summer, when Madrid is two hours ahead of UTC. */
const at = (text: string) => parseInstant(`${text}:00+02:00`)
const NOW = at('2025-07-10T12:00')
const freshness: Freshness = {
  zone: ZONE,
  now: NOW,
  lookbackS: 2 * DAY,
  refreshS: 3_600,
  unit: 'day',
}
const window = { from: at('2025-07-01T00:00'), to: at('2025-07-10T00:00') }
const storedRow = (over: Partial<Coverage> = {}): Coverage => ({
  ...window,
  geo: 0,
  state: 'values',
  fetchedAt: NOW - DAY,
  settledFor: 0,
  sinceAt: null,
  ...over,
})

describe('the end of settled data', () => {
  test.each([
    ['the start of the day one lookback ago', 'day', undefined, '2025-07-08T00:00'],
    ['the start of the month if the series is grouped by months', 'month', undefined, '2025-07-01T00:00'],
    ['the start of the current period', 'day', { at: at('2025-07-01T00:00'), step: 7 * DAY }, '2025-07-08T00:00'],
    [
      'the start of the month of a monthly period',
      'day',
      { at: at('2025-06-01T00:00'), step: 30 * DAY },
      '2025-07-01T00:00',
    ],
  ] as const)('settled data ends at %s', (_, unit, period, border) => {
    const periods = period && findPeriods(ZONE, period)
    expect(findSettledBorder(NOW, { ...freshness, unit, periods })).toBe(at(border))
  })
})

/** The end of the part of a stored response that is not due. */
function freshEnd(row: Coverage): number {
  const { lookbackS, refreshS } = freshness
  const requirements = [requirement({ from: row.from, to: row.to, lookbackS, refreshS, sinceAt: row.from })]
  const spans = judge(requirements, store({ zone: ZONE, timelines: [], coverage: [row] }), NOW)
  const due = spans.filter((span) => isOrdinary(span) && span.nextAt !== null && span.nextAt <= NOW)
  return Math.min(row.to, ...due.map(({ from }) => from))
}

describe('the fresh part of a response', () => {
  test.each([
    ['all of it within `refresh`', storedRow({ fetchedAt: NOW - 3_599 }), window.to],
    ['all but its open end after `refresh`', storedRow({ fetchedAt: NOW - 3_600 }), at('2025-07-08T00:00')],
    ['the part that was settled when it was fetched', storedRow({ fetchedAt: NOW - DAY }), at('2025-07-07T00:00')],
    ['all of it if every part was settled', storedRow({ settledFor: 2 * DAY }), window.to],
    ['less if a part was settled for one second less', storedRow({ settledFor: 2 * DAY - 1 }), at('2025-07-07T00:00')],
    [
      'its settled part if it was fetched far in the future',
      storedRow({ fetchedAt: NOW + 301 }),
      at('2025-07-08T00:00'),
    ],
    ['all of it if clocks differ slightly', storedRow({ fetchedAt: NOW + 300 }), window.to],
    [
      'reduced by the time by which a fast clock was ahead',
      storedRow({ fetchedAt: NOW + 2 * DAY, settledFor: 4 * DAY - 1 }),
      at('2025-07-08T00:00'),
    ],
    [
      'all of it if it was settled for longer than the clock was ahead',
      storedRow({ fetchedAt: NOW + 2 * DAY, settledFor: 4 * DAY }),
      window.to,
    ],
    ['no more than the stored part', storedRow({ to: at('2025-07-03T00:00') }), at('2025-07-03T00:00')],
    ['empty if it is unverified and due', storedRow({ state: 'unverified', sinceAt: NOW - DAY }), window.from],
    ['empty if it is unverified since an unknown time', storedRow({ state: 'unverified' }), window.from],
    [
      'the settled part if it is unverified for less than a day',
      storedRow({ state: 'unverified', fetchedAt: NOW - DAY / 2, sinceAt: NOW - DAY / 2 }),
      at('2025-07-08T00:00'),
    ],
    [
      'the settled part if it is unverified and not due',
      storedRow({ state: 'unverified', fetchedAt: NOW - DAY, sinceAt: NOW - 9 * DAY }),
      at('2025-07-07T00:00'),
    ],
  ])('the fresh part is %s', (_, row, to) => expect(freshEnd(row)).toBe(to))
})

describe('due listings', () => {
  test.each([
    ['due if it was never fetched', undefined, window, true],
    ['fresh within `refresh`', NOW - 3_599, null, false],
    ['due after `refresh` if it has no window', NOW - 3_600, null, true],
    ['due if its window was still open', NOW - DAY, { ...window, to: at('2025-07-07T00:00') + 1 }, true],
    ['fresh if its window was settled', NOW - DAY, { ...window, to: at('2025-07-07T00:00') }, false],
    ['due if the clock was ahead', NOW + DAY, { ...window, to: at('2025-07-08T00:00') + 1 }, true],
    ['fresh if the clock was ahead of a closed window', NOW + DAY, { ...window, to: at('2025-07-08T00:00') }, false],
  ])('a listing is %s', (_, last, asked, due) => expect(isDue(last, asked, freshness)).toBe(due))

  test('a listing is due by days, independent of the unit of its series', () => {
    const open = { ...window, to: at('2025-07-05T00:00') }
    expect(isDue(NOW - DAY, open, { ...freshness, unit: 'month' })).toBe(false)
  })
})
