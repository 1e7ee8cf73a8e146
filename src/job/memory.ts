import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { SeriesIdentity } from './ask.ts'

/** One row of coverage. */
export interface Held extends Interval {
  readonly geoId: number
  readonly state: 'final' | 'provisional' | 'empty'
  readonly fetchedAt: Instant
}

/** What the database knows of a series before anything is asked. */
export interface SeriesState {
  readonly coverage: readonly Held[]
  /** The geos it is known to have values for; 0 when unknown. */
  readonly geoCount: number
  /** Instants at which its resolution changed. */
  readonly changes: readonly Instant[]
  /** The window size learned, in seconds. */
  readonly windowS: number | null
}

/** What is held already: the planner's only look at the past. */
export interface Memory {
  series(identity: SeriesIdentity): SeriesState
  /** When a listing was last answered well (epoch seconds), by its path and query. */
  lastAnswer(target: string): Instant | undefined
}

/** What is known of the resolution around a window before its answer is loaded. */
export interface Neighbours {
  /** Steps in seconds of values held just before, inside and just after the window. */
  readonly steps: readonly number[]
  /** Whether the step was found before to change exactly at one of the window's ends. */
  readonly bordered: boolean
  /** The service's numbers for resolutions of single days that were answered. */
  readonly ids: readonly number[]
}
