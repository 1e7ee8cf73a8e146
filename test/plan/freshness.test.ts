import { describe, expect, test } from 'vitest'
import type { Coverage } from '../../src/job/plannerState.ts'
import { type Freshness, freshPart, isDue, settledBefore } from '../../src/plan/freshness.ts'
import { parseInstant } from '../../src/util/time/instant.ts'
import { findPeriods } from '../../src/util/time/periods.ts'

const ZONE = 'Europe/Madrid'
const DAY = 86_400
/** A local time in summer, when Madrid is two hours ahead of UTC. */
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
const held = (over: Partial<Coverage> = {}): Coverage => ({
  ...window,
  geo: 0,
  state: 'values',
  fetchedAt: NOW - DAY,
  settledFor: 0,
  since: null,
  ...over,
})

describe('what nobody revises any more', () => {
  test.each([
    ['the border of the day that lies a lookback ago', 'day', undefined, '2025-07-08T00:00'],
    ['the month, where the series is grouped by months', 'month', undefined, '2025-07-01T00:00'],
    [
      'the beginning of a period that is not over',
      'day',
      { at: at('2025-07-01T00:00'), step: 7 * DAY },
      '2025-07-08T00:00',
    ],
    ['the month of a monthly period', 'day', { at: at('2025-06-01T00:00'), step: 30 * DAY }, '2025-07-01T00:00'],
  ] as const)('ends at %s', (_, unit, period, border) => {
    const periods = period && findPeriods(ZONE, period)
    expect(settledBefore(NOW, { ...freshness, unit, periods })).toBe(at(border))
  })
})

describe('the part of a response that need not be requested again', () => {
  test.each([
    ['all of it within the time of `refresh`', held({ fetchedAt: NOW - 3_599 }), window.to],
    ['no longer at its end', held({ fetchedAt: NOW - 3_600 }), at('2025-07-08T00:00')],
    ['what was past revision when it was fetched', held({ fetchedAt: NOW - DAY }), at('2025-07-07T00:00')],
    ['all of it where every part had been past revision', held({ settledFor: 2 * DAY }), window.to],
    ['not where a part had been so one second less', held({ settledFor: 2 * DAY - 1 }), at('2025-07-07T00:00')],
    [
      'nothing of what lies in the future by more than clocks differ',
      held({ fetchedAt: NOW + 301 }),
      at('2025-07-08T00:00'),
    ],
    ['all of it where the clocks merely differ', held({ fetchedAt: NOW + 300 }), window.to],
    [
      'as much less as the clock was ahead, where all had been past revision',
      held({ fetchedAt: NOW + 2 * DAY, settledFor: 4 * DAY - 1 }),
      at('2025-07-08T00:00'),
    ],
    [
      'all of it where it was past revision for longer than the clock was ahead',
      held({ fetchedAt: NOW + 2 * DAY, settledFor: 4 * DAY }),
      window.to,
    ],
    ['no more than was held', held({ to: at('2025-07-03T00:00') }), at('2025-07-03T00:00')],
    ['nothing of what is unverified and due', held({ state: 'unverified', since: NOW - DAY }), window.from],
    ['nothing of what is unverified since an unknown time', held({ state: 'unverified' }), window.from],
    [
      'what was past revision of what has been unverified for less than a day',
      held({ state: 'unverified', fetchedAt: NOW - DAY / 2, since: NOW - DAY / 2 }),
      at('2025-07-08T00:00'),
    ],
    [
      'what was past revision of what is unverified and not due',
      held({ state: 'unverified', fetchedAt: NOW - DAY, since: NOW - 9 * DAY }),
      at('2025-07-07T00:00'),
    ],
  ])('is %s', (_, row, to) => expect(freshPart(row, freshness)).toMatchObject({ from: window.from, to }))
})

describe('a listing is requested', () => {
  test.each([
    ['when it was never answered', undefined, window, true],
    ['not within the time of `refresh`', NOW - 3_599, null, false],
    ['again after it, when it has no window', NOW - 3_600, null, true],
    ['again when its window was still open', NOW - DAY, { ...window, to: at('2025-07-07T00:00') + 1 }, true],
    ['not again when its window was past revision', NOW - DAY, { ...window, to: at('2025-07-07T00:00') }, false],
    ['again when the clock was ahead', NOW + DAY, { ...window, to: at('2025-07-08T00:00') + 1 }, true],
    [
      'not again for a clock that was ahead of a closed window',
      NOW + DAY,
      { ...window, to: at('2025-07-08T00:00') },
      false,
    ],
  ])('%s', (_, last, asked, due) => expect(isDue(last, asked, freshness)).toBe(due))

  test('by days, whatever the unit of its series', () => {
    const open = { ...window, to: at('2025-07-05T00:00') }
    expect(isDue(NOW - DAY, open, { ...freshness, unit: 'month' })).toBe(false)
  })
})
