import { expect, test } from 'vitest'
import { graceSeconds } from '../../src/judge/growth.ts'

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

test('the grace of a job whose interval is no multiple of four seconds is a whole number', () => {
  expect(graceSeconds(86_401)).toBe(108_002)
  expect(graceSeconds(null)).toBe(108_000)
})
