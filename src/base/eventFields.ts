/* The fields of events. */

import type { SyncError } from './errors.ts'
import type { RunOutcome } from './runOutcome.ts'

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
  run: 'Number of the run (`_run.id`)',
  job: 'Name of the job',
  command: 'Command that runs it',
  where: 'Path of the entry in the job file',
  route: 'Route of the service, `download` for files',
  indicator: 'Number of the indicator; null where the route has none',
  window: 'What is requested: `from` and `to` (excluded), ISO 8601 in UTC; null for listings without a range',
  target: 'Path and query that were requested',
  attempt: 'How many times it was sent so far; of a claim, how many times a worker took it',
  status: 'Status of the last answer; null where none came',
  ms: 'Milliseconds from the first sending to the last byte, repetitions and waits included; null where no answer came',
  bytes: 'Bytes of the body, unpacked',
  rows: 'Rows by what became of them: `new`, `unchanged`, `revised`, `withdrawn`, `rejected`',
  loaded: 'Whether the rows were loaded; false where the answer mixes resolutions and smaller windows are requested',
  outcome: '`done`, `partial`, `stopped` or `failed`',
  code: 'Stable word for what went wrong; null where nothing did',
  reason: 'The same as a sentence',
  hint: 'What to do next',
  wait_ms: 'Milliseconds to wait',
  pieces: 'Windows that are requested in its place',
  requests: 'Requests of the run that were recorded',
  failed: 'Requests that failed for good',
  at: 'Instant, ISO 8601 in UTC',
  done: 'Requests that are done',
  total: 'Requests of the plan; null where they were not counted',
  values_per_second: 'Rows a second since the beginning',
  left_seconds: 'Estimate of the time left; null where it is not known',
  calls_left: 'Calls that the budget leaves; null where there is none',
  url: 'Address of the file',
  signal: 'SIGINT, SIGTERM or SIGHUP',
}
