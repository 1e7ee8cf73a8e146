import type { GapReason } from '../db/tables/codes.ts'
import type { SpanState } from '../db/tables/judgement.ts'
import type { EarlierLookback } from '../job/duty.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Period } from '../util/time/periods.ts'
import type { Unit } from '../util/time/zone.ts'
import type { Absence, Coverage, RefusalTimes, Timeline } from './stored.ts'

/* Input and output of the judgement (docs/decisions/001-coverage.md). */

/** A requirement of a job's entry for a series. Its end is the current one. */
export interface Requirement extends Interval {
  /** The name and the id of the job. */
  readonly job: string
  /** Its stored id; null before it is stored. */
  readonly jobId: number | null
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
  /** If the end follows the clock: the seconds that it stays behind it at most, negative for the future. Null for a fixed end. */
  readonly lagS: number | null
  /** Seconds. */
  readonly lookbackS: number
  /** Shorter lookbacks that apply to older data. */
  readonly earlierLookbacks?: readonly EarlierLookback[]
  /** Seconds. */
  readonly refreshS: number
  /** When it was first required. */
  readonly sinceAt: Instant
  /** Seconds that new time may stay unrequested, because the job does not run all the time. */
  readonly graceS: number
}

/** A range of a series that a failed request left without a reply. */
interface FailedRange extends Interval {
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
  readonly failedAt: Instant
  /** Whether the user requested the range itself (`backfill`, `restate`): it is missing although no job requires it. */
  readonly isUserRange: boolean
}

/** A part of a series that a user accepted as missing; without an end, all time after its last value. */
interface Accepted {
  readonly geoId: number
  readonly from: Instant
  readonly to: Instant | null
}

/** The stored data of a series, as far as the judgement depends on it. */
export interface JudgeInput {
  /** The zone of its days, and the unit on whose borders it is requested. */
  readonly zone: string
  readonly unit: Unit
  /** One period of the series, if one is stored. */
  readonly period: Period | null
  /** The longest lookback of its requests, in seconds. */
  readonly lookbackS: number
  readonly timelines: readonly Timeline[]
  readonly coverage: readonly Coverage[]
  readonly absences: readonly Absence[]
  readonly failures: readonly FailedRange[]
  readonly accepted: readonly Accepted[]
  /** If the service does not know its id. */
  readonly unknown: RefusalTimes | null
  /** Seconds from the end of the last period until a new value is late, from the last fetches; null if too little is known. */
  readonly allowedLagS: number | null
}

/**
 * A part of a timeline with one state. Spans with a reason take precedence over complete and provisional ones that contain them.
 * A missing span is only expected until its `dueAt`: readers compare it with the clock.
 */
export interface Span extends Interval {
  /** A geo with values or one that a job names; `ALL_GEOS` only while no geo is known, and for other geos that may exist. */
  readonly geoId: number
  /** The first job that requires it; null if none does. */
  readonly job: string | null
  readonly jobId: number | null
  /** If its end follows the clock: the seconds that it stays behind. */
  readonly lagS: number | null
  readonly state: SpanState
  /** Why values are missing or expected; null if none are. In a provisional span, missing values may still be published. */
  readonly reason: GapReason | null
  /** The reply that covers it; null for spans without one, and for missing periods. */
  readonly reply: Pick<Coverage, 'state' | 'fetchedAt' | 'settledFor'> | null
  /** The number and length in seconds of missing periods; null if they are not known. */
  readonly periods: number | null
  readonly stepS: number | null
  /** Since when values are missing; null if none are. */
  readonly sinceAt: Instant | null
  /** The time from which a sync requests it; null if none will, or if it does with the stored range that contains it. */
  readonly nextAt: Instant | null
  /** The time from which values are missing that are expected before; null if that does not depend on time. */
  readonly dueAt: Instant | null
  /** Whether a user accepted that values are missing. */
  readonly isAccepted: boolean
  /** Whether it is one of a few lost values of a day, which are not a finding. */
  readonly isTolerated: boolean
}
