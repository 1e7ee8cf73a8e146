import { type Interval, merge, subtract } from '../base/interval.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'

/** What a run asks already, so that nothing is asked twice in it: neither by two entries nor by two jobs. */
export interface Asked {
  /** What of some intervals is not asked yet for a geo of a series. What is asked for all geos is asked for each. */
  left(series: string, geoId: number, wanted: readonly Interval[]): Interval[]
  add(series: string, geoIds: readonly number[], intervals: readonly Interval[], calls?: number): void
  /** Whether a path and query is asked for the first time; from now on it is not. */
  takes(target: string): boolean
  /** Requests so far: windows of series, and targets. */
  calls(): number
  /** The same, to be filled on its own. */
  copy(): Asked
}

type Intervals = ReadonlyMap<string, readonly Interval[]>

/** Nothing asked yet, or what was asked in a run so far. */
export function createAsked(before: Intervals = new Map(), targetsBefore: ReadonlySet<string> = new Set()): Asked {
  const intervals = new Map(before)
  const targets = new Set(targetsBefore)
  let calls = 0
  const of = (series: string, geoId: number): readonly Interval[] => intervals.get(`${series} ${geoId}`) ?? []
  return {
    left(series, geoId, wanted) {
      const all = of(series, ALL_GEOS)
      const own = geoId === ALL_GEOS ? [] : of(series, geoId)
      return all.length + own.length === 0 ? [...wanted] : subtract(wanted, [...all, ...own])
    },
    add(series, geoIds, more, windows = more.length) {
      calls += windows
      for (const geoId of geoIds) intervals.set(`${series} ${geoId}`, merge([...of(series, geoId), ...more]))
    },
    takes(target) {
      if (targets.has(target)) return false
      targets.add(target)
      calls++
      return true
    },
    calls: () => calls,
    copy: () => createAsked(intervals, targets),
  }
}
