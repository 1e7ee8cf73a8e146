import type { Reader, Store } from './db/open.ts'
import { createAcceptor } from './load/accept.ts'
import { applyRows } from './load/apply.ts'
import { leaveInDoubt } from './load/load.ts'
import { requarantine } from './load/quarantine.ts'
import { createSeriesRestorer, takeFirstSeen, takeLearned, takeRecords } from './load/rebuild.ts'
import type { Service } from './services/service.ts'
import { SERVICES } from './services/services.ts'
import { readReplies, type StoredReply } from './state/replies.ts'
import { type Again, rereadInWorker } from './threads/reread.ts'

/** Bytes of answers a transaction: many answers, for a rebuilt database is used only when it is whole. */
const REPLAYED_AT_ONCE = 4 * 1024 * 1024

/** A reply of the reply store that is being read. */
interface Opened {
  readonly stored: StoredReply
  readonly rows: Promise<Again>
}

/** The replies of a reply store, so many at once as go into a transaction. */
function* batches(replies: Iterable<StoredReply>): Generator<readonly Opened[], void> {
  let batch: Opened[] = []
  let bytes = 0
  for (const stored of replies) {
    const rows = rereadInWorker(stored)
    // A body that cannot be unpacked is told when its turn comes.
    rows.catch(() => undefined)
    batch.push({ stored, rows })
    bytes += stored.size
    if (bytes < REPLAYED_AT_ONCE) continue
    yield batch
    batch = []
    bytes = 0
  }
  yield batch
}

/** What a replay did. */
export interface Replayed {
  readonly replies: number
  readonly rows: number
  /** Replies that cannot be read, as before. */
  readonly unread: number
  /** Fetches whose bodies are damaged, and were skipped. */
  readonly damaged: readonly number[]
}

/**
 * The same sentence with the stored replies in place of the network: replies are transformed into rows, rows are loaded
 * into an empty database, in the order and with the records of the first time. With the same program it ends row for row
 * in the same database; with a newer one, in what that one understands.
 */
export async function replay(
  source: Reader,
  store: Store,
  {
    service = SERVICES.generic,
    now,
    onProgress,
  }: { service?: Service; now: () => number; onProgress?: (replies: number) => void },
): Promise<Replayed> {
  // A batch is read in another thread while the one before is written here.
  const replies = batches(readReplies(source, service))
  let batch = replies.next()
  await takeRecords(store, source.file)
  const restorer = createSeriesRestorer(source, store)
  const acceptor = createAcceptor(store)
  let done: Replayed = { replies: 0, rows: 0, unread: 0, damaged: [] }
  const one = (stored: StoredReply, rows: Again): void => {
    restorer.upTo(stored.fetchId)
    acceptor.upTo(stored.fetchId)
    const { fetchId, runId, seriesId, planned } = stored
    if (rows === 'damaged') {
      done = { ...done, replies: done.replies + 1, damaged: [...done.damaged, fetchId] }
      return
    }
    const ms = Date.parse(stored.recordedAt)
    if (stored.outcome === 'coarse') {
      leaveInDoubt(store, seriesId!, planned, stored.doubts, ms)
      done = { ...done, replies: done.replies + 1 }
      return
    }
    if (rows) {
      const { fresh, revised, rejects } = applyRows(store, { fetchId, seriesId, planned, rows, ms })
      done = { ...done, rows: done.rows + fresh + revised }
      requarantine(store, { fetchId, runId, ms }, rejects, now())
    }
    done = { ...done, replies: done.replies + 1, unread: done.unread + (rows ? 0 : 1) }
  }
  const write = async (batch: readonly Opened[]): Promise<void> => {
    const rows = await Promise.all(batch.map((opened) => opened.rows))
    await store.write(async () => {
      for (const [i, { stored }] of batch.entries()) one(stored, rows[i] ?? null)
    })
    onProgress?.(done.replies)
  }
  while (!batch.done) {
    const next = replies.next()
    await write(batch.value)
    batch = next
  }
  await store.write(async () => {
    restorer.upTo(Number.POSITIVE_INFINITY)
    acceptor.upTo(Number.POSITIVE_INFINITY)
    takeLearned(source, store)
  })
  await takeFirstSeen(store, source.file)
  return done
}
