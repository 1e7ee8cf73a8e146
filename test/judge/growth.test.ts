import { expect, test } from 'vitest'
import { findLag, graceSeconds } from '../../src/judge/growth.ts'

const DAY = 86_400

test.each([
  ['an unknown interval', null, 1.25],
  ['an hourly job', DAY / 24, 1.25],
  ['a daily job', DAY, 1.25],
  ['a weekly job', 7 * DAY, 8.75],
  ['a monthly job in February', 28 * DAY, 35],
  ['a monthly job', 31 * DAY, 38],
  ['a yearly job', 365 * DAY, 372],
])('new time of %s becomes missing after a late run', (_, usualS, days) => {
  expect(graceSeconds(usualS)).toBe(days * DAY)
})

test('the grace of a job whose interval is not a multiple of four seconds is a whole number', () => {
  expect(graceSeconds(86_401)).toBe(108_002)
  expect(graceSeconds(null)).toBe(108_000)
})

test.each([
  ['2025-01-01..2025-02-01', null],
  ['-30d..2025-02-01T12:00:00Z', null],
  ['no window', null],
  ['-6h..now', 0],
  ['-30d..today', DAY],
  ['-30d..+1d', 0],
  ['-30d..-1d', 2 * DAY],
  ['-6h..-1h', 60 + 3_600],
  ['-6h..+1h', 60 - 3_600],
  ['-30m..+15m', 60 - 900],
  ['-1d..+1w', -6 * DAY],
  // February has three days less than the longest month, and a common year one less than a leap year.
  ['-1d..+1mo', -27 * DAY],
  ['-1d..+2mo', DAY - 2 * 28 * DAY],
  ['-1d..+1y', DAY - 363 * DAY],
  ['-9mo..-1mo', 32 * DAY],
  ['-9y..-1y', 367 * DAY],
])('the end of the window %s stays behind the clock by %s seconds', (window, seconds) => {
  expect(findLag(window)).toBe(seconds)
})
