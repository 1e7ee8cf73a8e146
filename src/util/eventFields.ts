/* The fields of events. */
import type { SyncError } from './errors.ts'

/** The outcome of a finished run. */
export type RunOutcome = 'done' | 'partial' | 'stopped' | 'failed'

/** The recorded outcome of a run. */
export type RecordedOutcome = RunOutcome | 'running'

/** Rows by result. */
export interface EventRows {
  /** Not stored before. */
  readonly new: number
  /** Stored already with the same values. */
  readonly unchanged: number
  /** Stored with other values. */
  readonly revised: number
  /** No longer served. */
  readonly withdrawn: number
  /** Not parsed. */
  readonly rejected: number
}

/** The fields of events. */
export interface EventFields {
  readonly run?: number
  readonly job?: string
  readonly command?: string
  readonly entry?: string
  readonly route?: string
  readonly indicator?: number | null
  readonly window?: { readonly from: string; readonly to: string } | null
  readonly target?: string
  readonly attempt?: number
  readonly status?: number | null
  readonly ms?: number | null
  readonly bytes?: number
  readonly rows?: EventRows
  readonly loaded?: boolean
  readonly outcome?: RunOutcome
  readonly code?: string | null
  readonly reason?: string | null
  readonly hint?: string | null
  readonly wait_ms?: number
  readonly pieces?: number
  readonly requests?: number
  readonly failed?: number
  readonly at?: string
  readonly done?: number
  readonly total?: number | null
  readonly values_per_second?: number
  readonly left_seconds?: number | null
  readonly calls_left?: number | null
  readonly url?: string
  readonly signal?: string
}

/** The fields of an event that describe an error; null without one. */
export const errorFields = (error: SyncError | null): Required<Pick<EventFields, 'code' | 'reason' | 'hint'>> => ({
  code: error?.code ?? null,
  reason: error?.message ?? null,
  hint: error?.hint ?? null,
})

/** The description of each field, for `docs/logging.md`. */
export const FIELD_MEANINGS: Readonly<Record<keyof EventFields, string>> = {
  run: 'Run (`_run.id`)',
  job: 'Job name',
  command: 'Command',
  entry: 'Entry of the job file',
  route: 'Route, or `download`',
  indicator: 'Indicator id, or null',
  window: 'Requested `from` and `to` (exclusive), ISO 8601 in UTC; null for listings',
  target: 'Path and query',
  attempt: 'Number of attempts so far',
  status: 'HTTP status; null without a response',
  ms: 'Duration in milliseconds; of a request, from the first call to the last byte, with retries and waits; null without a response',
  bytes: 'Decoded bytes of the body',
  rows: 'Rows: `new`, `unchanged`, `revised`, `withdrawn`, `rejected`',
  loaded: 'false if the response mixes resolutions and its window is split',
  outcome: '`done`, `partial`, `stopped` or `failed`',
  code: 'Error code; null without an error',
  reason: 'Message: the error, or why something was done',
  hint: 'Suggested fix',
  wait_ms: 'Milliseconds to wait',
  pieces: 'Number of smaller windows',
  requests: 'Number of requests of the run',
  failed: 'Number of requests that failed after all retries',
  at: 'Instant, ISO 8601 in UTC',
  done: 'Number of finished requests',
  total: 'Number of planned requests; null if not counted',
  values_per_second: 'Rows per second since the start',
  left_seconds: 'Estimated remaining seconds; null if unknown',
  calls_left: 'Calls left in the budget; null without one',
  url: 'URL of the file',
  signal: 'SIGINT, SIGTERM or SIGHUP',
}
