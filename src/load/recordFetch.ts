import type { Insertable, Selectable, Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { FailureOutcome, FetchOutcome } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import { filteredGeos, type PlannedRequest } from '../job/plannedRequest.ts'
import { type Reply, sentParams } from '../service/request.ts'
import { KeyError, PermanentError, SchemaError, SyncError, TransientError } from '../util/errors.ts'
import { canonical } from '../util/json.ts'
import { formatMillis } from '../util/time/instant.ts'

const OUTCOME_OF_ERROR = [
  [KeyError, 'key'],
  [PermanentError, 'refused'],
  [SchemaError, 'shape'],
  [TransientError, 'transient'],
] as const

/** The recorded columns of a failure. */
type RecordedFailure = Pick<Selectable<Database['_fetch']>, 'message' | 'hint' | 'code'> & {
  readonly outcome: FailureOutcome
}

/** The recorded outcome of a failure. */
export const failureOutcome = (error: SyncError): FailureOutcome =>
  OUTCOME_OF_ERROR.find(([errorClass]) => error instanceof errorClass)?.[1] ?? 'failed'

/** Turns a recorded failure into an error of its class. Subclasses matter only during a run and are not restored. */
export function recordedError({ outcome, message, hint, code }: RecordedFailure): SyncError {
  const errorClass = OUTCOME_OF_ERROR.find(([, recorded]) => recorded === outcome)?.[0] ?? SyncError
  const details = { path: '$', ...(hint !== null && { hint }), ...(code !== null && { code }) }
  return new errorClass(message ?? 'it failed', details)
}

/** How a request ended. */
export interface EndedRequest {
  readonly outcome: FetchOutcome
  readonly reply: Reply
  readonly error?: SyncError
  /** The beginning of the body of a failed request. */
  readonly evidence?: string
}

/** The record of a request in `_fetch`. */
export interface FetchRecord extends EndedRequest {
  readonly runId: number
  readonly planned: PlannedRequest
  readonly seriesId: number | null
  /** The hash of the stored body. */
  readonly hash: string | null
  /** Epoch milliseconds. */
  readonly recordedMs: number
}

const insertFetch = prepareQuery((db, row: Insertable<Database['_fetch']>) =>
  db.insertInto('_fetch').values(row).returning('id'),
)

/** Inserts the record of a request inside the transaction of its reply and returns its id; `applyRows` sets the counters. */
export async function recordFetch(tx: Transaction<Database>, record: FetchRecord): Promise<number> {
  const { planned, reply, error, recordedMs } = record
  const made = await insertFetch.first(tx, {
    run_id: record.runId,
    entry: planned.entryPath,
    route: planned.route,
    target: planned.http.target,
    params: canonical(sentParams(planned)),
    series_id: record.seriesId,
    geo_ids: filteredGeos(planned)?.join(',') ?? null,
    from_at: planned.window?.from ?? null,
    to_at: planned.window?.to ?? null,
    settled_before: planned.settledBefore,
    lookback_s: planned.lookbackS,
    time_zone: planned.timeZone,
    complete: planned.isUnfiltered ? 1 : 0,
    started_at: formatMillis(reply.sentAt),
    finished_at: formatMillis(recordedMs),
    outcome: record.outcome,
    // A missing response has no status.
    status: reply.status || null,
    attempts: reply.attempts,
    ms: Math.round(reply.ms),
    bytes: reply.bytes,
    reply_hash: record.hash,
    message: error?.message ?? null,
    hint: error?.hint ?? null,
    evidence: record.evidence ?? null,
    reason: planned.reason,
    code: error?.code ?? null,
    rows_new: 0,
    rows_unchanged: 0,
    rows_revised: 0,
    rows_withdrawn: 0,
    rows_rejected: 0,
    rows_outside: 0,
  })
  return made!.id
}
