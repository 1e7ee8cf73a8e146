import type { EarlierLookback } from '../job/duty.ts'
import type { Span } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import { type Coverage, EARLY_S, isUnverifiedDue, unknownNext } from '../job/plannerState.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { floorTo, type Unit } from '../util/time/zone.ts'
import type { PlanContext } from './planning.ts'

/** Rules 22–24 (docs/decisions/001-coverage.md): the times that decide whether stored coverage is still good. */
export interface Freshness {
  readonly zone: string
  readonly now: Instant
  /** Seconds. */
  readonly lookbackS: number
  /** Seconds. */
  readonly refreshS: number
  readonly unit: Unit
  /** The periods of the series, if it has known calendar periods. */
  readonly periods?: Periods | undefined
  /** Shorter lookbacks that apply to older data. */
  readonly earlierLookbacks?: readonly EarlierLookback[]
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

/** The local border before which, at an instant, nothing can be revised. */
export const findSettledBorder = (at: Instant, freshness: Freshness): Instant =>
  findBorder(at - freshness.lookbackS, freshness)

/** The last local border that is not after an instant. */
function findBorder(at: Instant, { zone, unit, periods }: Freshness): Instant {
  const border = floorTo(zone, at, unit)
  // A period that contains the border may still be revised.
  return periods ? floorTo(zone, periods.floor(border), unit) : border
}

/** Rule 22: whether data was fetched within `refresh`. A time in the future comes from a wrong clock, and does not count. */
const isFresh = (fetchedAt: Instant, { now, refreshS }: Freshness): boolean =>
  fetchedAt > now - refreshS && !isFuture(fetchedAt, now)

/** Rule 23: the part of a stored interval that was settled when it was fetched. */
function findSettledPart(stored: Coverage, freshness: Freshness): Interval {
  const ahead = Math.max(0, stored.fetchedAt - freshness.now)
  const settledEnd = (lookbackS: number): Instant =>
    stored.settledFor - ahead >= lookbackS
      ? stored.to
      : Math.min(stored.to, findSettledBorder(stored.fetchedAt - ahead, { ...freshness, lookbackS }))
  const earlierEnds = (freshness.earlierLookbacks ?? []).map(({ before, lookbackS }) =>
    Math.min(findBorder(before, freshness), settledEnd(lookbackS)),
  )
  return { from: stored.from, to: Math.max(settledEnd(freshness.lookbackS), ...earlierEnds) }
}

/** The part of a stored interval that need not be requested. */
export function findFreshPart(stored: Coverage, freshness: Freshness): Interval {
  if (isFresh(stored.fetchedAt, freshness)) return stored
  // Rule 24: unverified data is requested at growing distances.
  if (
    stored.state === 'unverified' &&
    isUnverifiedDue(stored.sinceAt ?? stored.fetchedAt, stored.fetchedAt, freshness.now)
  )
    return { from: stored.from, to: stored.from }
  return findSettledPart(stored, freshness)
}

/** Whether a listing is due: it has no reply, or an old one from a time at which its window could still be revised. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness)) return false
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
