import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import type { Absence, UnknownItem } from './plannerState.ts'

/** The longest time between two attempts. */
const LONGEST_PAUSE_S = 182 * DAY
/** Seconds. What has been absent for longer is not requested again, because the next wait would be too long. */
export const GIVEN_UP = LONGEST_PAUSE_S - DAY
/**
 * Seconds. What is due within this time counts as due, because scheduled runs do not begin at exactly the same time every day.
 */
export const EARLY_S = 3_600

/** Seconds between the last answer and the next request, by how long the same answer has come: 1, 2, 4, 8 … days. */
const distance = (since: Instant, last: Instant): number => last - since + DAY

/** Whether an unverified window, unverified since `since` and last answered at `last`, is requested again: like an absence, but it is never given up. */
export const isUnverifiedDue = (since: Instant, last: Instant, now: Instant): boolean =>
  isFuture(last, now) || now >= last + Math.min(LONGEST_PAUSE_S, distance(since, last)) - EARLY_S

/** When an absence is requested again; null once that would be more than half a year later. */
export function absentNext({ since, checked }: Pick<Absence, 'since' | 'checked'>): Instant | null {
  const wait = distance(since, checked)
  return wait > LONGEST_PAUSE_S ? null : checked + wait
}

/** When an id that the service does not know is requested again: after 1, 2, 4, 8 … days, then every half year. */
export const unknownNext = ({ sinceAt, lastAt }: UnknownItem): Instant =>
  lastAt + Math.min(LONGEST_PAUSE_S, lastAt - Math.min(sinceAt, lastAt) + DAY)
