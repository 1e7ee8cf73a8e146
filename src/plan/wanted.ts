import { ALL_GEOS } from '../db/tables/sql/allGeos.ts'
import { spanSeconds } from '../job/moment.ts'
import type { Wanted } from '../job/plannedRequest.ts'
import { coveredGeos, identityOf } from './entries.ts'
import { type Planning, wantedRange } from './planning.ts'
import { borderUnit } from './windows.ts'

/** Everything that a job wants of series with windows, without the options of the user. */
export function wantedOf(planning: Planning): Wanted[] {
  return planning.job.series.flatMap((entry) => {
    if (!entry.window) return []
    const range = wantedRange({ ...planning, options: {} }, entry.window, borderUnit(entry.timeTrunc))
    const geos = coveredGeos(entry)
    const geoIds = geos.includes(ALL_GEOS) ? null : geos
    const refreshS = spanSeconds(entry.refresh)
    return entry.indicators.map((id) => ({
      entry: entry.path,
      series: identityOf(entry, id),
      geoIds,
      refreshS,
      ...range,
    }))
  })
}
