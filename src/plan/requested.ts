import { ALL_GEOS } from '../db/tables/codes.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { type Interval, merge, subtract } from '../util/time/interval.ts'

/** What a run has planned to request, so that nothing is requested twice, by whichever entries and jobs. */
export interface Requested {
  /**
   * The parts of some intervals that are not requested yet for a geo of a series. A request for all geos covers each of them;
   * one for a single geo does not cover all.
   */
  left(series: string, geoId: number, wanted: readonly Interval[]): Interval[]
  /** The same, but for all geos only the parts of which no geo is requested. */
  untouched(series: string, geoId: number, wanted: readonly Interval[]): Interval[]
  add(series: string, geoIds: readonly number[], intervals: readonly Interval[], requests?: number): void
  /** Adds a path and query; false where it was added before. */
  addTarget(target: string): boolean
  /** The number of requests so far: windows of series, and targets. */
  requests(): number
  /** An independent copy. */
  copy(): Requested
}

/** What is requested of a series, geo by geo. */
type Intervals = ReadonlyMap<number, readonly Interval[]>

/** Begins empty, or with what was requested before. */
export function createRequested(
  before: ReadonlyMap<string, Intervals> = new Map(),
  targetsBefore: ReadonlySet<string> = new Set(),
): Requested {
  const bySeries = new Map(before)
  const targets = new Set(targetsBefore)
  let requests = 0
  const without = (
    series: string,
    wanted: readonly Interval[],
    covers: (requested: Intervals) => readonly (readonly Interval[] | undefined)[],
  ): Interval[] => {
    const requested = bySeries.get(series)
    if (!requested) return [...wanted]
    return subtract(
      wanted,
      covers(requested).flatMap((intervals) => intervals ?? []),
    )
  }
  const left: Requested['left'] = (series, geoId, wanted) =>
    without(series, wanted, (requested) => [requested.get(ALL_GEOS), requested.get(geoId)])
  return {
    left,
    untouched: (series, geoId, wanted) =>
      geoId === ALL_GEOS
        ? without(series, wanted, (requested) => [...requested.values()])
        : left(series, geoId, wanted),
    add(series, geoIds, more, windows = more.length) {
      requests += windows
      const requested = bySeries.get(series)
      const added = geoIds.map(
        (geoId) => [geoId, requested ? merge([...(requested.get(geoId) ?? []), ...more]) : more] as const,
      )
      bySeries.set(series, new Map([...(requested ?? []), ...added]))
    },
    addTarget(target) {
      if (targets.has(target)) return false
      targets.add(target)
      requests++
      return true
    },
    requests: () => requests,
    copy: () => createRequested(bySeries, targets),
  }
}

/** What tells of a request what it is about. */
type WhatIsRequested = Pick<PlannedRequest, 'series' | 'geoIds' | 'window'> & {
  readonly request: { readonly target: string }
}

/** Notes what is requested elsewhere, so that it is not requested again. */
export function noteAll(requested: Requested, requests: Iterable<WhatIsRequested>): void {
  for (const { series, geoIds, window, request } of requests)
    if (series && window) requested.add(seriesKey(series), geoIds, [window])
    else requested.addTarget(request.target)
}
