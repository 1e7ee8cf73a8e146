import type { Span } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import { type Coverage, EARLY_S, isUnverifiedDue, unknownNext } from '../job/plannerState.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { floorTo, type Unit } from '../util/time/zone.ts'
import type { Planning } from './planning.ts'

/** What decides whether stored coverage is still good. */
export interface Freshness {
  readonly zone: string
  readonly now: Instant
  /** Seconds. */
  readonly lookbackS: number
  /** Seconds. */
  readonly refreshS: number
  readonly unit: Unit
  /** The periods of the series, where they are long and known. */
  readonly periods?: Periods | undefined
}

/** What an entry says about the age of what it wants; for listings without a lookback nothing is revised. */
export const toFreshness = (
  { service, now }: Pick<Planning, 'service' | 'now'>,
  { lookback, refresh }: { readonly lookback?: Span | undefined; readonly refresh: Span },
  unit: Unit = 'day',
): Freshness => ({
  zone: service.timeZone,
  now,
  unit,
  lookbackS: lookback ? spanSeconds(lookback) : 0,
  refreshS: spanSeconds(refresh),
})

/** The local border before which, at an instant, nothing is revised any more. */
export const settledBefore = (at: Instant, { zone, lookbackS, unit, periods }: Freshness): Instant => {
  const border = floorTo(zone, at - lookbackS, unit)
  // A period that has begun before the border and ends after it may still be revised.
  return periods ? floorTo(zone, periods.floor(border), unit) : border
}

/** Whether something was fetched within `refresh`. A time in the future comes from a clock that was set back since, and does not count. */
const isFresh = (fetchedAt: Instant, { now, refreshS }: Freshness): boolean =>
  fetchedAt > now - refreshS && !isFuture(fetchedAt, now)

/** The part of a stored interval that was past revision when it was fetched. */
function finalPart(stored: Coverage, freshness: Freshness): Interval {
  const ahead = Math.max(0, stored.fetchedAt - freshness.now)
  if (stored.settledFor - ahead >= freshness.lookbackS) return stored
  const border = settledBefore(stored.fetchedAt - ahead, freshness)
  return { from: stored.from, to: Math.min(stored.to, border) }
}

/**
 * The part of a stored interval that need not be requested: all of it when it was fetched within `refresh`, otherwise what was
 * past revision when it was fetched. What is unverified is requested whatever its age, at growing distances.
 */
export function freshPart(stored: Coverage, freshness: Freshness): Interval {
  if (isFresh(stored.fetchedAt, freshness)) return stored
  if (
    stored.state === 'unverified' &&
    isUnverifiedDue(stored.since ?? stored.fetchedAt, stored.fetchedAt, freshness.now)
  )
    return { from: stored.from, to: stored.from }
  return finalPart(stored, freshness)
}

/** Whether a listing has to be requested: it was never answered, or longer ago than `refresh` while its window could still be revised. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness)) return false
  const byDays: Freshness = { ...freshness, unit: 'day', periods: undefined }
  return window === null || window.to > settledBefore(Math.min(last, freshness.now), byDays)
}

/** Whether an indicator or widget is not requested now because the service does not know it; calls `onSkipped` then. */
export function isSkipped(planning: Planning, entry: string, route: string, id: string | number): boolean {
  const { plannerState, now, options, onSkipped } = planning
  const unknown = options.restate ? undefined : plannerState.unknown(route, id)
  if (!unknown) return false
  const nextAt = unknownNext(unknown)
  if (now >= nextAt - EARLY_S || isFuture(unknown.lastAt, now)) return false
  onSkipped?.({ entry, route, id, since: unknown.sinceAt, nextAt })
  return true
}
