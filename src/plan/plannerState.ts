import type { Absence, Coverage, RefusalTimes, Timeline } from '../judge/stored.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Period } from '../util/time/periods.ts'

/** What is stored of a series before anything is requested. */
export interface SeriesState {
  readonly coverage: readonly Coverage[]
  /** The ends of its values, by geo; empty when no geo is known. */
  readonly timelines: readonly Timeline[]
  /** Instants at which its resolution changed. */
  readonly changes: readonly Instant[]
  /** The learned window size, in seconds. */
  readonly windowS: number | null
  /** The longest lookback that it was ever requested with, in seconds. */
  readonly lookbackS: number | null
  /** A stored period, if it is longer than an hour; the others follow from it. */
  readonly period?: Period | undefined
  /** Its missing periods that are to be requested again. */
  readonly absences: readonly Absence[]
}

/** An indicator or widget that is not requested now because the service does not know it. */
export interface SkippedItem {
  /** The path of the entry in the job file. */
  readonly entryPath: string
  /** The route of the request. */
  readonly route: string
  /** The id that the service does not know. */
  readonly id: string | number
  /** When the service first refused it. */
  readonly sinceAt: Instant
  /** When it is requested again. */
  readonly nextAt: Instant
}

/** The last attempts to request something: ids of `_fetch`, 0 for none. */
export interface Attempts {
  /** The last attempt of a turn (`plan/turns.ts`), whatever its outcome. */
  turn(turn: string): number
  /** The last attempt at the path and query of a list, whatever its outcome. */
  target(target: string): number
  /** The last failed attempt at any part of a window of a series. */
  window(series: string, window: Interval): number
}

/** The state of the database for the planner. */
export interface PlannerState {
  /** The state of a series, by its key (`seriesKey`). */
  series(key: string): SeriesState
  /** The time of the last good reply of a listing (epoch seconds), by its path and query. */
  lastReplyAt(target: string): Instant | undefined
  /** Since when the replies about one instant of a series, by their path and query, have rejected values; undefined if they have none. */
  rejectedSince(target: string): Instant | undefined
  /** The time of the last repeat of a stored job. */
  repeatRequestedAt(jobId: number): Instant | undefined
  /** The state of an indicator or widget that the service does not know; undefined for any other. */
  unknown(route: string, id: string | number): RefusalTimes | undefined
  /** The last attempts; read only if a budget may end the run. */
  readonly attempts: Attempts
}

/** The state of a series that was never requested. */
export const UNKNOWN_SERIES: SeriesState = {
  coverage: [],
  timelines: [],
  changes: [],
  windowS: null,
  lookbackS: null,
  absences: [],
}

/** The attempts of a database without any. */
export const NO_ATTEMPTS: Attempts = { turn: () => 0, target: () => 0, window: () => 0 }

/** The state of a database that does not exist yet. */
export const EMPTY_STATE: PlannerState = {
  series: () => UNKNOWN_SERIES,
  lastReplyAt: () => undefined,
  rejectedSince: () => undefined,
  repeatRequestedAt: () => undefined,
  unknown: () => undefined,
  attempts: NO_ATTEMPTS,
}
