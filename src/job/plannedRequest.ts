import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { canonical } from '../base/json.ts'
import type { ApiRequest } from '../services/request.ts'
import type { AnyParams, Locale, RouteName } from '../services/routes.ts'
import type { Service } from '../services/service.ts'

/** What makes a dataset of its own: an indicator with its aggregation. Values of two series never mix. */
export interface SeriesIdentity {
  readonly kind: 'indicator' | 'offer_indicator'
  readonly indicatorId: number
  readonly timeTrunc: string | null
  readonly timeAgg: string | null
  readonly geoAgg: string | null
  readonly geoTrunc: string | null
  /** With `geoAgg` only: the geos that go in, in order. Otherwise geos merely filter. */
  readonly geoIds: readonly number[] | null
}

/** The parts of an identity by the columns of the table `series`. */
export const identityRow = (series: SeriesIdentity) => ({
  kind: series.kind,
  indicator_id: series.indicatorId,
  time_trunc: series.timeTrunc,
  time_agg: series.timeAgg,
  geo_agg: series.geoAgg,
  geo_trunc: series.geoTrunc,
  geo_ids: series.geoIds?.join(',') ?? null,
})

/** A text that is equal for equal series. */
export const seriesKey = (series: SeriesIdentity): string => canonical(Object.values(identityRow(series)))

/** Why something is requested: never held, held but still open to revision or in doubt, absent at the source, or because the user wants it again. */
export type Reason = 'missing' | 'refresh' | 'doubt' | 'absent' | 'restate' | 'retry'

/** The geo under which the answer to a request for all geos is recorded. */
export const ALL_GEOS = 0

/** One planned request, with all that is needed to make sense of its answer. */
export interface PlannedRequest {
  /** The place in the job file that wants it. */
  readonly where: string
  readonly route: RouteName
  readonly params: AnyParams
  readonly request: ApiRequest
  readonly locale: Locale
  readonly reason: Reason
  /** The dataset, for series routes. */
  readonly series: SeriesIdentity | null
  /** The geos under which the answer is held; `[ALL_GEOS]` when it was not filtered by geo. */
  readonly geoIds: readonly number[]
  /** What was requested; null for listings without a range. */
  readonly window: Interval | null
  /** What ends before this may no longer be revised. */
  readonly settledBefore: Instant
  /** The longest lookback, in seconds, with which any job is known to want this series; null where nobody says. */
  readonly lookbackS: number | null
  /** The service that is called: its answer is read by its declaration. */
  readonly service: Service
  /** The zone of the service when it was requested: its days, months and years, whatever zone the job speaks. */
  readonly timeZone: string
  /** Whether an item that the answer lacks has gone: the listing was not filtered. */
  readonly complete: boolean
}

/** A request that failed, as it was recorded: with it the same can be requested again, days later too. */
export interface FailedRequest {
  readonly where: string
  readonly route: RouteName
  readonly params: AnyParams
  readonly series: SeriesIdentity | null
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
  /** Absolute, so that it means the same whenever it is requested. */
  readonly window: Interval | null
  /** The longest lookback that the series was ever requested with, in seconds; null for listings. */
  readonly lookbackS: number | null
}
