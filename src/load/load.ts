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
import { readStoredSeries, seriesIdOf } from './storedSeries.ts'

/** Whether a column is derived from another one: the plain text of HTML. */
const isDerived = (column: string): boolean => column.endsWith('_text')

/**
 * Removes a secret that appears only in derived text (split by markup in the body, joined in the plain text). `found`: there
 * was one, and parsing the same body again would produce it again.
 */
function withoutSecret(rows: Rows, redactor: Redactor): { readonly rows: Rows; readonly found: boolean } {
  let found = false
  const clean = (row: RowValues): RowValues => {
    const changed: Record<string, string> = {}
    for (const [column, value] of Object.entries(row))
      if (typeof value === 'string' && isDerived(column) && redactor.isIn(value)) changed[column] = redactor.text(value)
    if (Object.keys(changed).length === 0) return row
    found = true
    return { ...row, ...changed }
  }
  const all = <T extends { readonly rows: readonly RowValues[] }>(tables: readonly T[]): T[] =>
    tables.map((table) => ({ ...table, rows: table.rows.map(clean) }))
  const { tables, owned } = rows
  const cleaned = { tables: all(tables), owned: all(owned) }
  return { rows: found ? { ...rows, ...cleaned } : rows, found }
}

/** Where and when something is loaded. */
export interface Loading {
  readonly store: Store
  readonly runId: number
  /** Whether the body of the reply stays in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Removes the key from texts that are derived from a reply; the reply itself does not contain it any more. */
  readonly redactor?: Redactor
  /** Called at the end of every transaction that records a request. What it writes is there with the record; if it throws, neither is. */
  readonly guard?: ((tx: Transaction<Database>, recorded: Recorded) => Promise<void>) | undefined
}

/** A request that is being recorded, and as what. A `split` request is replaced by others; a `stopped` one was not answered. */
interface Recorded {
  readonly request: PlannedRequest
  readonly as: 'loaded' | 'failed' | 'split' | 'stopped'
  readonly error: SyncError | null
}

/** The rows of a reply, and its body for the reply store if it has been compressed already. */
export interface ParsedReply {
  readonly rows: Rows
  readonly stored?: StoredBody | undefined
}

const withoutKey = ({ redactor }: Loading, rows: Rows): ReturnType<typeof withoutSecret> =>
  redactor ? withoutSecret(rows, redactor) : { rows, found: false }

/** The compressed body of a reply; null if it is not kept: its job keeps none that was understood, or the key could be derived from it. */
async function keptBody(
  { keep }: Loading,
  hasKey: boolean,
  isUnderstood: boolean,
  { body }: Reply,
  stored: StoredBody | undefined,
): Promise<StoredBody | null> {
  return hasKey || (keep === 'none' && isUnderstood) ? null : (stored ?? (await compressBody(body)))
}

/** How a request is recorded. */
interface Recording extends Pick<Recorded, 'as'> {
  readonly outcome: FetchOutcome
  readonly last: LastResponse
  /** The body that is kept. */
  readonly stored?: StoredBody | null
  readonly error?: SyncError
  readonly evidence?: string
}

/** A record of a request: its number, its series, when it was made (epoch milliseconds), and the hash of the stored body. */
interface FetchEntry {
  readonly fetchId: number
  readonly seriesId: number | null
  readonly ms: number
  readonly hash: string | null
}

/**
 * Records a request in one transaction: its record, its body, what `write` writes, and the counters of the run. After a crash all of it
 * is there, or nothing. `write` returns the counters that differ from those of a request without rows.
 */
function recordRequest(
  { store, runId, now, guard }: Loading,
  planned: PlannedRequest,
  { outcome, last, stored = null, as, error, evidence }: Recording,
  write: (tx: Transaction<Database>, entry: FetchEntry) => Promise<Partial<Counts>> = async () => ({}),
): Promise<Counts> {
  return store.write(async (tx) => {
    const ms = now()
    const seriesId = await seriesIdOf(tx, planned, ms)
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

/** Writes a reply in one transaction: its rows, the versions they supersede, coverage, and what is recorded of every request. */
export async function load(
  loading: Loading,
  planned: PlannedRequest,
  reply: Reply,
  { rows: parsedRows, stored: compressed }: ParsedReply,
): Promise<Counts> {
  const { store, runId, keep } = loading
  const { rows, found } = withoutKey(loading, parsedRows)
  const stored = await keptBody(loading, found, rows.rejects.length === 0, reply, compressed)
  const outcome = replyOutcome(rows)
  return recordRequest(loading, planned, { outcome, last: reply, stored, as: 'loaded' }, async (tx, entry) => {
    const { fetchId, seriesId, ms, hash } = entry
    if (keep === 'latest' && hash !== null) await dropEarlier(tx, store.engine, planned.request.target, fetchId, hash)
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

/** Marks the window of an answer as unverified, so that a later run requests it; the same for a new answer and for a replayed one. */
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
 * Records an answer whose values may be sums over several resolutions: none of its rows is loaded, and others replace it. Nothing
 * replaces an answer about absences in the same run, so its window is left unverified.
 */
export async function loadCoarse(
  loading: Loading,
  planned: PlannedRequest,
  reply: Reply,
  { rows, stored: compressed }: ParsedReply,
): Promise<Counts> {
  const { found } = withoutKey(loading, rows)
  const stored = await keptBody(loading, found, true, reply, compressed)
  const recording = { outcome: 'coarse', last: reply, stored, as: 'split' } as const
  return recordRequest(loading, planned, recording, async (tx, { seriesId, ms }) => {
    if (planned.reason === 'absent' && seriesId !== null) await leaveUnverified(tx, seriesId, planned, ms)
    return {}
  })
}

/**
 * Records a request that was sent, was not answered, and did not fail: its window was `too-large` for the service and is
 * requested in parts, each a request of its own, or the run was `stopped` before the answer.
 */
export const loadAbandoned = (
  loading: Loading,
  planned: PlannedRequest,
  outcome: AbandonedOutcome,
  error: SyncError,
  last: LastResponse,
): Promise<Counts> =>
  recordRequest(loading, planned, { outcome, last, error, as: outcome === 'too-large' ? 'split' : 'stopped' })

/** Records a request that failed for good, with its last answer; what could not be parsed is quarantined. */
export async function loadFailure(
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
    const found = rejects.length > 0 ? { rejects, rejected } : { rejects: whole, rejected: whole.length }
    const open = await undismissed(tx, { seriesId, target: planned.request.target, fetchId }, found)
    await quarantine(tx, { fetchId, runId: loading.runId, ms }, open.rejects)
    const rows_rejected = open.rejected
    await tx.updateTable('_fetch').set({ rows_rejected }).where('id', '=', fetchId).execute()
    return { failed: 1, rows_rejected }
  })
}
