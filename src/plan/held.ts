import type { Instant } from '../base/time/instant.ts'
import type { Interval } from '../base/time/interval.ts'
import type { Periods } from '../base/time/periods.ts'
import { floorTo, type Unit } from '../base/time/zone.ts'
import { isDoubtDue } from '../job/again.ts'
import type { Span } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import type { CoveredInterval } from '../job/plannerState.ts'

/** The local border before which, at an instant, nothing is revised any more. */
export const settledBefore = (zone: string, at: Instant, lookback: Span, unit: Unit, periods?: Periods): Instant => {
  const border = floorTo(zone, at - spanSeconds(lookback), unit)
  // A period that has begun before the border and ends after it may still be revised.
  return periods ? floorTo(zone, periods.floor(border), unit) : border
}

/** Whether something was fetched within `refresh`. A time in the future comes from a clock that was set back since, and does not count. */
const isFresh = (fetchedAt: Instant, now: Instant, refresh: Span): boolean =>
  fetchedAt > now - spanSeconds(refresh) && fetchedAt <= now + CLOCK_ERROR

/** Seconds by which two clocks may differ without one of them being wrong. */
const CLOCK_ERROR = 300

/** What decides whether stored coverage is still good. */
export interface Freshness {
  readonly zone: string
  readonly now: Instant
  readonly lookback: Span
  readonly refresh: Span
  readonly unit: Unit
  /** The periods of the series, where they are long and known. */
  readonly periods?: Periods | undefined
}

/** The part of a held interval that was past revision when it was fetched. */
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

/** Whether a listing has to be requested: it was never answered, or longer ago than `refresh` while its window could still be revised. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness.now, freshness.refresh)) return false
  return (
    window === null ||
    window.to > settledBefore(freshness.zone, Math.min(last, freshness.now), freshness.lookback, 'day')
  )
}
