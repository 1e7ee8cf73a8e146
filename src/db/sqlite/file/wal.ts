import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../../util/errors.ts'
import type { Connection } from '../connection.ts'

/** Returns the bytes of the write-ahead log of a database. */
export const measureLog = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** Bytes to which the log may grow by default. */
export const LOG_LIMIT_BYTES = 64 * 1024 * 1024
/** Transactions between two checks of the log. */
const CHECK_EVERY = 16

/** Milliseconds to wait for readers of the log before it may grow further. */
const READERS_MS = 5_000
const WAL_STEP_MS = 10

/**
 * Keeps the write-ahead log short. SQLite merges it automatically, but restarts it only without readers, which may never happen.
 * So above the limit this waits for readers. With a long-running reader the log grows, and is checked again at twice its size.
 */
export function createLogBound(
  { raw }: Connection,
  file: string,
  limit: number,
  onShort: () => void,
): () => Promise<void> {
  let commits = 0
  let next = limit
  return async () => {
    if (++commits % CHECK_EVERY !== 0 || measureLog(file) < next) return
    const deadline = performance.now() + READERS_MS
    // A transaction that began meanwhile checks again at its end.
    while (raw.open && !raw.inTransaction && raw.pragma('wal_checkpoint(truncate)', { simple: true }) === 1) {
      if (performance.now() > deadline) break
      await sleep(WAL_STEP_MS)
    }
    onShort()
    next = Math.max(limit, 2 * measureLog(file))
  }
}

/**
 * Watches that only SQLite shortens the log, which increments the data version. Otherwise its data is lost, and later writes
 * would be merged with the gap. Call it inside transactions.
 */
export function watchLength(
  { raw }: Connection,
  file: string,
): { readonly check: () => void; readonly forget: () => void } {
  let last = { bytes: 0, version: -1 }
  const dataVersion = raw.prepare('pragma data_version').pluck()
  return {
    check() {
      const bytes = measureLog(file)
      const version = dataVersion.get() as number
      if (bytes < last.bytes && version === last.version)
        throw new StoreError(
          `The write-ahead log of the database ${file} was truncated by another program while this command was writing to it.`,
          {
            hint: 'Data that was only in the log is lost; nothing has been written since. Find the program that truncates it (logrotate?), run `indicator-sync doctor`, then run the command again: it fetches missing data.',
            code: 'log-shortened',
          },
        )
      if (raw.inTransaction) last = { bytes, version }
    },
    /** Call it after this connection shortened the log. */
    forget() {
      last = { bytes: 0, version: -1 }
    },
  }
}
