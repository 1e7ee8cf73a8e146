import { type Interval, merge } from '../../base/time/interval.ts'
import { seriesKey } from '../../job/plannedRequest.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import { coversAllGeos, identityOf, keysOf } from '../entries.ts'
import type { Planning } from '../planning.ts'
import { seriesOf } from './entrySeries.ts'
import { type MissingLater, missingOf } from './missing.ts'

function find(planning: Planning): ReadonlyMap<string, readonly Interval[]> {
  const { job, later: others = [] } = planning
  const found = new Map<string, readonly Interval[]>()
  if (others.length === 0) return found
  const own = new Set(job.series.filter((entry) => !coversAllGeos(entry)).flatMap(keysOf))
  for (const later of own.size === 0 ? [] : others)
    for (const entry of later.job.series.filter(coversAllGeos)) {
      const laterPlanning = { ...planning, ...later }
      const shared = entry.indicators.filter((id) => own.has(seriesKey(identityOf(entry, id))))
      for (const one of seriesOf(laterPlanning, entry, shared))
        found.set(one.key, merge([...(found.get(one.key) ?? []), ...missingOf(laterPlanning, one, ALL_GEOS)]))
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
