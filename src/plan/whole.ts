import { type Interval, merge } from '../base/interval.ts'
import { ALL_GEOS, seriesKey } from '../job/plannedRequest.ts'
import { missingOf } from './missing.ts'
import { type Planning, wantedRange } from './planning.ts'
import { asksAll, identityOf, keysOf } from './question.ts'
import { borderUnit } from './windows.ts'

/** What later jobs of the same call miss of all geos of a series. */
export type Whole = (series: string) => readonly Interval[]

function find(planning: Planning): ReadonlyMap<string, readonly Interval[]> {
  const own = new Set(planning.job.series.filter((entry) => !asksAll(entry)).flatMap(keysOf))
  const found = new Map<string, readonly Interval[]>()
  for (const meant of own.size === 0 ? [] : (planning.later ?? []))
    for (const entry of meant.job.series) {
      if (!entry.window || !asksAll(entry)) continue
      const there = { ...planning, ...meant }
      const wanted = wantedRange(there, entry.window, borderUnit(entry.timeTrunc))
      for (const id of entry.indicators) {
        const series = identityOf(entry, id)
        const key = seriesKey(series)
        if (!own.has(key)) continue
        const missing = missingOf(there, entry, planning.plannerState.series(series), wanted, ALL_GEOS)
        found.set(key, merge([...(found.get(key) ?? []), ...missing]))
      }
    }
  return found
}

/**
 * Looks, when it is first asked, at what later jobs ask for all geos. Where a job names some of them there, all are asked at
 * once: nothing is asked twice, and whoever comes first need not wait.
 */
export function createWhole(planning: Planning): Whole {
  let found: ReturnType<typeof find> | undefined
  return (series) => {
    found ??= find(planning)
    return found.get(series) ?? []
  }
}
