import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Coverage, SeriesState } from '../job/plannerState.ts'
import { type Interval, intersect, merge, subtract } from '../util/time/interval.ts'
import type { SelectedSeries } from './entries.ts'
import { type Freshness, findFreshPart } from './freshness.ts'
import type { PlanContext } from './planning.ts'

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

/** The intervals that need not be requested for a geo. Coverage of the geo takes precedence over coverage of all geos. */
function findFresh(geoId: number, { coverage }: SeriesState, freshness: Freshness): Interval[] {
  const ofGeo: Coverage[] = []
  const ofAll: Coverage[] = []
  const unverified: Coverage[] = []
  for (const row of coverage)
    if (row.geo === ALL_GEOS) ofAll.push(row)
    else if (row.geo === geoId) ofGeo.push(row)
    else if (row.state === 'unverified') unverified.push(row)
  const fresh = (rows: readonly Coverage[]): Interval[] => rows.map((row) => findFreshPart(row, freshness))
  if (geoId !== ALL_GEOS) return merge([...fresh(ofGeo), ...subtract(fresh(ofAll), ofGeo)])
  // Rule 24: if one geo is unverified, all geos are requested again.
  return subtract(fresh(ofAll), subtract(unverified, fresh(unverified)))
}

/** The intervals that an entry has to request of one of its series for a geo. */
function findMissing(
  { options }: PlanContext,
  { state, selectedRange, freshness }: SelectedSeries,
  geoId: number,
): Interval[] {
  if (options.restate || state.coverage.length === 0) return merge([selectedRange])
  return subtract([selectedRange], findFresh(geoId, state, freshness))
}

/** The intervals that an entry has to request of a series, each once, for the geos that lack them. */
export function groupMissing(planning: PlanContext, selected: SelectedSeries): GeoGroup[] {
  const { key, geoIds } = selected
  return groupHoles(
    geoIds.map((geoId) => ({
      geoId,
      holes: planning.requested.findRemaining(key, geoId, findMissing(planning, selected, geoId)),
    })),
  )
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
