/* The fields of events. */
import type { SyncError } from './errors.ts'

/** How a run may end. */
export type RunOutcome = 'done' | 'partial' | 'stopped' | 'failed'

/** What the record of a run says: how it ended, or that it has not ended. */
export type RecordedOutcome = RunOutcome | 'running'

/** Rows by what became of them. */
export interface EventRows {
  readonly new: number
  readonly unchanged: number
  readonly revised: number
  readonly withdrawn: number
  readonly rejected: number
}

/** The fields that an event may have; `FIELD_MEANINGS` describes them. */
export interface EventFields {
  readonly run?: number
  readonly job?: string
  readonly command?: string
  readonly where?: string
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

/** The fields of an event that describe an error, or that there was none. */
export const errorFields = (error: SyncError | null): Required<Pick<EventFields, 'code' | 'reason' | 'hint'>> => ({
  code: error?.code ?? null,
  reason: error?.message ?? null,
  hint: error?.hint ?? null,
})

/** The meaning of each field, for `docs/logging.md`. */
export const FIELD_MEANINGS: Readonly<Record<keyof EventFields, string>> = {
  run: 'Run (`_run.id`)',
  job: 'Job name',
  command: 'Command',
  where: 'Entry of the job file',
  route: 'Route, or `download`',
  indicator: 'Indicator id, or null',
  window: 'Requested `from` and `to` (exclusive), ISO 8601 in UTC; null for listings',
  target: 'Path and query',
  attempt: 'Attempts so far',
  status: 'HTTP status; null without an answer',
  ms: 'Milliseconds from the first call to the last byte, with retries and waits; null without an answer',
  bytes: 'Decoded bytes of the body',
  rows: 'Rows: `new`, `unchanged`, `revised`, `withdrawn`, `rejected`',
  loaded: 'false if the answer mixes resolutions and is split',
  outcome: '`done`, `partial`, `stopped` or `failed`',
  code: 'Error code; null without an error',
  reason: 'Error message',
  hint: 'Suggested fix',
  wait_ms: 'Milliseconds to wait',
  pieces: 'Number of smaller windows',
  requests: 'Requests recorded by the run',
  failed: 'Requests that failed after all retries',
  at: 'Instant, ISO 8601 in UTC',
  done: 'Requests done',
  total: 'Planned requests; null if not counted',
  values_per_second: 'Rows a second since the start',
  left_seconds: 'Estimated seconds left; null if unknown',
  calls_left: 'Calls left in the budget; null without one',
  url: 'Address of the file',
  signal: 'SIGINT, SIGTERM or SIGHUP',
}
