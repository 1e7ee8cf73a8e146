import type { Size } from '../service/windowSizes.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../util/time/zone.ts'

/** The unit on whose borders a series may be cut: its bucket if that is longer than a day, else the day. Both services group by nothing else that is longer. */
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

type Cutter = (hole: Interval, size: Size, changes: readonly Instant[]) => readonly Interval[]

/** The cutter of a zone on borders of a unit, shared by all series of all entries. */
export function cutterFor(zone: string, unit: Unit): Cutter {
  const name = `${zone} ${unit}`
  const cutter = cutters.get(name) ?? createCutter(zone, unit)
  cutters.set(name, cutter)
  return cutter
}
const cutters = new Map<string, Cutter>()

/** Cuts holes into windows, with a cache: most series of a job miss the same intervals, and calendar arithmetic is slow. */
function createCutter(zone: string, unit: Unit): Cutter {
  const remembered = new Map<string, readonly Interval[]>()
  return (hole, size, changes) => {
    const key = [hole.from, hole.to, size.count, size.unit, ...changes].join()
    let windows = remembered.get(key)
    if (!windows) {
      windows = [...cut(zone, hole, size, changes, unit)]
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(key, windows)
    }
    return windows
  }
}

/** How many holes the cache holds. */
const REMEMBERED = 64
