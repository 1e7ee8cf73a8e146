import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Period } from '../base/periods.ts'
import type { RouteName } from '../services/routes.ts'
import type { SeriesIdentity } from './plannedRequest.ts'

/** One row of coverage. */
export interface CoveredInterval extends Interval {
  readonly geoId: number
  /** What the answer was; in doubt, it is not believed as a whole. */
  readonly state: 'values' | 'empty' | 'doubt'
  readonly fetchedAt: Instant
  /** The longest lookback, in seconds, for which every part of it was past revision when it was fetched. */
  readonly settledS: number
  /** Since when it is in doubt; null when it is not. */
  readonly sinceAt: Instant | null
}

/** What the database knows of a series before anything is requested. */
export interface SeriesState {
  readonly coverage: readonly CoveredInterval[]
  /** The geos it is known to have values for; 0 when unknown. */
  readonly geoCount: number
  /** Instants at which its resolution changed. */
  readonly changes: readonly Instant[]
  /** The window size learned, in seconds. */
  readonly windowS: number | null
  /** The longest lookback that it was ever requested with, in seconds. */
  readonly lookbackS: number | null
  /** A period of it that is held, where that is longer than an hour: it tells when what is requested is over. */
  readonly period?: Period | undefined
}

/** A stretch of a series in which its step promises values and none came. */
export interface Absence extends Interval {
  readonly geoId: number
  /** Seconds of a period; null where no value tells it. */
  readonly step: number | null
  /** When it was first past revision and absent, and when it was last found so. */
  readonly sinceAt: Instant
  readonly checkedAt: Instant
}

/** An indicator or widget that the service said it does not know: first and last of an unbroken row of such answers. */
export interface UnknownItem {
  readonly sinceAt: Instant
  readonly lastAt: Instant
}

/** Something that the service does not know, and when it is requested again at the earliest. */
export interface PassedOver {
  readonly where: string
  readonly route: RouteName
  readonly id: string | number
  readonly since: Instant
  readonly nextAt: Instant
}

/** What is held already: the planner's only look at the past. */
export interface PlannerState {
  series(identity: SeriesIdentity): SeriesState
  /** When a listing was last answered well (epoch seconds), by its path and query. */
  lastAnswer(target: string): Instant | undefined
  /** What was absent at the source, as far as it is to be requested again. */
  absences(identity: SeriesIdentity): readonly Absence[]
  /** When a job last requested something absent. */
  absentAskedAt(job: string): Instant | undefined
  /** What is known of an indicator or widget that the service does not know; undefined where it does, or nobody requested. */
  unknown(route: RouteName, id: string | number): UnknownItem | undefined
}

/** What is known of the resolution around a window before its answer is loaded. */
export interface Neighbours {
  /** Steps in seconds of values held just before, inside and just after the window. */
  readonly steps: readonly number[]
  /** Whether the step was found before to change exactly at one of the window's ends. */
  readonly bordered: boolean
}

/** What is known of a series that was never requested. */
export const UNKNOWN_SERIES: SeriesState = { coverage: [], geoCount: 0, changes: [], windowS: null, lookbackS: null }

/** What a planner knows of a database that does not exist yet. */
export const EMPTY_STATE: PlannerState = {
  series: () => UNKNOWN_SERIES,
  lastAnswer: () => undefined,
  absences: () => [],
  absentAskedAt: () => undefined,
  unknown: () => undefined,
}
