import { CLOCK_ERROR_S, DAY, HOUR, type Instant } from '../util/time/instant.ts'

/* How far ahead of the time of a request a series usually publishes. */

/** The replies of a day to requests that reached into the future. */
export interface AheadSample {
  /** When the first of them was recorded. */
  readonly finishedAt: Instant
  /** Seconds from then to the end of the local day. */
  readonly dayLeftS: number
  /** The last instant with a value in any of them. */
  readonly lastAt: Instant
  /** The most seconds between the time of a reply and its last instant; negative for a series that is behind. */
  readonly aheadS: number
  /** Whether a request reached further than its values, so that they show how far ahead the series publishes. */
  readonly isWhole: boolean
}

/** A sample whose values lie further ahead than the series can know. */
export interface TooFarAhead {
  readonly sample: AheadSample
  /** The most seconds that the series was ahead before; not positive if it never was. */
  readonly usualS: number
  /** The most seconds ahead that are credible. */
  readonly limitS: number
}

/** Days with new values that are needed to know how far ahead a series publishes. */
const MIN_SAMPLES = 3
/** Seconds. The longest time by which requests of a day differ from each other: the hour of a run may change. */
const DAY_S = DAY + HOUR

/**
 * The most seconds ahead that are credible. A series that was never ahead may be so to the end of the day, because its runs may have been at
 * that end. One that was ahead may be so by a day more: a run at another hour sees another publication. It may be so by half as much again:
 * a source that publishes in bulk does so earlier before holidays.
 */
const credibleS = (usualS: number, { dayLeftS }: AheadSample): number =>
  usualS > CLOCK_ERROR_S ? usualS + Math.max(DAY_S, usualS / 2) : Math.max(CLOCK_ERROR_S, dayLeftS)

/**
 * Finds the first sample after an instant that is further ahead than all before can explain; null if none is, or too little is known. Only
 * samples with new values count: a source that publishes a year at once shows only once a year how far ahead it does.
 */
export function findTooFarAhead(samples: readonly AheadSample[], since: Instant): TooFarAhead | null {
  let newest = Number.NEGATIVE_INFINITY
  let usualS = Number.NEGATIVE_INFINITY
  let known = 0
  for (const sample of samples.toSorted((a, b) => a.finishedAt - b.finishedAt)) {
    const { finishedAt, lastAt, aheadS, isWhole } = sample
    if (lastAt <= newest) continue
    const limitS = credibleS(usualS, sample)
    if (finishedAt > since && known >= MIN_SAMPLES && aheadS > limitS) return { sample, usualS, limitS }
    newest = lastAt
    usualS = Math.max(usualS, aheadS)
    if (isWhole) known++
  }
  return null
}
