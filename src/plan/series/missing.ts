import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { Coverage, SeriesState } from '../../job/plannerState.ts'
import { type Interval, intersect, merge, subtract } from '../../util/time/interval.ts'
import { type Freshness, freshPart } from '../freshness.ts'
import type { Planning } from '../planning.ts'
import type { EntrySeries } from './entrySeries.ts'
import { type GeoGroup, groupHoles } from './groups.ts'

/** The intervals that need not be requested for a geo. Coverage of the geo alone goes before coverage of all geos. */
function findFresh(geoId: number, { coverage }: SeriesState, freshness: Freshness): Interval[] {
  const own: Coverage[] = []
  const all: Coverage[] = []
  const others: Coverage[] = []
  for (const row of coverage) (row.geo === ALL_GEOS ? all : row.geo === geoId ? own : others).push(row)
  const good = (rows: readonly Coverage[]): Interval[] => rows.map((row) => freshPart(row, freshness))
  if (geoId !== ALL_GEOS) return merge([...good(own), ...subtract(good(all), own)])
  // Where one geo is unverified, all geos are requested again.
  const unverified = others.filter(({ state }) => state === 'unverified')
  return subtract(good(all), subtract(unverified, good(unverified)))
}

/** The intervals that an entry has to request of one of its series for a geo. */
export function findMissing(
  { options }: Planning,
  { state, wanted, freshness }: EntrySeries,
  geoId: number,
): Interval[] {
  if (options.restate || state.coverage.length === 0) return subtract([wanted], [])
  return subtract([wanted], findFresh(geoId, state, freshness))
}

/** The intervals of a series that later jobs of the same call need for all geos. */
export type MissingLater = (series: string) => readonly Interval[]

/** What an entry has to request of a series, each interval once: for all geos where a later job needs all, else for the geos that miss it. */
export function missingGroups(planning: Planning, one: EntrySeries, missingLater: MissingLater): GeoGroup[] {
  const { key, geoIds } = one
  const missing = geoIds.map((geoId) => ({
    geoId,
    holes: planning.requested.left(key, geoId, findMissing(planning, one, geoId)),
  }))
  const ofAll = geoIds.includes(ALL_GEOS) ? [] : missingLater(key)
  if (ofAll.length === 0) return groupHoles(missing)
  const common = intersect(
    missing.flatMap(({ holes }) => holes),
    ofAll,
  )
  const own = missing.map(({ geoId, holes }) => ({ geoId, holes: subtract(holes, common) }))
  return [...groupHoles([{ geoId: ALL_GEOS, holes: common }]), ...groupHoles(own)]
}
