import { describe, expect, test } from 'vitest'
import { findAllowedLag, type LagSample, quantile } from '../../src/judge/usualLag.ts'
import { DAY, formatUtc, HOUR } from '../../src/util/time/instant.ts'
import { ms } from '../support/kit.ts'

const START = ms('2025-10-01T12:00:00Z') / 1000

/** Fetches at some times (in seconds), each with its lag after the end of the last period. */
const fetches = (history: readonly (readonly [at: number, lag: number])[], step: number | null = HOUR): LagSample[] =>
  history.map(([at, lag]) => ({
    finished_at: formatUtc(START + at),
    last_at: START + at - lag - (step ?? 0),
    step_s: step,
  }))
/** Fetches at equal distances. */
const every = (interval: number, lags: readonly number[]) => lags.map((lag, i) => [i * interval, lag] as const)

/** Empty replies on some nights. */
const emptyFrom = (first: number, count: number): LagSample[] =>
  Array.from({ length: count }, (_, i) => ({
    finished_at: formatUtc(START + (first + i) * DAY),
    last_at: null,
    step_s: null,
  }))
/** Nightly fetches of a source that publishes all values up to now once a week. */
const weekly = (weeks: number): LagSample[] =>
  Array.from({ length: weeks }, (_, week) => [
    ...fetches([[week * 7 * DAY, 0]]),
    ...emptyFrom(week * 7 + 1, week === weeks - 1 ? 0 : 6),
  ]).flat()

describe('the allowed lag of a series', () => {
  test.each<[string, LagSample[], number | null]>([
    ['no fetch', [], null],
    ['two fetches', fetches(every(DAY, [HOUR, HOUR])), null],
    ['three daily fetches', fetches(every(DAY, [HOUR, HOUR, HOUR])), HOUR + 1.25 * DAY],
    ['hourly fetches', fetches(every(HOUR, [600, 600, 600, 600])), 600 + 1.25 * HOUR],
    ['hourly fetches, the newest first', fetches(every(HOUR, [600, 600, 600, 600])).reverse(), 600 + 1.25 * HOUR],
    ['several steps, the longest counts', [...fetches(every(HOUR, [0, 0, 0]), DAY), ...fetches([[3 * HOUR, 0]])], DAY],
    ['periods that are longer than the interval', fetches(every(HOUR, [0, 0, 0, 0]), DAY), DAY],
    ['values for the future', fetches(every(DAY, [-DAY, -DAY, -DAY])), -DAY + 1.25 * DAY],
    ['an unknown step', fetches(every(DAY, [HOUR, HOUR, HOUR]), null), HOUR + 1.25 * DAY],
    ['one late publication', fetches(every(DAY, [0, 0, 0, 0, 9 * DAY, 0, 0, 0])), 1.25 * DAY],
    [
      'lags that grow until the next publication',
      fetches(every(DAY, [0, DAY, 2 * DAY, 3 * DAY, 4 * DAY, 0])),
      4.25 * DAY,
    ],
    [
      'a source that has ended',
      fetches(every(DAY, [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, i) => i * DAY)])),
      1.25 * DAY,
    ],
    [
      'a source that lost its newest values, and publishes no more',
      fetches(every(DAY, [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, i) => (i + 3) * DAY)])),
      1.25 * DAY,
    ],
    ['a week of values on Mondays, and empty replies on other days', weekly(3), 4 * DAY + 1.25 * DAY + 2 * DAY],
    ['the same, and the source has ended', [...weekly(3), ...emptyFrom(21, 9)], 4 * DAY + 1.25 * DAY + 2 * DAY],
    ['nothing but empty replies', emptyFrom(0, 9), null],
    ['one pause', fetches([0, 1, 2, 20, 21].map((day) => [day * DAY, 0])), 1.25 * DAY],
    [
      'requests of one run',
      fetches([0, 60, DAY, DAY + 60, 2 * DAY].map((at) => [at, 0])),
      Math.round(1.25 * (DAY - 60)),
    ],
    ['one run alone', fetches([0, 20, 40].map((at) => [at, 0])), 1.25 * DAY],
  ])('the allowed lag is correct for %s', (_name, history, lag) => {
    expect(findAllowedLag(history)).toBe(lag)
  })

  test('a fraction of a second is rounded', () => {
    expect(findAllowedLag(fetches(every(61, [0, 1, 3]), 10))).toBe(78)
  })
})

test.each([
  [0, 1],
  [0.5, 3],
  [0.74, 3],
  [0.75, 4],
  [1, 9],
])('the quantile %d of five numbers is %d', (share, number) => {
  expect(quantile([9, 3, 1, 2, 4], share)).toBe(number)
})
