import { ALL_GEOS } from '../db/tables/codes.ts'
import { subtract } from '../util/time/interval.ts'
import type { Coverage } from './stored.ts'

/** The coverage that is valid for a geo, in order: its own rows take precedence over those of all geos. */
export function findValidRows(coverage: readonly Coverage[], geoId: number): readonly Coverage[] {
  const ofAll = coverage.filter(({ geo }) => geo === ALL_GEOS)
  const ofGeo = geoId === ALL_GEOS ? [] : coverage.filter(({ geo }) => geo === geoId)
  if (ofGeo.length === 0) return ofAll
  const rest = ofAll.flatMap((row) => subtract([row], ofGeo).map((part) => ({ ...row, ...part })))
  return [...ofGeo, ...rest].sort((a, b) => a.from - b.from)
}
