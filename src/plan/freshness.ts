import type { Duration } from '../job/job.ts'
import { durationSeconds } from '../job/moment.ts'
import { unknownNext } from '../judge/distances.ts'
import { type Finality, findSettledBorder, isFresh } from '../judge/finality.ts'
import { EARLY_S } from '../judge/limits.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Unit } from '../util/time/zone.ts'
import type { PlanContext } from './planning.ts'

/** R1 and R2 (docs/decisions/001-coverage.md): the times that decide whether a stored listing is still good. */
export interface Freshness extends Finality {
  readonly now: Instant
  /** Seconds. */
  readonly refreshS: number
}

/** The times of a list. Those without a lookback are never revised. */
export const toFreshness = (
  { service, now }: Pick<PlanContext, 'service' | 'now'>,
  { lookback, refresh }: { readonly lookback?: Duration | undefined; readonly refresh: Duration },
  unit: Unit = 'day',
): Freshness => ({
  zone: service.timeZone,
  now,
  unit,
  lookbackS: lookback ? durationSeconds(lookback) : 0,
  refreshS: durationSeconds(refresh),
})

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
