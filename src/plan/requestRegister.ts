import { ALL_GEOS } from '../db/tables/codes.ts'
import { type Interval, merge, subtract } from '../util/time/interval.ts'

/** The requests that a run has planned, so that no entry or job requests an interval twice. */
export interface RequestRegister {
  /** The parts of intervals that are not requested yet for a geo. A request for all geos covers each geo. */
  findRemaining(series: string, geoId: number, intervals: readonly Interval[]): Interval[]
  /** Does the same as `findRemaining`, but for all geos leaves out the parts that are requested for any geo. */
  findUnrequested(series: string, geoId: number, intervals: readonly Interval[]): Interval[]
  add(series: string, geoIds: readonly number[], intervals: readonly Interval[]): void
  /** Adds a path and query; false if it was added before. */
  addTarget(target: string): boolean
  /** An independent copy. */
  copy(): RequestRegister
}

/** The requested intervals of a series by geo. */
type Intervals = ReadonlyMap<number, readonly Interval[]>

/** Creates an empty register, or a copy. */
export function createRegister(
  before: ReadonlyMap<string, Intervals> = new Map(),
  targetsBefore: ReadonlySet<string> = new Set(),
): RequestRegister {
  const bySeries = new Map(before)
  const targets = new Set(targetsBefore)
  const findRemaining: RequestRegister['findRemaining'] = (series, geoId, intervals) => {
    const requested = bySeries.get(series)
    if (!requested) return [...intervals]
    return subtract(intervals, [...(requested.get(ALL_GEOS) ?? []), ...(requested.get(geoId) ?? [])])
  }
  return {
    findRemaining,
    findUnrequested: (series, geoId, intervals) =>
      geoId === ALL_GEOS
        ? subtract(intervals, [...(bySeries.get(series)?.values() ?? [])].flat())
        : findRemaining(series, geoId, intervals),
    add(series, geoIds, intervals) {
      const requested = bySeries.get(series)
      const added = geoIds.map(
        (geoId) => [geoId, requested ? merge([...(requested.get(geoId) ?? []), ...intervals]) : intervals] as const,
      )
      bySeries.set(series, new Map([...(requested ?? []), ...added]))
    },
    addTarget(target) {
      if (targets.has(target)) return false
      targets.add(target)
      return true
    },
    copy: () => createRegister(bySeries, targets),
  }
}
