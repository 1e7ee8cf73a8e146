import type { Instant } from '../../util/time/instant.ts'
import { addUnits, floorTo, type Unit } from '../../util/time/zone.ts'
import type { Point } from '../world/generatedValues.ts'
import { EMULATED_ZONE } from '../world/world.ts'

/** Returns a function that floors an instant to a local unit; it keeps the last unit, because points come in order. */
export function createFloor(unit: Unit): (at: Instant) => Instant {
  let from = 0
  let to = 0
  return (at) => {
    if (at < from || at >= to) {
      from = floorTo(EMULATED_ZONE, at, unit)
      to = addUnits(EMULATED_ZONE, from, unit, 1)
    }
    return from
  }
}

/** Groups points that are in order by a border of time and by a geo, and sums them or takes their average. */
export function aggregate(
  points: readonly Point[],
  border: (at: Instant) => Instant,
  geoFor: (geo: number) => number,
  isAverage: boolean,
): Point[] {
  const grouped: Point[] = []
  let open = new Map<number, { sum: number; count: number }>()
  let current = Number.NaN
  const close = () => {
    for (const [geo, { sum, count }] of [...open].sort(([a], [b]) => a - b))
      grouped.push({ at: current, geo, value: Math.round((isAverage ? sum / count : sum) * 100) / 100 })
    open = new Map()
  }
  for (const { at, geo, value } of points) {
    const start = border(at)
    if (start !== current) {
      close()
      current = start
    }
    const to = geoFor(geo)
    const group = open.get(to)
    if (group) {
      group.sum += value
      group.count++
    } else open.set(to, { sum: value, count: 1 })
  }
  close()
  return grouped
}
