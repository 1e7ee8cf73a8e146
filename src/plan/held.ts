import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { floorTo, type Unit } from '../base/zone.ts'
import type { Span } from '../job/job.ts'
import type { Held } from '../job/memory.ts'
import { addSpan, spanSeconds } from '../job/moment.ts'

/** Before which border nothing is revised any more, seen from an instant. */
export const settledBefore = (zone: string, at: Instant, lookback: Span, unit: Unit): Instant =>
  floorTo(zone, addSpan(zone, at, lookback, -1), unit)

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
}

/**
 * The part of a held interval that need not be asked: all of it when it was fetched within `refresh`, otherwise what was
 * past revision by now and, if it was provisional, already so when it was fetched.
 */
export function stillGood(held: Held, { zone, now, lookback, refresh, unit }: Freshness): Interval {
  if (isFresh(held.fetchedAt, now, refresh)) return held
  const seenFrom = held.state === 'provisional' ? Math.min(held.fetchedAt, now) : now
  return { from: held.from, to: Math.min(held.to, settledBefore(zone, seenFrom, lookback, unit)) }
}

/** Whether a listing has to be asked: never answered, or answered longer ago than `refresh` while its window was still open. */
export function isDue(last: Instant | undefined, window: Interval | null, freshness: Freshness): boolean {
  if (last === undefined) return true
  if (isFresh(last, freshness.now, freshness.refresh)) return false
  return (
    window === null ||
    window.to > settledBefore(freshness.zone, Math.min(last, freshness.now), freshness.lookback, 'day')
  )
}
