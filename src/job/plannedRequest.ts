import type { Reason } from '../db/tables/bookkeeping.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { type ApiRequest, paramsWithoutWindow, type RouteCall } from '../service/request.ts'
import type { AnyParams, Locale, Route } from '../service/routes.ts'
import { canonical, parseNumbers } from '../util/json.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/** The identity of a series: an indicator with its aggregation. Values of two series are never mixed. */
export interface SeriesIdentity {
  readonly kind: string
  readonly indicatorId: number
  readonly timeTrunc: string | null
  readonly timeAgg: string | null
  readonly geoAgg: string | null
  readonly geoTrunc: string | null
  /** With `geoAgg` only: the geos that are combined, in order. Otherwise geos only filter. */
  readonly geoIds: readonly number[] | null
}

/** The parts of an identity by the columns of the table `series`. */
export const toIdentityRow = (series: SeriesIdentity) => ({
  kind: series.kind,
  indicator_id: series.indicatorId,
  time_trunc: series.timeTrunc,
  time_agg: series.timeAgg,
  geo_agg: series.geoAgg,
  geo_trunc: series.geoTrunc,
  geo_ids: series.geoIds?.join(',') ?? null,
})

/** The identity of a stored series, from those columns. */
export const fromIdentityRow = (row: ReturnType<typeof toIdentityRow>): SeriesIdentity => ({
  kind: row.kind,
  indicatorId: row.indicator_id,
  timeTrunc: row.time_trunc,
  timeAgg: row.time_agg,
  geoAgg: row.geo_agg,
  geoTrunc: row.geo_trunc,
  geoIds: parseNumbers(row.geo_ids),
})

/** A key that is equal for equal series. */
export const seriesKey = (series: SeriesIdentity): string => canonical(Object.values(toIdentityRow(series)))

/** A planned request, with the data to parse and load its reply. */
export interface PlannedRequest extends RouteCall {
  /** The path of the entry in the job file. */
  readonly entryPath: string
  /** The HTTP request: method, path and query. */
  readonly http: ApiRequest
  /** The language of the texts in the reply. */
  readonly locale: Locale
  /** Why it is requested. */
  readonly reason: Reason
  /** The series, for routes with values. */
  readonly series: SeriesIdentity | null
  /** The geos under which coverage is recorded: `[ALL_GEOS]` without a filter by geo, empty for one instant (`datetime`). */
  readonly geoIds: readonly number[]
  /** Periods that end before this are settled. */
  readonly settledBefore: Instant
  /** The longest lookback of the series in any known job, in seconds; null if none is known. */
  readonly lookbackS: number | null
  /** The zone of the service, which decides where days, months and years begin. */
  readonly timeZone: string
  /** Whether the listing is unfiltered, so that items that it lacks are withdrawn. */
  readonly isUnfiltered: boolean
  /** The expected number of periods in the reply, which limits the share of repeats. Default: 0, as for lists. */
  readonly periods?: number
}

/** The service's declaration of the requested route. */
export const declaredRoute = ({ service, route }: Pick<PlannedRequest, 'service' | 'route'>): Route =>
  service.routes[route]!

/** The geos that a request is filtered by; null for all. */
export const filteredGeos = ({ geoIds }: Pick<PlannedRequest, 'geoIds'>): readonly number[] | null =>
  geoIds.length === 0 || geoIds.includes(ALL_GEOS) ? null : geoIds

/** The window of a recorded request, from the columns of `_fetch`. */
export const toWindow = (row: { readonly from_at: Instant | null; readonly to_at: Instant | null }): Interval | null =>
  row.from_at === null || row.to_at === null ? null : { from: row.from_at, to: row.to_at }

/** The call of a recorded request, from the columns of `_fetch`. */
export function toRouteCall(
  row: Parameters<typeof toWindow>[0] & { readonly route: string; readonly params: string },
): Omit<RouteCall, 'service'> {
  const window = toWindow(row)
  return { route: row.route, params: paramsWithoutWindow(JSON.parse(row.params) as AnyParams, window), window }
}

/** A failed request or an unverified window, with the data to request it at any later time: its window is absolute. */
export interface RetryRequest extends Omit<RouteCall, 'service'> {
  readonly entryPath: string
  readonly series: SeriesIdentity | null
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
  /** The longest lookback of the requests of the series, in seconds; null for listings. */
  readonly lookbackS: number | null
  /** The same as in a planned request, but false for listings about dates, which may have passed. */
  readonly isUnfiltered: boolean
}
