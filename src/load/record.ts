import type { ExpressionBuilder, Insertable, Selectable, Transaction } from 'kysely'
import { KeyError, PermanentError, SchemaError, SyncError, TransientError } from '../base/errors.ts'
import { canonical } from '../base/json.ts'
import { formatMillis } from '../base/time/instant.ts'
import type { Engine } from '../db/engine.ts'
import { prepared } from '../db/prepared.ts'
import { filteredGeos, type PlannedRequest } from '../job/plannedRequest.ts'
import type { LastAnswer } from '../services/reply.ts'
import { sentParams } from '../services/request.ts'
import type { Database } from '../tables/schema.ts'
import type { FailureOutcome, FetchOutcome } from '../tables/sql/fetchOutcome.ts'
import type { PackedReply } from './replies/packer.ts'

const OUTCOME_OF_ERROR = [
  [KeyError, 'key'],
  [PermanentError, 'refused'],
  [SchemaError, 'shape'],
  [TransientError, 'passing'],
] as const

/** What is recorded of a failure. */
type RecordedFailure = Pick<Selectable<Database['_fetch']>, 'message' | 'hint' | 'code'> & {
  readonly outcome: FailureOutcome
}

/** The outcome under which a failure is recorded. */
export const failureOutcome = (error: SyncError): FailureOutcome =>
  OUTCOME_OF_ERROR.find(([errorClass]) => error instanceof errorClass)?.[1] ?? 'failed'

/** A recorded failure as an error of the class that it had; of the kinds of a class, which matter only during a run, the class itself. */
export function recordedError({ outcome, message, hint, code }: RecordedFailure): SyncError {
  const errorClass = OUTCOME_OF_ERROR.find(([, recorded]) => recorded === outcome)?.[0] ?? SyncError
  const details = { path: '$', ...(hint !== null && { hint }), ...(code !== null && { code }) }
  return new errorClass(message ?? 'it failed', details)
}

const insertReply = prepared((db, row: Insertable<Database['_reply']>) =>
  db
    .insertInto('_reply')
    .values({
      hash: row.hash,
      body: row.body,
      bytes: row.bytes,
      first_seen_at: row.first_seen_at,
      form: row.form,
    })
    // Another process may keep the same body at this moment: its row is not written again, but locked, so that it stays.
    .onConflict((conflict) =>
      conflict
        .column('hash')
        .doUpdateSet({ hash: row.hash })
        .where((of) => of.lit(false)),
    ),
)

/** Stores a body in the reply store; equal bodies once. It stays there at least until the transaction ends. */
export async function keepReply(
  tx: Transaction<Database>,
  engine: Engine,
  { hash, form, bytes: body }: PackedReply,
  size: number,
  ms: number,
): Promise<void> {
  const [held] = await engine.lockReplies(tx, [hash], 'keep')
  if (held !== undefined) return
  await insertReply.run(tx, { hash, body, bytes: size, first_seen_at: formatMillis(ms), form })
}

/** Deletes the bodies of earlier answers to the same request, except those that another request or the quarantine refers to. */
export async function dropEarlier(
  tx: Transaction<Database>,
  engine: Engine,
  target: string,
  fetchId: number,
  hash: string,
): Promise<void> {
  const replies = await earlierReplies.all(tx, { target, fetchId, hash })
  if (replies.length === 0) return
  // Whoever refers to a body keeps it locked: asked again once it is ours, everybody who refers to it is seen.
  const locked = await engine.lockReplies(
    tx,
    replies.map((reply) => reply.hash),
    'delete',
  )
  await tx
    .deleteFrom('_reply')
    .where('hash', 'in', locked)
    .where((of) => isOnlyOf(of, target))
    .execute()
}

/** Whether only answers to one request refer to a body, and the quarantine does not. */
const isOnlyOf = (of: ExpressionBuilder<Database, '_reply'>, target: string) => {
  const fetches = of.selectFrom('_fetch as f').select('f.id').whereRef('f.reply_hash', '=', '_reply.hash')
  return of.and([
    of.not(of.exists(fetches.where('f.target', '<>', target))),
    of.not(of.exists(fetches.innerJoin('_quarantine as q', 'q.fetch_id', 'f.id'))),
  ])
}

const earlierReplies = prepared((db, of: { target: string; fetchId: number; hash: string }) =>
  db
    .selectFrom('_reply')
    .select('hash')
    .where('hash', '<>', of.hash)
    .where('hash', 'in', (sub) =>
      sub.selectFrom('_fetch').select('reply_hash').where('target', '=', of.target).where('id', '<', of.fetchId),
    )
    .where((reply) => isOnlyOf(reply, of.target)),
)

/** What is recorded of a request. */
interface FetchRecord {
  readonly runId: number
  readonly planned: PlannedRequest
  readonly seriesId: number | null
  readonly outcome: FetchOutcome
  readonly last: LastAnswer
  readonly hash: string | null
  /** When it is recorded (epoch milliseconds). */
  readonly recordedMs: number
  readonly error?: SyncError
  readonly evidence?: string | null
}

/** The columns that are written when the record of a request is inserted. */
type InsertedColumns = Omit<
  Insertable<Database['_fetch']>,
  'id' | 'step_s' | 'resolution_id' | 'source_updated_at' | 'last_at' | 'doubts' | keyof typeof NONE
>

/** Counters that are set when the rows of the reply are loaded. */
const NONE = {
  rows_new: 0,
  rows_unchanged: 0,
  rows_revised: 0,
  rows_withdrawn: 0,
  rows_rejected: 0,
  rows_outside: 0,
}

const COLUMNS = [
  ...['run_id', 'entry', 'route', 'target', 'params', 'series_id', 'geo_ids', 'from_at', 'to_at', 'settled_before'],
  ...['lookback_s', 'time_zone', 'complete', 'started_at', 'finished_at', 'outcome', 'status', 'attempts', 'ms'],
  ...['bytes', 'reply_hash', 'message', 'hint', 'evidence', 'reason', 'code'],
] as (keyof InsertedColumns)[]

const insertFetch = prepared((db, row: InsertedColumns) =>
  db
    .insertInto('_fetch')
    .values({ ...(Object.fromEntries(COLUMNS.map((column) => [column, row[column]])) as InsertedColumns), ...NONE })
    .returning('id'),
)

/** Inserts the record of a request inside the transaction of its reply and returns its id; `applyRows` sets the counters. */
export async function recordFetch(tx: Transaction<Database>, record: FetchRecord): Promise<number> {
  const { planned, last, error, recordedMs } = record
  const made = await insertFetch.first(tx, {
    run_id: record.runId,
    entry: planned.entry,
    route: planned.route,
    target: planned.request.target,
    params: canonical(sentParams(planned)),
    series_id: record.seriesId,
    geo_ids: filteredGeos(planned)?.join(',') ?? null,
    from_at: planned.window?.from ?? null,
    to_at: planned.window?.to ?? null,
    settled_before: planned.settledBefore,
    lookback_s: planned.lookbackS,
    time_zone: planned.timeZone,
    complete: planned.complete ? 1 : 0,
    started_at: formatMillis(last.sentAt),
    finished_at: formatMillis(recordedMs),
    outcome: record.outcome,
    // Without an answer there is no status.
    status: last.status || null,
    attempts: last.attempts,
    ms: Math.round(last.ms),
    bytes: last.bytes,
    reply_hash: record.hash,
    message: error?.message ?? null,
    hint: error?.hint ?? null,
    evidence: record.evidence ?? null,
    reason: planned.reason,
    code: error?.code ?? null,
  })
  return made!.id
}
