import { ALL_GEOS } from '../db/tables/codes.ts'
import { seriesParams } from '../job/entryRoutes.ts'
import type { Job, SeriesEntry } from '../job/job.ts'
import { spanSeconds } from '../job/moment.ts'
import { type SeriesIdentity, seriesKey, type Wanted } from '../job/plannedRequest.ts'
import type { AnyParams } from '../service/routes.ts'
import { type Planning, wantedRange } from './planning.ts'
import { borderUnit } from './windows.ts'

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

/** The geos under which coverage of an entry is recorded. With geo_agg they are part of the series; otherwise each geo has its own. */
export const coveredGeos = ({ geoIds, geoAgg }: SeriesEntry): readonly number[] =>
  geoIds.length === 0 || geoAgg !== null ? [ALL_GEOS] : geoIds

/** Whether the requests of an entry cover all geos of its series, or an aggregate of some. */
export const coversAllGeos = (entry: SeriesEntry): boolean => coveredGeos(entry)[0] === ALL_GEOS

/** The keys of the series of an entry. */
export const seriesKeys = (entry: SeriesEntry): string[] =>
  entry.indicators.map((id) => seriesKey(toIdentity(entry, id)))

/** Whether a job requests some geos of a series where other jobs may request all. */
export const namesGeos = (job: Job): boolean =>
  job.series.some((entry) => entry.window !== null && !coversAllGeos(entry))

/** The geos that a request for some geos of an entry has as parameter; empty for all. */
export const sentGeos = ({ geoIds, geoAgg }: SeriesEntry, requested: readonly number[]): readonly number[] =>
  geoAgg === null ? requested.filter((geoId) => geoId !== ALL_GEOS) : geoIds

/** The parameters that all requests of an entry share. */
export const toParams = (entry: SeriesEntry, id: number, geoIds: readonly number[]): AnyParams => ({
  id,
  locale: entry.locale,
  ...seriesParams(entry, geoIds),
})

/** The longest lookback with which a job requests each of its series, in seconds. */
export function longestLookbacks(job: Job): ReadonlyMap<string, number> {
  const known = lookbacks.get(job)
  if (known) return known
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

/** Everything that a job wants of series with windows, without the options of the user. */
export function wantedSeries(planning: Planning): Wanted[] {
  return planning.job.series.flatMap((entry) => {
    if (!entry.window) return []
    const range = wantedRange({ ...planning, options: {} }, entry.window, borderUnit(entry.timeTrunc))
    const geos = coveredGeos(entry)
    const geoIds = geos.includes(ALL_GEOS) ? null : geos
    const refreshS = spanSeconds(entry.refresh)
    return entry.indicators.map((id) => ({
      entry: entry.path,
      series: toIdentity(entry, id),
      geoIds,
      refreshS,
      ...range,
    }))
  })
}
