import { ALL_GEOS } from '../db/tables/codes.ts'
import { seriesParams } from '../job/entryRoutes.ts'
import type { Job, SeriesEntry } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import { type SelectedRange, type SeriesIdentity, seriesKey } from '../job/plannedRequest.ts'
import type { SeriesState } from '../job/plannerState.ts'
import { borderUnit } from '../judge/finality.ts'
import type { AnyParams } from '../service/routes.ts'
import type { Interval } from '../util/time/interval.ts'
import { findPeriods } from '../util/time/periods.ts'
import { type Freshness, toFreshness } from './freshness.ts'
import { findSelectedRange, type PlanContext } from './planning.ts'

/** The series of an entry for one of its indicators. */
export const toIdentity = (entry: SeriesEntry, indicatorId: number): SeriesIdentity => ({
  kind: entry.route,
  indicatorId,
  timeTrunc: entry.timeTrunc,
  timeAgg: entry.timeAgg,
  geoAgg: entry.geoAgg,
  geoTrunc: entry.geoTrunc,
  geoIds: entry.geoAgg === null || entry.geoIds.length === 0 ? null : [...entry.geoIds].sort((a, b) => a - b),
})

/** The geos under which coverage of an entry is recorded. With geo_agg they belong to the series; otherwise each has its own rows. */
const coveredGeos = ({ geoIds, geoAgg }: SeriesEntry): readonly number[] =>
  geoIds.length === 0 || geoAgg !== null ? [ALL_GEOS] : geoIds

/** Whether the requests of an entry cover all geos of its series, or an aggregate of some. */
export const coversAllGeos = (entry: SeriesEntry): boolean => coveredGeos(entry)[0] === ALL_GEOS

/** The keys of the series of an entry. */
export const seriesKeys = (entry: SeriesEntry): string[] =>
  entry.indicators.map((id) => seriesKey(toIdentity(entry, id)))

/** The geos that a request of an entry has as parameter; empty for all. */
export const sentGeos = ({ geoIds, geoAgg }: SeriesEntry, requested: readonly number[]): readonly number[] =>
  geoAgg === null ? requested.filter((geoId) => geoId !== ALL_GEOS) : geoIds

/** The parameters that all requests of an entry share. */
export const toParams = (entry: SeriesEntry, id: number, geoIds: readonly number[]): AnyParams => ({
  id,
  locale: entry.locale,
  ...seriesParams(entry, geoIds),
})

/** The longest lookback with which a job requests each of its series, in seconds. */
function findLongestLookbacks(job: Job): ReadonlyMap<string, number> {
  const cached = lookbacks.get(job)
  if (cached) return cached
  const longest = new Map<string, number>()
  for (const entry of job.series)
    for (const id of entry.window ? entry.indicators : []) {
      const key = seriesKey(toIdentity(entry, id))
      longest.set(key, Math.max(longest.get(key) ?? 0, spanSeconds(entry.lookback)))
    }
  lookbacks.set(job, longest)
  return longest
}
const lookbacks = new WeakMap<Job, ReadonlyMap<string, number>>()

/** Lists the ranges that the entries of a job select, without the options of the user. */
export function listSelectedRanges(planning: PlanContext): SelectedRange[] {
  return planning.job.series.flatMap((entry) => {
    if (!entry.window) return []
    const range = findSelectedRange({ ...planning, options: {} }, entry.window, borderUnit(entry.timeTrunc))
    const geoIds = coversAllGeos(entry) ? null : coveredGeos(entry)
    const refreshS = spanSeconds(entry.refresh)
    return entry.indicators.map((id) => ({
      entryPath: entry.path,
      series: toIdentity(entry, id),
      geoIds,
      refreshS,
      ...range,
    }))
  })
}

/** A series of an entry, with its selected range and its stored state. */
export interface SelectedSeries {
  readonly entry: SeriesEntry
  readonly series: SeriesIdentity
  readonly key: string
  readonly state: SeriesState
  /** The geos under which its coverage is recorded. */
  readonly geoIds: readonly number[]
  readonly selectedRange: Interval
  readonly freshness: Freshness
  /** The longest lookback of its requests so far and of the job, in seconds. */
  readonly lookbackS: number
}

/** Lists the series of an entry with a window. */
export function* listSelectedSeries(planning: PlanContext, entry: SeriesEntry): Generator<SelectedSeries> {
  const { job, service, plannerState } = planning
  if (!entry.window) return
  const geoIds = coveredGeos(entry)
  const unit = borderUnit(entry.timeTrunc)
  const selectedRange = findSelectedRange(planning, entry.window, unit)
  const freshness = toFreshness(planning, entry, unit)
  for (const id of entry.indicators) {
    const identity = toIdentity(entry, id)
    const key = seriesKey(identity)
    const state = plannerState.series(key)
    const periods = state.period && findPeriods(service.timeZone, state.period)
    yield {
      entry,
      series: identity,
      key,
      geoIds,
      state,
      selectedRange,
      freshness: periods?.isCalendar ? { ...freshness, periods } : freshness,
      lookbackS: Math.max(state.lookbackS ?? 0, findLongestLookbacks(job).get(key)!),
    }
  }
}
