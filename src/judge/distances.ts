import { DAY, type Instant } from '../util/time/instant.ts'
import { EARLY_S, LONGEST_PAUSE_S } from './limits.ts'
import type { Absence, RefusalTimes } from './stored.ts'

/* When unverified windows, absences and unknown ids are requested again: at growing distances. */

/** Seconds between the last reply and the next request: 1, 2, 4, 8 … days, by the age of the state. */
const distance = (sinceAt: Instant, lastAt: Instant): number => lastAt - sinceAt + DAY

/** R3: the time from which on an unverified window is requested again. */
export const unverifiedNext = (sinceAt: Instant, fetchedAt: Instant): Instant =>
  fetchedAt + Math.min(LONGEST_PAUSE_S, distance(sinceAt, fetchedAt)) - EARLY_S

/** R4: the time at which an absence is requested again; null after 255 days, when the distance exceeds half a year. */
export function absentNext({ sinceAt, checkedAt }: Pick<Absence, 'sinceAt' | 'checkedAt'>): Instant | null {
  const wait = distance(sinceAt, checkedAt)
  return wait > LONGEST_PAUSE_S ? null : checkedAt + wait
}

/** R4: the time at which a tolerated absence is requested again: 1 and 7 days after it was first seen. */
export function toleratedNext({ sinceAt, checkedAt }: Pick<Absence, 'sinceAt' | 'checkedAt'>): Instant | null {
  const days = [1, 7].find((count) => checkedAt < sinceAt + count * DAY - EARLY_S)
  return days === undefined ? null : sinceAt + days * DAY
}

/** The time at which an unknown id is requested again: after 1, 2, 4, 8 … days, then every half year. */
export const unknownNext = ({ sinceAt, lastAt }: RefusalTimes): Instant =>
  lastAt + Math.min(LONGEST_PAUSE_S, lastAt - Math.min(sinceAt, lastAt) + DAY)
