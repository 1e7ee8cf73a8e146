import { type Interval, merge, subtract } from '../base/interval.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'

/** What a run asks already, so that nothing is asked twice in it: neither by two entries nor by two jobs. */
export interface Asked {
  /**
   * What of some intervals is not asked yet for a geo of a series. What is asked for all geos is asked for each, and what is
   * asked for one of them is not asked for all.
   */
  left(series: string, geoId: number, wanted: readonly Interval[]): Interval[]
  add(series: string, geoIds: readonly number[], intervals: readonly Interval[], calls?: number): void
  /** Whether a path and query is asked for the first time; from now on it is not. */
  takes(target: string): boolean
  /** Requests so far: windows of series, and targets. */
  calls(): number
  /** The same, to be filled on its own. */
  copy(): Asked
}

/** What is asked of a series, geo by geo. */
type Intervals = ReadonlyMap<number, readonly Interval[]>

/** Nothing asked yet, or what was asked in a run so far. */
export function createAsked(
  before: ReadonlyMap<string, Intervals> = new Map(),
  targetsBefore: ReadonlySet<string> = new Set(),
): Asked {
  const bySeries = new Map(before)
  const targets = new Set(targetsBefore)
  let calls = 0
  return {
    left(series, geoId, wanted) {
      const asked = bySeries.get(series)
      if (!asked) return [...wanted]
      const some =
        geoId === ALL_GEOS ? [...asked.values()].flat() : [ALL_GEOS, geoId].flatMap((id) => asked.get(id) ?? [])
      return subtract(wanted, some)
    },
    add(series, geoIds, more, windows = more.length) {
      calls += windows
      const asked = bySeries.get(series)
      const added = geoIds.map(
        (geoId) => [geoId, asked ? merge([...(asked.get(geoId) ?? []), ...more]) : more] as const,
      )
      bySeries.set(series, new Map([...(asked ?? []), ...added]))
    },
    takes(target) {
      if (targets.has(target)) return false
      targets.add(target)
      calls++
      return true
    },
    calls: () => calls,
    copy: () => createAsked(bySeries, targets),
  }
}
