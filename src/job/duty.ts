import { canonical } from '../util/json.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Expectation } from './expectation.ts'
import type { Selector } from './job.ts'
import type { SeriesIdentity } from './plannedRequest.ts'

/** A shorter lookback that still applies to data before an instant, because that data was older than the longer one when it came. */
export interface EarlierLookback {
  readonly before: Instant
  readonly lookbackS: number
}

/** The range of a series that an entry of a job selects now. */
export interface SelectedRange extends Interval {
  /** The path of the entry in the job file. */
  readonly entryPath: string
  readonly series: SeriesIdentity
  /** The required geos in ascending order; empty for all. */
  readonly geoIds: readonly number[]
  /** The text of its window (`windowText`). */
  readonly window: string
  /** The time zone of the job. */
  readonly timeZone: string
  readonly lookbackS: number
  readonly refreshS: number
  /** The cadence that the entry states for the series; null if its values decide. */
  readonly expect: Expectation | null
  /** The selection by the catalogue (`selectorText`) to which the series belongs; null if the entry lists its id. */
  readonly selector: string | null
}

/** What a job requires of a series: a row of `_duty`. Its range starts at the earliest start that the window ever had. */
export interface Duty extends SelectedRange {
  /** When it was first required. */
  readonly sinceAt: Instant
  readonly earlierLookbacks: readonly EarlierLookback[]
}

/** A text that is equal for equal selections by the catalogue, whatever `--only` leaves of them. */
export const selectorText = ({ match, terms, exclude }: Selector): string => canonical({ match, terms, exclude })
