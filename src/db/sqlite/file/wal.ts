import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../../util/errors.ts'
import type { Connection } from '../connection.ts'

/** Bytes of the write-ahead log of a database. */
export const logBytes = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** Bytes to which the log may grow where nothing else is said. */
export const LOG_LIMIT = 64 * 1024 * 1024
/** Transactions between two checks of the log. */
const LOOK_EVERY = 16

/** Milliseconds that we wait for readers of the log, in our own loop, before it may grow on. */
const READERS_MS = 5_000
const WAL_STEP_MS = 10

/**
 * Keeps the write-ahead log short. SQLite folds it back by itself, but begins it anew only when no reader is left in it,
 * which may never be when readers come one after the other; beyond the limit we wait for them. Under a reader that stays,
 * the log grows, and is looked at again when it has doubled.
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
    if (++commits % LOOK_EVERY !== 0 || logBytes(file) < next) return
    const deadline = performance.now() + READERS_MS
    // The next transaction may have begun while we slept; its end looks again.
    while (raw.open && !raw.inTransaction && raw.pragma('wal_checkpoint(truncate)', { simple: true }) === 1) {
      if (performance.now() > deadline) break
      await sleep(WAL_STEP_MS)
    }
    onShort()
    next = Math.max(limit, 2 * logBytes(file))
  }
}

/**
 * Watches that only SQLite shortens the log, which then counts the file as changed by another connection. Otherwise what stood
 * in it is lost, and what is written after the gap would be folded back with it. Call it inside transactions.
 */
export function watchLength(
  { raw }: Connection,
  file: string,
): { readonly check: () => void; readonly forget: () => void } {
  let known = { bytes: 0, version: -1 }
  // Prepared once: it is requested in every transaction.
  const dataVersion = raw.prepare('pragma data_version').pluck()
  return {
    check() {
      const bytes = logBytes(file)
      const version = dataVersion.get() as number
      if (bytes < known.bytes && version === known.version)
        throw new StoreError(
          `The write-ahead log of the database ${file} was truncated by another program while this command was writing to it.`,
          {
            hint: 'Data that was only in the log is lost; nothing has been written since. Find the program that truncates it (logrotate?), run `indicator-sync doctor`, then run the command again: it fetches missing data.',
            code: 'log-shortened',
          },
        )
      if (raw.inTransaction) known = { bytes, version }
    },
    /** The log was shortened by this connection, through SQLite. */
    forget() {
      known = { bytes: 0, version: -1 }
    },
  }
}
