import type { Transaction } from 'kysely'
import type { Store } from '../db/store.ts'
import type { AbandonedOutcome, FetchOutcome } from '../db/tables/codes.ts'
import type { Rows, RowValues } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { LastResponse, Reply } from '../service/request.ts'
import { SchemaError, type SyncError } from '../util/errors.ts'
import type { Redactor } from '../util/redact.ts'
import { compressBody, type StoredBody } from '../util/storedBody.ts'
import { applyRows, replyOutcome } from './apply.ts'
import { type Counts, countRun, NO_COUNTS } from './counts.ts'
import { recordCoverage, toSeriesReply } from './coverage/recordCoverage.ts'
import { undismissed } from './quarantine/dismissed.ts'
import { quarantine } from './quarantine/quarantine.ts'
import { failureOutcome, recordFetch } from './recordFetch.ts'
import { recordChanges } from './recordResolutionChanges.ts'
import { dropEarlier, keepReply } from './replies/keep.ts'
import { findOrInsertSeries, readStoredSeries } from './storedSeries.ts'

/** Whether a column has the plain text of an HTML column. */
const isDerived = (column: string): boolean => column.endsWith('_text')

/**
 * Removes the key from derived plain text: markup may split it in the body, where nothing finds it. `hasKey`: it was there, so
 * the body must not be stored.
 */
function withoutKey({ redactor }: Loading, rows: Rows): { readonly rows: Rows; readonly hasKey: boolean } {
  if (!redactor) return { rows, hasKey: false }
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

/** What loading needs: the database, the run, the clock. */
export interface Loading {
  readonly store: Store
  readonly runId: number
  /** Which bodies of replies stay in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Removes the key from derived texts; bodies are redacted as they arrive. */
  readonly redactor?: Redactor
  /** Called at the end of every transaction that records a request, as a part of it. */
  readonly guard?: ((tx: Transaction<Database>, recorded: Recorded) => Promise<void>) | undefined
}

/** A request that is being recorded. Others replace a `split` request; a `stopped` one got no response. */
interface Recorded {
  readonly request: PlannedRequest
  readonly as: 'loaded' | 'failed' | 'split' | 'stopped'
  readonly error: SyncError | null
}

/** The rows of a reply, and its compressed body if the reply store needs it. */
export interface ParsedReply {
  readonly rows: Rows
  readonly stored?: StoredBody | undefined
}

/** The compressed body of a reply; null if it is not stored, because of the job's `keep` or because it contains the key. */
async function bodyToStore(
  { keep }: Loading,
  hasKey: boolean,
  isParsed: boolean,
  { body }: Reply,
  stored: StoredBody | undefined,
): Promise<StoredBody | null> {
  return hasKey || (keep === 'none' && isParsed) ? null : (stored ?? (await compressBody(body)))
}

/** The record of a request, before it is written. */
interface Recording extends Pick<Recorded, 'as'> {
  readonly outcome: FetchOutcome
  readonly last: LastResponse
  /** The body to store. */
  readonly stored?: StoredBody | null
  readonly error?: SyncError
  readonly evidence?: string
}

/** The written record of a request. */
interface FetchEntry {
  readonly fetchId: number
  readonly seriesId: number | null
  /** Epoch milliseconds. */
  readonly ms: number
  /** The hash of the stored body. */
  readonly hash: string | null
}

/**
 * Records a request in one transaction: its record in `_fetch`, its body, the rows that `write` writes, and the counters of the run.
 * `write` returns the counters that differ from those of a request without rows.
 */
function recordRequest(
  { store, runId, now, guard }: Loading,
  planned: PlannedRequest,
  { outcome, last, stored = null, as, error, evidence }: Recording,
  write: (tx: Transaction<Database>, entry: FetchEntry) => Promise<Partial<Counts>> = async () => ({}),
): Promise<Counts> {
  return store.write(async (tx) => {
    const ms = now()
    const seriesId = await findOrInsertSeries(tx, planned, ms)
    if (stored) await keepReply(tx, store.engine, stored, last.bytes, ms)
    const hash = stored?.hash ?? null
    const record = { runId, planned, seriesId, outcome, last, hash, recordedMs: ms }
    const fetchId = await recordFetch(tx, { ...record, ...(error && { error }), evidence: evidence ?? null })
    const written = await write(tx, { fetchId, seriesId, ms, hash })
    const counts: Counts = { ...NO_COUNTS, requests: 1, bytes: last.bytes, ...written }
    await countRun(tx, runId, counts)
    await guard?.(tx, { request: planned, as, error: error ?? null })
    return counts
  })
}

/** Writes a reply in one transaction: its record, its rows, the versions they supersede, and coverage. */
export async function load(
  loading: Loading,
  planned: PlannedRequest,
  reply: Reply,
  { rows: parsedRows, stored: compressed }: ParsedReply,
): Promise<Counts> {
  const { store, runId, keep } = loading
  const { rows, hasKey } = withoutKey(loading, parsedRows)
  const stored = await bodyToStore(loading, hasKey, rows.rejects.length === 0, reply, compressed)
  const outcome = replyOutcome(rows)
  return recordRequest(loading, planned, { outcome, last: reply, stored, as: 'loaded' }, async (tx, entry) => {
    const { fetchId, seriesId, ms, hash } = entry
    if (keep === 'latest' && hash !== null) await dropEarlier(tx, store.engine, planned.http.target, fetchId, hash)
    const applied = await applyRows(tx, store.engine, { fetchId, seriesId, planned, rows, ms, outcome })
    await quarantine(tx, { fetchId, runId, ms }, applied.rejects)
    await recordChanges(tx, planned, rows, seriesId)
    return {
      rows_new: applied.fresh,
      rows_unchanged: applied.unchanged,
      rows_revised: applied.revised,
      rows_withdrawn: applied.withdrawn,
      rows_rejected: applied.rejected,
    }
  })
}

/** Marks the window of a reply as unverified, so that a later run requests it again. */
export async function leaveUnverified(
  tx: Transaction<Database>,
  seriesId: number,
  planned: PlannedRequest,
  ms: number,
): Promise<void> {
  const series = await readStoredSeries(tx, seriesId)
  const nothing = { geoIds: [], at: [], values: [], steps: 0 }
  const state = { isIncomplete: true, dismissed: [], newGeos: [] }
  await recordCoverage(tx, series, planned, toSeriesReply(planned, nothing, Math.floor(ms / 1000), state))
}

/**
 * Records a reply whose values may be sums over several resolutions, without loading its rows: smaller windows replace it. For
 * absences they do so in a later run only, so the window becomes unverified.
 */
export async function recordCoarse(
  loading: Loading,
  planned: PlannedRequest,
  reply: Reply,
  { rows, stored: compressed }: ParsedReply,
): Promise<Counts> {
  const { hasKey } = withoutKey(loading, rows)
  const stored = await bodyToStore(loading, hasKey, true, reply, compressed)
  const recording = { outcome: 'coarse', last: reply, stored, as: 'split' } as const
  return recordRequest(loading, planned, recording, async (tx, { seriesId, ms }) => {
    if (planned.reason === 'absent' && seriesId !== null) await leaveUnverified(tx, seriesId, planned, ms)
    return {}
  })
}

/** Records a request that got no reply and did not fail: its window was `too-large`, or the run was `stopped` before the reply. */
export const recordAbandoned = (
  loading: Loading,
  planned: PlannedRequest,
  outcome: AbandonedOutcome,
  error: SyncError,
  last: LastResponse,
): Promise<Counts> =>
  recordRequest(loading, planned, { outcome, last, error, as: outcome === 'too-large' ? 'split' : 'stopped' })

/** Records a request that failed for good, with its last response. A body that cannot be parsed is quarantined. */
export async function recordFailure(
  loading: Loading,
  planned: PlannedRequest,
  error: SyncError,
  last: LastResponse,
  { rejects, rejected }: Pick<Rows, 'rejects' | 'rejected'> = { rejects: [], rejected: 0 },
): Promise<Counts> {
  const unparsable = error instanceof SchemaError
  const stored = unparsable ? await compressBody(last.body) : null
  const evidence = last.body.subarray(0, 2_048).toString('utf8')
  const recording = { outcome: failureOutcome(error), last, stored, error, evidence, as: 'failed' } as const
  return recordRequest(loading, planned, recording, async (tx, { fetchId, seriesId, ms }) => {
    const whole = unparsable ? [{ path: error.path, reason: error.message, fragment: evidence }] : []
    const rejectedRows = rejects.length > 0 ? { rejects, rejected } : { rejects: whole, rejected: whole.length }
    const open = await undismissed(tx, { seriesId, target: planned.http.target, fetchId }, rejectedRows)
    await quarantine(tx, { fetchId, runId: loading.runId, ms }, open.rejects)
    const rows_rejected = open.rejected
    await tx.updateTable('_fetch').set({ rows_rejected }).where('id', '=', fetchId).execute()
    return { failed: 1, rows_rejected }
  })
}
