import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import { floorTo, type Unit } from '../base/zone.ts'
import { isDoubtDue } from '../job/again.ts'
import type { Span } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import type { CoveredInterval } from '../job/plannerState.ts'

/** Before which border nothing is revised any more, seen from an instant. */
export const settledBefore = (zone: string, at: Instant, lookback: Span, unit: Unit, periods?: Periods): Instant => {
  const border = floorTo(zone, at - spanSeconds(lookback), unit)
  // A value may come or be revised until its period is over, wherever that began.
  return periods ? floorTo(zone, periods.floor(border), unit) : border
}

/** Whether something was fetched within `refresh`. What a clock that has jumped back since puts into the future was not. */
const isFresh = (fetchedAt: Instant, now: Instant, refresh: Span): boolean =>
  fetchedAt > now - spanSeconds(refresh) && fetchedAt <= now + CLOCK_ERROR

/** Seconds by which two clocks may differ without one of them being wrong. */
const CLOCK_ERROR = 300

/** How the planner looks at what is held. */
export interface Freshness {
  readonly zone: string
  readonly now: Instant
  readonly lookback: Span
  readonly refresh: Span
  readonly unit: Unit
  /** The periods of the series, where they are long and known. */
  readonly periods?: Periods | undefined
}

/** What lies before the border of its lookback when it was fetched, or all of it where that was long enough for every part. */
function settledPart(held: CoveredInterval, { zone, now, lookback, unit, periods }: Freshness): Interval {
  const ahead = Math.max(0, held.fetchedAt - now)
  if (held.settledS - ahead >= spanSeconds(lookback)) return held
  const border = settledBefore(zone, held.fetchedAt - ahead, lookback, unit, periods)
  return { from: held.from, to: Math.min(held.to, border) }
}

/**
 * The part of a held interval that need not be requested: all of it when it was fetched within `refresh`, otherwise what was
 * past revision when it was fetched. What is in doubt is requested whatever its age, at growing distances.
 */
export function stillGood(held: CoveredInterval, freshness: Freshness): Interval {
  const { now, refresh } = freshness
  if (isFresh(held.fetchedAt, now, refresh)) return held
  if (held.state === 'doubt' && isDoubtDue(held.sinceAt ?? held.fetchedAt, held.fetchedAt, now))
    return { from: held.from, to: held.from }
  return settledPart(held, freshness)
}

/** Whether a listing has to be requested: never answered, or answered longer ago than `refresh` while its window was still open. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness.now, freshness.refresh)) return false
  return (
    window === null ||
    window.to > settledBefore(freshness.zone, Math.min(last, freshness.now), freshness.lookback, 'day')
  )
}
