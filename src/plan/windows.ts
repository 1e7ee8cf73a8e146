import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../base/zone.ts'
import type { Size } from '../services/windows.ts'

/** The unit on whose borders a series may be cut: its bucket where that is longer than a day, else the day. */
export const borderUnit = (timeTrunc: string | null): Unit =>
  timeTrunc === 'month' || timeTrunc === 'year' ? timeTrunc : 'day'

/** The smallest interval on local borders that holds another one. */
export const widen = (zone: string, { from, to }: Interval, unit: Unit): Interval => ({
  from: floorTo(zone, from, unit),
  to: ceilTo(zone, to, unit),
})

/**
 * Cuts an interval into windows of a size, on borders of `unit`, oldest first: never inside one, so a window has at least one
 * unit, however small the size. Windows never reach over one of `borders`, the known changes of resolution. Every instant
 * of the interval is in exactly one window.
 */
export function* cut(
  zone: string,
  interval: Interval,
  size: Size,
  borders: readonly Instant[] = [],
  unit: Unit = 'day',
): Generator<Interval> {
  let { from } = interval
  while (from < interval.to) {
    const end = addUnits(zone, floorTo(zone, from, size.unit), size.unit, size.count)
    const border = borders.find((at) => at > from) ?? Number.POSITIVE_INFINITY
    const whole = Math.max(floorTo(zone, end, unit), addUnits(zone, floorTo(zone, from, unit), unit, 1))
    const to = Math.min(whole, border, interval.to)
    yield { from, to }
    from = to
  }
}

/** The end of a window of a size that begins at a border. */
export const addSize = (zone: string, from: Instant, { unit, count }: Size): Instant =>
  addUnits(zone, from, unit, count)
