import type { CoveredState } from '../db/tables/series.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Period } from '../util/time/periods.ts'

/** A row of `_coverage`: what was answered in an interval, for one geo or for all (`ALL_GEOS`). */
export interface Coverage extends Interval {
  readonly geo: number
  /** `unverified`: the answer is not trusted. */
  readonly state: CoveredState
  readonly fetchedAt: Instant
  /** The longest lookback, in seconds, for which all of it was past revision when it was fetched. */
  readonly settledFor: number
  /** Since when it has been unverified; null when it is not. */
  readonly since: Instant | null
}

/** What is stored of a series before anything is requested. */
export interface SeriesState {
  readonly coverage: readonly Coverage[]
  /** The number of geos with values; 0 when unknown. */
  readonly geoCount: number
  /** Instants at which its resolution changed. */
  readonly changes: readonly Instant[]
  /** The window size learned, in seconds. */
  readonly windowS: number | null
  /** The longest lookback that it was ever requested with, in seconds. */
  readonly lookbackS: number | null
  /** One stored period, where it is longer than an hour; the others follow from it. */
  readonly period?: Period | undefined
  /** Absences that are to be requested again. */
  readonly absences: readonly Absence[]
}

/** A row of `_absent`: an interval of a series in which its step promises values and none came. */
export interface Absence extends Interval {
  readonly geo: number
  /** Seconds of a period; null when no value shows it. */
  readonly step: number | null
  /** When it was first past revision and absent, and when it was last found so. */
  readonly since: Instant
  readonly checked: Instant
}

/** An indicator or widget that the service does not know: when it first and last said so, without a good answer in between. */
export interface UnknownItem {
  readonly sinceAt: Instant
  readonly lastAt: Instant
}

/** An indicator or widget that is not requested now because the service does not know it, and when it will be again. */
export interface SkippedItem {
  readonly entry: string
  readonly route: string
  readonly id: string | number
  readonly since: Instant
  readonly nextAt: Instant
}

/** What the planner knows of the database. */
export interface PlannerState {
  /** What is stored of a series, by its key (`seriesKey`). */
  series(key: string): SeriesState
  /** When a listing was last answered without error (epoch seconds), by its path and query. */
  lastAnswer(target: string): Instant | undefined
  /** When a job last requested an absence. */
  absentRequestedAt(job: string): Instant | undefined
  /** The state of an indicator or widget that the service does not know; undefined for any other. */
  unknown(route: string, id: string | number): UnknownItem | undefined
}

/** What is stored of the resolution around a window before its answer is loaded. */
export interface Neighbours {
  /** Steps in seconds of values held just before, inside and just after the window. */
  readonly steps: readonly number[]
  /** Whether a change of resolution is stored exactly at one of the window's ends. */
  readonly bordered: boolean
}

/** The state of a series that was never requested. */
export const UNKNOWN_SERIES: SeriesState = {
  coverage: [],
  geoCount: 0,
  changes: [],
  windowS: null,
  lookbackS: null,
  absences: [],
}

/** The state of a database that does not exist yet. */
export const EMPTY_STATE: PlannerState = {
  series: () => UNKNOWN_SERIES,
  lastAnswer: () => undefined,
  absentRequestedAt: () => undefined,
  unknown: () => undefined,
}
