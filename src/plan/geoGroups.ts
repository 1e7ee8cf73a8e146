import { type Interval, intersect, subtract } from '../util/time/interval.ts'

/** The holes of one geo. */
export interface GeoHoles {
  readonly geoId: number
  readonly holes: readonly Interval[]
}

/** Intervals that are requested for some geos together. */
export interface GeoGroup {
  readonly geoIds: readonly number[]
  readonly holes: readonly Interval[]
}

/** Groups the holes of several geos. Each part of a hole is in one group, with all geos that lack it; geos keep their order. */
export function groupHoles(missing: readonly GeoHoles[]): GeoGroup[] {
  const equal = Map.groupBy(
    missing.filter(({ holes }) => holes.length > 0),
    ({ holes }) => holes.map(({ from, to }) => `${from}-${to}`).join(),
  )
  const classes = [...equal.values()].map((geos) => ({
    geoIds: geos.map(({ geoId }) => geoId),
    holes: geos[0]!.holes,
  }))
  if (classes.length < 2) return classes
  let groups: readonly GeoGroup[] = []
  for (const { geoIds, holes } of classes) {
    let rest: readonly Interval[] = holes
    const next: GeoGroup[] = []
    for (const group of groups) {
      next.push({ ...group, holes: subtract(group.holes, rest) })
      next.push({ geoIds: [...group.geoIds, ...geoIds], holes: intersect(group.holes, rest) })
      rest = subtract(rest, group.holes)
    }
    next.push({ geoIds, holes: rest })
    groups = next.filter((group) => group.holes.length > 0)
  }
  const order = new Map(missing.map(({ geoId }, i) => [geoId, i]))
  return groups.map(({ geoIds, holes }) => ({
    geoIds: [...geoIds].sort((a, b) => order.get(a)! - order.get(b)!),
    holes,
  }))
}
