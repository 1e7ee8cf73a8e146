import type { Transaction } from 'kysely'
import { useStoredZones } from '../db/queries/referenceTables.ts'
import type { Reader, Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { applyRows, type UnchangedTables } from '../load/apply.ts'
import { leaveUnverified } from '../load/load.ts'
import { requarantine } from '../load/quarantine/quarantine.ts'
import { copyFirstSeen, copyLearned, copyRecords, copySeries } from '../load/replies/rebuild.ts'
import { judgeAll } from '../load/spans/recordSpans.ts'
import type { Service } from '../service/service.ts'
import { SERVICES } from '../service/services.ts'
import { readReplies, type StoredReply } from '../state/replies.ts'
import { readStored, type StoredRows } from './readReply.ts'

/** Bytes of replies in one transaction. Transactions are large, because a rebuilt database is used only when it is complete. */
const BATCH_BYTES = 4 * 1024 * 1024

/** A stored reply, and its rows as soon as it is parsed. */
interface ReplyToApply {
  readonly stored: StoredReply
  readonly rows: Promise<StoredRows>
}

/** Reads the stored replies in batches, one for each transaction. */
async function* readBatches(replies: AsyncIterable<StoredReply>): AsyncGenerator<readonly ReplyToApply[], void> {
  let batch: ReplyToApply[] = []
  let bytes = 0
  for await (const stored of replies) {
    const rows = readStored(stored)
    // The error is handled when the reply is written; until then it must not count as unhandled.
    rows.catch(() => undefined)
    batch.push({ stored, rows })
    bytes += stored.size
    if (bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

/** The result of a replay. */
export interface ReplayResult {
  readonly replies: number
  readonly rows: number
  /** Replies that could not be parsed. */
  readonly unread: number
  /** Fetches whose bodies are damaged, and were skipped. */
  readonly damaged: readonly number[]
}

/**
 * Transforms the stored replies into rows and loads them into an empty database, in the original order and with the original records.
 * The same version of the program makes the same database, row for row.
 */
export async function replay(
  source: Reader,
  store: Store,
  {
    service = SERVICES.generic,
    nowMs,
    onProgress,
  }: { service?: Service; nowMs: () => number; onProgress?: (replies: number) => void },
): Promise<ReplayResult> {
  // The bodies of the next batch are decompressed on other threads while this one is written.
  const replies = readBatches(readReplies(source, service))
  let batch = await replies.next()
  await copyRecords(store, source)
  await useStoredZones(store)
  await store.write((tx) => copySeries(source, tx))
  let done: ReplayResult = { replies: 0, rows: 0, unread: 0, damaged: [] }
  const applyReply = async (
    tx: Transaction<Database>,
    stored: StoredReply,
    rows: StoredRows,
    unchanged: UnchangedTables,
  ): Promise<void> => {
    const { fetchId, runId, seriesId, planned, outcome } = stored
    if (rows === 'damaged') {
      done = { ...done, replies: done.replies + 1, damaged: [...done.damaged, fetchId] }
      return
    }
    const recordedMs = Date.parse(stored.recordedAt)
    if (outcome === 'coarse') await leaveUnverified(tx, seriesId!, planned, recordedMs)
    else if (rows) {
      const reply = { fetchId, seriesId, planned, rows, recordedMs, outcome, unchanged }
      const { counts, rejects } = await applyRows(tx, store.engine, reply)
      done = { ...done, rows: done.rows + counts.rows_new + counts.rows_revised }
      await requarantine(tx, { fetchId, runId, recordedMs }, rejects, nowMs())
    }
    done = { ...done, replies: done.replies + 1, unread: done.unread + (rows || outcome === 'coarse' ? 0 : 1) }
  }
  const write = async (batch: readonly ReplyToApply[]): Promise<void> => {
    const parsed = await Promise.all(batch.map(async ({ stored, rows }) => [stored, await rows] as const))
    await store.write(async (tx) => {
      const unchanged: UnchangedTables = new Map()
      for (const [stored, rows] of parsed) await applyReply(tx, stored, rows, unchanged)
    })
    onProgress?.(done.replies)
  }
  while (!batch.done) {
    const next = replies.next()
    await write(batch.value)
    batch = await next
  }
  await store.write((tx) => copyLearned(source, tx))
  await copyFirstSeen(store, source)
  await judgeAll(store, nowMs())
  return done
}
