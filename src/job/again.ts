import { DAY, type Instant, isFuture } from '../base/time/instant.ts'
import type { Absence, UnknownItem } from './plannerState.ts'

/** The longest time between two attempts. */
const LONGEST_PAUSE_S = 182 * DAY
/** Seconds. What has been absent for longer is not requested again, because the next wait would be too long. */
export const GIVEN_UP = LONGEST_PAUSE_S - DAY
/**
 * Seconds. What is due within this time counts as due, because scheduled runs do not begin at exactly the same time every day.
 */
export const EARLY_S = 3_600

/** Whether a window in doubt since `since`, last answered at `last`, is due: at once, then after 1, 2, 4, 8 … days. */
export const isDoubtDue = (since: Instant, last: Instant, now: Instant): boolean =>
  last <= since || isFuture(last, now) || now >= last + Math.min(LONGEST_PAUSE_S, Math.max(DAY, last - since)) - EARLY_S

/** When an absence is requested again: after 1, 2, 4, 8 … days, up to half a year; null after that. */
export function absentNext({ sinceAt, checkedAt }: Pick<Absence, 'sinceAt' | 'checkedAt'>): Instant | null {
  const distance = checkedAt - sinceAt + DAY
  return distance > LONGEST_PAUSE_S ? null : checkedAt + distance
}

/** When an id that the service does not know is requested again: after 1, 2, 4, 8 … days, then every half year. */
export const unknownNext = ({ sinceAt, lastAt }: UnknownItem): Instant =>
  lastAt + Math.min(LONGEST_PAUSE_S, lastAt - Math.min(sinceAt, lastAt) + DAY)
