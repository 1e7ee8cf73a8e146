import type { Span } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import { type Coverage, EARLY_S, isUnverifiedDue, unknownNext } from '../job/plannerState.ts'
import { type Finality, findSettledBorder, findSettledPart, isFresh } from '../judge/finality.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Unit } from '../util/time/zone.ts'
import type { PlanContext } from './planning.ts'

/** Rules 22–24 (docs/decisions/001-coverage.md): the times that decide whether stored coverage is still good. */
export interface Freshness extends Finality {
  readonly now: Instant
  /** Seconds. */
  readonly refreshS: number
}

/** The times of an entry. Listings without a lookback are never revised. */
export const toFreshness = (
  { service, now }: Pick<PlanContext, 'service' | 'now'>,
  { lookback, refresh }: { readonly lookback?: Span | undefined; readonly refresh: Span },
  unit: Unit = 'day',
): Freshness => ({
  zone: service.timeZone,
  now,
  unit,
  lookbackS: lookback ? spanSeconds(lookback) : 0,
  refreshS: spanSeconds(refresh),
})

/** The part of a stored interval that need not be requested. */
export function findFreshPart(stored: Coverage, freshness: Freshness): Interval {
  if (isFresh(stored.fetchedAt, freshness.refreshS, freshness.now)) return stored
  // Rule 24: unverified data is requested at growing distances.
  if (
    stored.state === 'unverified' &&
    isUnverifiedDue(stored.sinceAt ?? stored.fetchedAt, stored.fetchedAt, freshness.now)
  )
    return { from: stored.from, to: stored.from }
  return findSettledPart(stored, freshness, freshness.now)
}

/** Whether a listing is due: it has no reply, or an old one from a time at which its window could still be revised. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness.refreshS, freshness.now)) return false
  const inDays: Freshness = { ...freshness, unit: 'day', periods: undefined }
  return window === null || window.to > findSettledBorder(Math.min(last, freshness.now), inDays)
}

/** Whether an indicator or widget is skipped because the service does not know it. If so, calls `onSkipped`. */
export function isSkipped(planning: PlanContext, entryPath: string, route: string, id: string | number): boolean {
  const { plannerState, now, options, onSkipped } = planning
  const unknown = options.restate ? undefined : plannerState.unknown(route, id)
  if (!unknown) return false
  const nextAt = unknownNext(unknown)
  if (now >= nextAt - EARLY_S || isFuture(unknown.lastAt, now)) return false
  onSkipped?.({ entryPath, route, id, sinceAt: unknown.sinceAt, nextAt })
  return true
}
