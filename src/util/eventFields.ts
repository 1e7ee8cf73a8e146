/* The fields of events. */
import type { SyncError } from './errors.ts'

/** The outcome of a finished run. */
export type RunOutcome = 'done' | 'partial' | 'stopped' | 'failed'

/** The recorded outcome of a run. */
export type RecordedOutcome = RunOutcome | 'running'

/** Rows by result. */
export interface EventRows {
  /** Rows that were not stored before. */
  readonly new: number
  /** Rows that were stored already with the same values. */
  readonly unchanged: number
  /** Stored with other values. */
  readonly revised: number
  /** Rows that the service no longer has. */
  readonly withdrawn: number
  /** Rows that could not be parsed. */
  readonly rejected: number
}

/** The fields of events. `docs/logging.md` repeats these comments. */
export interface EventFields {
  /** Run (`_run.id`) */
  readonly run?: number
  /** Job name */
  readonly job?: string
  /** Command */
  readonly command?: string
  /** Entry of the job file */
  readonly entry?: string
  /** Route, or `download` */
  readonly route?: string
  /** Indicator id, or null */
  readonly indicator?: number | null
  /** Requested `from` and `to` (exclusive), ISO 8601 in UTC; null for listings */
  readonly window?: { readonly from: string; readonly to: string } | null
  /** Path and query */
  readonly target?: string
  /** Number of attempts so far */
  readonly attempt?: number
  /** HTTP status; null without a response */
  readonly status?: number | null
  /**
   * Duration in milliseconds; of a request, from the first call to the last byte, with retries and waits; null without a
   * response
   */
  readonly ms?: number | null
  /** Decoded bytes of the body */
  readonly bytes?: number
  /** Rows: `new`, `unchanged`, `revised`, `withdrawn`, `rejected` */
  readonly rows?: EventRows
  /** false if the response mixes resolutions and its window is split */
  readonly loaded?: boolean
  /** `done`, `partial`, `stopped` or `failed` */
  readonly outcome?: RunOutcome
  /** Error code; null without an error */
  readonly code?: string | null
  /** Message: the error, or why something was done */
  readonly reason?: string | null
  /** Suggested fix */
  readonly hint?: string | null
  /** Milliseconds to wait */
  readonly wait_ms?: number
  /** Number of smaller windows */
  readonly parts?: number
  /** Number of requests of the run */
  readonly requests?: number
  /** Number of requests that failed after all retries */
  readonly failed?: number
  /** Instant, ISO 8601 in UTC */
  readonly at?: string
  /** Number of finished requests */
  readonly done?: number
  /** Number of planned requests; null if not counted */
  readonly total?: number | null
  /** Rows per second since the start */
  readonly values_per_second?: number
  /** Estimated remaining seconds; null if unknown */
  readonly left_seconds?: number | null
  /** Calls left in the budget; null without one */
  readonly calls_left?: number | null
  /** URL of the file */
  readonly url?: string
  /** SIGINT, SIGTERM or SIGHUP */
  readonly signal?: string
}

/** The fields of an event that describe an error; null without one. */
export const errorFields = (error: SyncError | null): Required<Pick<EventFields, 'code' | 'reason' | 'hint'>> => ({
  code: error?.code ?? null,
  reason: error?.message ?? null,
  hint: error?.hint ?? null,
})
