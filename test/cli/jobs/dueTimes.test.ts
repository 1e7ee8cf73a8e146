import { expect, test } from 'vitest'
import { createDueTimes } from '../../../src/cli/jobs/dueTimes.ts'
import type { Job } from '../../../src/job/job.ts'

const nightly = { name: 'nightly', schedule: '15 21 * * *', timeZone: 'Europe/Madrid' } as Job
const hourly = { name: 'hourly', schedule: '0 * * * *', timeZone: 'Europe/Madrid' } as Job
/** An instant of November 2025 in Madrid. */
const at = (day: number, time: string): number =>
  Date.parse(`2025-11-${String(day).padStart(2, '0')}T${time.padEnd(8, ':00')}+01:00`)

test('jobs start in the order of their due times, and a time missed meanwhile runs once afterwards', () => {
  const due = createDueTimes([nightly, hourly], at(5, '20:30'))
  expect(due.first()).toBe(hourly)
  due.start(hourly, at(5, '23:10'))
  expect([due.first(), due.at(nightly), due.at(hourly)]).toEqual([nightly, at(5, '21:15'), at(6, '00:00')])
  due.start(nightly, at(5, '23:20'))
  expect(due.at(nightly)).toBe(at(6, '21:15'))
})

test('a clock that is set back moves due times back, but never repeats the last start', () => {
  const due = createDueTimes([nightly], at(5, '12:00'))
  due.start(nightly, at(5, '21:15'))
  expect(due.setBack(at(5, '21:10'))).toEqual([])
  expect(due.at(nightly)).toBe(at(6, '21:15'))
  expect(due.setBack(at(4, '12:00'))).toEqual([nightly])
  expect(due.at(nightly)).toBe(at(4, '21:15'))
})

test('a job that waits for another job remains due when the clock is set back', () => {
  const due = createDueTimes([nightly, hourly], at(5, '20:30'))
  due.start(hourly, at(5, '21:00'))
  // The other job ends at 21:30, and the clock is set back by five minutes.
  expect(due.setBack(at(5, '21:25'))).toEqual([])
  expect([due.first(), due.at(nightly)]).toEqual([nightly, at(5, '21:15')])
})

test('a retry after a busy database runs once when the clock is set back', () => {
  const due = createDueTimes([nightly], at(5, '12:00'))
  due.start(nightly, at(5, '21:15'))
  due.retry(nightly, at(5, '21:16'))
  expect(due.at(nightly)).toBe(at(5, '21:16:30'))
  expect(due.setBack(at(5, '21:10'))).toEqual([nightly])
  expect(due.at(nightly)).toBe(at(5, '21:10:30'))
  due.start(nightly, at(5, '21:10:30'))
  expect(due.at(nightly)).toBe(at(6, '21:15'))
  due.setBack(at(5, '21:05'))
  expect(due.at(nightly)).toBe(at(6, '21:15'))
})

test('a retry is never later than the next due time', () => {
  const due = createDueTimes([hourly], at(5, '12:30'))
  due.start(hourly, at(5, '13:00'))
  due.retry(hourly, at(5, '13:59:50'))
  expect(due.at(hourly)).toBe(at(5, '14:00'))
  due.start(hourly, at(5, '14:00'))
  due.setBack(at(5, '13:59:55'))
  expect(due.at(hourly)).toBe(at(5, '15:00'))
})
