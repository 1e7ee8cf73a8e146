import type { CadenceKind, CoveredState, MissingReason } from '../db/tables/series.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/* What is stored of a series, as the judgement and the planner see it. */

/** A row of `_coverage`: an interval for which a reply was loaded, of one geo or of all (`ALL_GEOS`). */
export interface Coverage extends Interval {
  readonly geo: number
  /** `unverified`: the reply is not trusted. */
  readonly state: CoveredState
  readonly fetchedAt: Instant
  /** The longest lookback, in seconds, for which all of it was settled when it was fetched. */
  readonly settledFor: number
  /** Since when it has been unverified; null when it is not. */
  readonly sinceAt: Instant | null
}

/** A row of `_absent`: missing periods of a series and geo. */
export interface Absence extends Interval {
  readonly geo: number
  /** Seconds of a period; null when no value shows it. */
  readonly step: number | null
  /** The first and the last time at which it was absent and settled. */
  readonly sinceAt: Instant
  readonly checkedAt: Instant
  readonly reason: MissingReason
  /** The number of missing periods; null when their step is not known. */
  readonly periods: number | null
}

/** The first and the last instant with a value, and the seconds of the last period. */
export interface Extent {
  readonly first: Instant
  readonly last: Instant
  readonly step: number
}

/** A row of `series_geo`: the ends of the stored values of a series and geo. */
export interface Timeline {
  readonly geoId: number
  /** Null if there are only nulls. */
  readonly extent: Extent | null
  /** Null if it is not known: then nothing is said about the start and the end. */
  readonly kind: CadenceKind | null
}

/** An indicator or widget that the service does not know: the times of its first and last refusal since a good reply. */
export interface RefusalTimes {
  readonly sinceAt: Instant
  readonly lastAt: Instant
}
