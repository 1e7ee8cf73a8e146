import { durationSeconds, parseWindow } from '../job/moment.ts'
import { DAY } from '../util/time/instant.ts'
import { LATE_SHARE, MAX_LATE_S } from './limits.ts'

/* How windows grow with time. */

/**
 * The seconds by which the end of a window stays behind the clock at most, negative for the future; null if it does not move. Days count
 * from the start of today, so an end in days may be a day earlier than its distance.
 */
export function findLag(window: string): number | null {
  const to = parseWindow(window)?.to
  if (to?.kind === 'now') return 0
  if (to?.kind !== 'relative') return null
  const { count, unit } = to.duration
  const seconds = durationSeconds(to.duration)
  if (unit === 'minute' || unit === 'hour') return 60 - seconds
  // Months and years ahead are shorter than `durationSeconds` says.
  const shortest = count > 0 && (unit === 'month' || unit === 'year') ? seconds - 3 * count * DAY : seconds
  return DAY - shortest
}

/**
 * Seconds that new time may stay unrequested. A job leaves all time since its last run, and a monthly one leaves a month, so the interval
 * itself has no limit. `usualS`: usual seconds between its runs.
 */
export function graceSeconds(usualS: number | null): number {
  const interval = Math.max(DAY, usualS ?? 0)
  return Math.ceil(interval + Math.min(LATE_SHARE * interval, MAX_LATE_S))
}
