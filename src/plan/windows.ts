import type { PlannedRequest } from '../job/plannedRequest.ts'
import { borderUnit } from '../judge/finality.ts'
import { requestFor } from '../service/request.ts'
import type { Size } from '../service/windowSizes.ts'
import { DAY, type Instant } from '../util/time/instant.ts'
import { hull, type Interval, intersect } from '../util/time/interval.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../util/time/zone.ts'

/** The smallest interval on local borders that contains another one. */
export const widen = (zone: string, { from, to }: Interval, unit: Unit): Interval => ({
  from: floorTo(zone, from, unit),
  to: ceilTo(zone, to, unit),
})

/**
 * Cuts an interval into windows of a size, oldest first. They start and end on borders of `unit`, so each has at least one unit, and
 * none spans one of `changes`, the known changes of resolution.
 */
export function* cut(
  zone: string,
  interval: Interval,
  size: Size,
  changes: readonly Instant[] = [],
  unit: Unit = 'day',
): Generator<Interval> {
  let { from } = interval
  while (from < interval.to) {
    const end = addUnits(zone, floorTo(zone, from, size.unit), size.unit, size.count)
    const change = changes.find((at) => at > from) ?? Number.POSITIVE_INFINITY
    const whole = Math.max(floorTo(zone, end, unit), addUnits(zone, floorTo(zone, from, unit), unit, 1))
    const to = Math.min(whole, change, interval.to)
    yield { from, to }
    from = to
  }
}

/** Maximum number of cuts in the cache. */
const CACHE_SIZE = 64
const cache = new Map<string, readonly Interval[]>()

/** Cuts like `cut`, with a cache, because most series of a job lack the same intervals and calendar arithmetic is slow. */
export function cutCached(...parameters: Required<Parameters<typeof cut>>): readonly Interval[] {
  const [zone, { from, to }, size, changes, unit] = parameters
  const key = [zone, from, to, size.count, size.unit, unit, ...changes].join()
  let windows = cache.get(key)
  if (!windows) {
    windows = [...cut(...parameters)]
    if (cache.size >= CACHE_SIZE) cache.clear()
    cache.set(key, windows)
  }
  return windows
}

/** Splits the window of a request into parts of at most `seconds`, on local borders. A day or a bucket is never split. */
export function splitWindow(planned: PlannedRequest, seconds: number | undefined): Interval[] {
  const { window, series, timeZone } = planned
  if (!window) return []
  if (!series || seconds === undefined || window.to - window.from <= seconds) return [window]
  const size = { unit: 'day', count: Math.max(1, Math.floor(seconds / DAY)) } as const
  return [...cut(timeZone, window, size, [], borderUnit(series.timeTrunc))]
}

/** Splits the window of a request into two halves, on local borders. */
export const halveWindow = (planned: PlannedRequest): Interval[] =>
  splitWindow(planned, planned.window ? Math.ceil((planned.window.to - planned.window.from) / 2) : undefined)

/** The first part of a repeat, of at most `seconds`. It begins and ends at an absence; null without any. */
export function findAbsentPart(
  planned: PlannedRequest,
  seconds: number | undefined,
  absences: readonly Interval[],
): Interval | null {
  const { window, series, timeZone } = planned
  if (!window) return null
  const unit = borderUnit(series?.timeTrunc ?? null)
  const inside = intersect(
    [window],
    absences.map((absence) => widen(timeZone, absence, unit)),
  )
  if (inside.length === 0) return null
  const { from } = inside[0]!
  const [part] = splitWindow({ ...planned, window: { from, to: window.to } }, seconds)
  return hull(intersect([part!], inside))
}

/** Returns the request for another window. */
export function withWindow(planned: PlannedRequest, window: Interval): PlannedRequest {
  const moved = { ...planned, window }
  return { ...moved, http: requestFor(moved) }
}
