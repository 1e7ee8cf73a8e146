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
