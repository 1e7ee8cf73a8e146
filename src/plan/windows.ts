import type { Size } from '../service/windowSizes.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../util/time/zone.ts'

/** The unit on whose borders a series may be cut: its bucket if that is longer than a day, else the day. */
export const borderUnit = (timeTrunc: string | null): Unit =>
  timeTrunc === 'month' || timeTrunc === 'year' ? timeTrunc : 'day'

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
