import type { Transaction } from 'kysely'
import type { AbandonedOutcome } from '../db/tables/codes.ts'
import type { Rows, RowValues } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Reply } from '../service/request.ts'
import { SchemaError, type SyncError } from '../util/errors.ts'
import { compressBody, type StoredBody } from '../util/storedBody.ts'
import { toInstant } from '../util/time/instant.ts'
import { type Interval, NO_TIME } from '../util/time/interval.ts'
import { applyRows, replyOutcome } from './apply.ts'
import { addToRun, type Counts, NO_COUNTS } from './counts.ts'
import { recordCoverage, toSeriesReply } from './coverage/recordCoverage.ts'
import { withoutDismissed } from './quarantine/dismissed.ts'
import { quarantine } from './quarantine/quarantine.ts'
import { type EndedRequest, type FetchRecord, failureOutcome, recordFetch } from './recordFetch.ts'
import { recordChanges } from './recordResolutionChanges.ts'
import { dropEarlier, keepReply } from './replies/keep.ts'
import type { Run } from './run.ts'
import { recordSpans } from './spans/recordSpans.ts'
import { findOrInsertSeries, readStoredSeries } from './storedSeries.ts'

/** Whether a column has the plain text of an HTML column. */
const isDerived = (column: string): boolean => column.endsWith('_text')

/**
 * Removes the key from derived plain text: in the body, markup may split the key, so that redaction misses it. `hasKey`: it was there, so
 * the body must not be stored.
 */
function removeKey({ redactor }: Run, rows: Rows): { readonly rows: Rows; readonly hasKey: boolean } {
  let hasKey = false
  const clean = (row: RowValues): RowValues => {
    const changed: Record<string, string> = {}
    for (const [column, value] of Object.entries(row))
      if (typeof value === 'string' && isDerived(column) && redactor.isIn(value)) changed[column] = redactor.text(value)
    if (Object.keys(changed).length === 0) return row
    hasKey = true
    return { ...row, ...changed }
  }
  const cleanAll = <T extends { readonly rows: readonly RowValues[] }>(tables: readonly T[]): T[] =>
    tables.map((table) => ({ ...table, rows: table.rows.map(clean) }))
  const { tables, owned } = rows
  const cleaned = { tables: cleanAll(tables), owned: cleanAll(owned) }
  return { rows: hasKey ? { ...rows, ...cleaned } : rows, hasKey }
}

/** A reply with its rows, and its compressed body if the reply store needs it. */
export interface ParsedReply extends Reply {
  readonly rows: Rows
  readonly storedBody?: StoredBody | undefined
}

/** The compressed body of a reply; null if it is not stored, because of the job's `keep` or because it contains the key. */
async function prepareStoredBody(
  { keep }: Run,
  hasKey: boolean,
  isParsed: boolean,
  { body, storedBody }: ParsedReply,
): Promise<StoredBody | null> {
  return hasKey || (keep === 'none' && isParsed) ? null : (storedBody ?? (await compressBody(body)))
}

/** What a request changed: its counters, and the interval in which missing periods may have changed. */
interface Written {
  readonly counts: Partial<Counts>
  readonly reach: Interval
}

/**
 * Records a request in one transaction: its record in `_fetch`, its body, the rows that `write` writes, and the counters of the run.
 * `write` returns the counters that differ from those of a request without rows. Then the series is judged again.
 */
function recordRequest(
  { store, id: runId, nowMs, onRecord }: Run,
  planned: PlannedRequest,
  { storedBody = null, ...ended }: EndedRequest & { readonly storedBody?: StoredBody | null },
  write: (tx: Transaction<Database>, record: FetchRecord, fetchId: number) => Promise<Written> = async () => ({
    counts: {},
    reach: NO_TIME,
  }),
): Promise<Counts> {
  const { reply, outcome } = ended
  return store.write(async (tx) => {
    const recordedMs = nowMs()
    const seriesId = await findOrInsertSeries(tx, planned, recordedMs)
    if (storedBody) await keepReply(tx, store.engine, storedBody, reply.bytes, recordedMs)
    const hash = storedBody?.hash ?? null
    const record: FetchRecord = { runId, planned, seriesId, hash, recordedMs, ...ended }
    const written = await write(tx, record, await recordFetch(tx, record))
    if (seriesId !== null) await recordSpans(tx, seriesId, toInstant(recordedMs), written.reach)
    const counts: Counts = { ...NO_COUNTS, requests: 1, bytes: reply.bytes, ...written.counts }
    await addToRun.run(tx, { runId, ...counts })
    onRecord?.(planned, outcome)
    return counts
  })
}

/** Writes a reply in one transaction: its record, its rows, the versions they supersede, and coverage. */
export async function load(run: Run, planned: PlannedRequest, reply: ParsedReply): Promise<Counts> {
  const { store, id: runId, keep } = run
  const { rows, hasKey } = removeKey(run, reply.rows)
  const storedBody = await prepareStoredBody(run, hasKey, rows.rejects.length === 0, reply)
  const outcome = replyOutcome(rows)
  return recordRequest(run, planned, { outcome, reply, storedBody }, async (tx, record, fetchId) => {
    const { seriesId, recordedMs, hash } = record
    if (keep === 'latest' && hash !== null) await dropEarlier(tx, store.engine, planned.http.target, fetchId, hash)
    const { counts, rejects, reach } = await applyRows(tx, store.engine, { ...record, fetchId, rows })
    await quarantine(tx, { fetchId, runId, recordedMs }, rejects)
    await recordChanges(tx, planned, rows, seriesId)
    return { counts, reach }
  })
}

/** Marks the window of a reply as unverified, so that a later run requests it again. */
export async function leaveUnverified(
  tx: Transaction<Database>,
  seriesId: number,
  planned: PlannedRequest,
  recordedMs: number,
): Promise<void> {
  const series = await readStoredSeries(tx, seriesId)
  const nothing = { geoIds: [], at: [], values: [], steps: 0 }
  const state = { hasUnreadValues: true, dismissed: [], newGeos: [], unverifiedDays: new Map() }
  await recordCoverage(tx, series, planned, toSeriesReply(planned, nothing, toInstant(recordedMs), state))
}

/**
 * Records a reply whose values may be sums over several resolutions, without its rows. Smaller windows are requested instead; those
 * of a repeat only by a later run, so the window becomes unverified.
 */
export async function recordCoarse(run: Run, planned: PlannedRequest, reply: ParsedReply): Promise<Counts> {
  const { hasKey } = removeKey(run, reply.rows)
  const storedBody = await prepareStoredBody(run, hasKey, true, reply)
  const ended = { outcome: 'coarse', reply, storedBody } as const
  return recordRequest(run, planned, ended, async (tx, { seriesId, recordedMs }) => {
    if (planned.reason === 'absent' && seriesId !== null) await leaveUnverified(tx, seriesId, planned, recordedMs)
    return { counts: {}, reach: planned.window ?? NO_TIME }
  })
}

/** Records a request whose reply is not used and that did not fail: its window was `too-large`, or the run was `stopped`. */
export const recordAbandoned = (
  run: Run,
  planned: PlannedRequest,
  outcome: AbandonedOutcome,
  error: SyncError,
  reply: Reply,
): Promise<Counts> => recordRequest(run, planned, { outcome, reply, error })

/** Records a request that failed for good, with its last response. A body that cannot be parsed is quarantined. */
export async function recordFailure(
  run: Run,
  planned: PlannedRequest,
  error: SyncError,
  reply: Reply,
  { rejects, rejected }: Pick<Rows, 'rejects' | 'rejected'> = { rejects: [], rejected: 0 },
): Promise<Counts> {
  const { id: runId } = run
  const isUnparsable = error instanceof SchemaError
  const storedBody = isUnparsable ? await compressBody(reply.body) : null
  const evidence = reply.body.subarray(0, 2_048).toString('utf8')
  const ended = { outcome: failureOutcome(error), reply, storedBody, error, evidence }
  return recordRequest(run, planned, ended, async (tx, { seriesId, recordedMs }, fetchId) => {
    const whole = isUnparsable ? [{ path: error.path, reason: error.message, fragment: evidence }] : []
    const rejectedRows = rejects.length > 0 ? { rejects, rejected } : { rejects: whole, rejected: whole.length }
    const open = await withoutDismissed(tx, { seriesId, target: planned.http.target, fetchId }, rejectedRows)
    await quarantine(tx, { fetchId, runId, recordedMs }, open.rejects)
    const rows_rejected = open.rejected
    await tx.updateTable('_fetch').set({ rows_rejected }).where('id', '=', fetchId).execute()
    return { counts: { failed: 1, rows_rejected }, reach: NO_TIME }
  })
}
