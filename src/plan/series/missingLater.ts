import { type Interval, merge } from '../../base/time/interval.ts'
import { ALL_GEOS, seriesKey } from '../../job/plannedRequest.ts'
import { coversAllGeos, identityOf, keysOf } from '../entries.ts'
import { type Planning, wantedRange } from '../planning.ts'
import { borderUnit } from '../windows.ts'
import { entrySeries } from './entrySeries.ts'
import { missingOf } from './missing.ts'

/** The intervals of a series that later jobs of the same call need for all geos. */
export type MissingLater = (series: string) => readonly Interval[]

function find(planning: Planning): ReadonlyMap<string, readonly Interval[]> {
  const own = new Set(planning.job.series.filter((entry) => !coversAllGeos(entry)).flatMap(keysOf))
  const found = new Map<string, readonly Interval[]>()
  for (const later of own.size === 0 ? [] : (planning.later ?? []))
    for (const entry of later.job.series) {
      if (!entry.window || !coversAllGeos(entry)) continue
      const laterPlanning = { ...planning, ...later }
      const wanted = wantedRange(laterPlanning, entry.window, borderUnit(entry.timeTrunc))
      for (const id of entry.indicators) {
        const key = seriesKey(identityOf(entry, id))
        if (!own.has(key)) continue
        const missing = missingOf(laterPlanning, entrySeries(laterPlanning, entry, id), wanted, ALL_GEOS)
        found.set(key, merge([...(found.get(key) ?? []), ...missing]))
      }
    }
  return found
}

/**
 * Finds, on the first call, what later jobs need for all geos of a series. Where this job names only some geos, all are requested
 * at once, so that nothing is requested twice.
 */
export function createMissingLater(planning: Planning): MissingLater {
  let found: ReturnType<typeof find> | undefined
  return (series) => {
    found ??= find(planning)
    return found.get(series) ?? []
  }
}
