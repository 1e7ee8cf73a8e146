import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../base/zone.ts'

/** The size of a window: so many local units. */
export interface Size {
  readonly unit: Unit
  readonly count: number
}

/** The unit on whose borders a series may be cut: its bucket where that is longer than a day, else the day. */
export const borderUnit = (timeTrunc: string | null): Unit =>
  timeTrunc === 'month' || timeTrunc === 'year' ? timeTrunc : 'day'

/** The smallest interval on local borders that holds another one. */
export const widen = (zone: string, { from, to }: Interval, unit: Unit): Interval => ({
  from: floorTo(zone, from, unit),
  to: ceilTo(zone, to, unit),
})

/**
 * Cuts an interval into windows of a size, on local borders, oldest first. Windows never reach over one of `borders`,
 * the known changes of resolution. Every instant of the interval is in exactly one window.
 */
export function* cut(
  zone: string,
  interval: Interval,
  size: Size,
  borders: readonly Instant[] = [],
): Generator<Interval> {
  let { from } = interval
  while (from < interval.to) {
    const start = floorTo(zone, from, size.unit)
    const end = addUnits(zone, start, size.unit, size.count)
    const border = borders.find((at) => at > from) ?? Number.POSITIVE_INFINITY
    const to = Math.min(end, border, interval.to)
    yield { from, to }
    from = to
  }
}
