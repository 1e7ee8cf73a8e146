import { readTape, type Taped } from './audit/tape.ts'
import type { Reader, Store } from './db/open.ts'
import { applyRows } from './load/apply.ts'
import { requarantine } from './load/quarantine.ts'
import { createMidwife, takeRecords, takeResolutions } from './load/rebuild.ts'
import { rereadAside } from './reread.ts'
import type { Rows } from './tables/rows.ts'

/** Bytes of answers a transaction: many answers, for a rebuilt database is used only when it is whole. */
const REPLAYED_AT_ONCE = 4 * 1024 * 1024

/** A reply of the tape that is being read. */
interface Opened {
  readonly taped: Taped
  readonly rows: Promise<Rows | null>
}

/** The replies of a tape, so many at once as go into a transaction. */
function* batches(tape: Iterable<Taped>): Generator<readonly Opened[], void> {
  let batch: Opened[] = []
  let bytes = 0
  for (const taped of tape) {
    const rows = rereadAside(taped)
    // A body that cannot be unpacked is told when its turn comes.
    rows.catch(() => undefined)
    batch.push({ taped, rows })
    bytes += taped.size
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
}

/**
 * The same sentence with the stored replies in place of the network: replies are transformed into rows, rows are loaded
 * into an empty database, in the order and with the records of the first time. With the same program it ends row for row
 * in the same database; with a newer one, in what that one understands.
 */
export async function replay(
  source: Reader,
  store: Store,
  { now, onProgress }: { now: () => number; onProgress?: (replies: number) => void },
): Promise<Replayed> {
  // A batch is read in another thread while the one before is written here.
  const tape = batches(readTape(source))
  let batch = tape.next()
  await takeRecords(store, source.file)
  const midwife = createMidwife(source, store)
  let done: Replayed = { replies: 0, rows: 0, unread: 0 }
  const one = (taped: Taped, rows: Rows | null): void => {
    midwife.upTo(taped.fetchId)
    const { fetchId, runId, seriesId, ask } = taped
    const ms = Date.parse(taped.recordedAt)
    if (rows) {
      const { fresh, revised } = applyRows(store, { fetchId, seriesId, ask, rows, ms })
      done = { ...done, rows: done.rows + fresh + revised }
      requarantine(store, { fetchId, runId, ms }, rows.rejects, now())
    }
    done = { ...done, replies: done.replies + 1, unread: done.unread + (rows ? 0 : 1) }
  }
  const write = async (batch: readonly Opened[]): Promise<void> => {
    const rows = await Promise.all(batch.map((opened) => opened.rows))
    await store.write(async () => {
      for (const [i, { taped }] of batch.entries()) one(taped, rows[i] ?? null)
    })
    onProgress?.(done.replies)
  }
  while (!batch.done) {
    const next = tape.next()
    await write(batch.value)
    batch = next
  }
  await store.write(async () => {
    midwife.upTo(Number.POSITIVE_INFINITY)
    takeResolutions(source, store)
  })
  return done
}
