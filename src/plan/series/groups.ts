import { type Interval, intersect, subtract } from '../../util/time/interval.ts'

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

/** Groups geos with exactly the same holes. */
function alike(missing: readonly GeoHoles[]): GeoGroup[] {
  const groups = new Map<string, { geoIds: number[]; holes: readonly Interval[] }>()
  for (const { geoId, holes } of missing) {
    if (holes.length === 0) continue
    const key = holes.map(({ from, to }) => `${from}-${to}`).join()
    const group = groups.get(key)
    if (group) group.geoIds.push(geoId)
    else groups.set(key, { geoIds: [geoId], holes })
  }
  return [...groups.values()]
}

/** Groups the holes of several geos so that each part of a hole is in exactly one group, with all geos that miss it; geos keep their order. */
export function groupHoles(missing: readonly GeoHoles[]): GeoGroup[] {
  const classes = alike(missing)
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
  const inOrder = (ids: readonly number[]) => [...ids].sort((a, b) => order.get(a)! - order.get(b)!)
  return groups.map((group) => ({ ...group, geoIds: inOrder(group.geoIds) }))
}
