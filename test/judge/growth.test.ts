import { expect, test } from 'vitest'
import { graceSeconds } from '../../src/judge/growth.ts'

test('the grace of a job whose interval is no multiple of four seconds is a whole number', () => {
  expect(graceSeconds(86_401)).toBe(108_002)
  expect(graceSeconds(null)).toBe(108_000)
})
