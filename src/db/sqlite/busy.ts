import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { SignalError } from '../../util/errors.ts'
import type { LockTimeout } from '../store.ts'
import { isBusy } from './storeErrors.ts'

/**
 * Milliseconds to wait for another program that has locked the file. We wait in a loop, because SQLite's own waiting stops all
 * timers.
 */
const BUSY_TIMEOUT_MS = 60_000
const BUSY_STEP_MS = 25

/**
 * Retries while another program has a lock, and finally throws SQLite's last error. Throws SignalError if `signal` is aborted
 * meanwhile.
 */
export async function retryWhileBusy<T>(
  work: () => T | Promise<T>,
  { busyTimeoutMs = BUSY_TIMEOUT_MS, signal }: LockTimeout = {},
): Promise<T> {
  const deadline = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      if (signal?.aborted) throw new SignalError(error)
      // A random factor, so that two processes do not collide again and again.
      await sleep(BUSY_STEP_MS * (0.5 + Math.random()))
    }
  }
}

/** Pages that a backup copies in one step; timers run between steps. */
const PAGES_PER_STEP = 4_096

/**
 * Copies a database over a file, which others may use meanwhile. A backup of a locked file ends silently without copying a page.
 */
export const backUp = (source: SQLite.Database, file: string): Promise<SQLite.BackupMetadata> =>
  retryWhileBusy(async () => {
    const copied = await source.backup(file, { progress: () => PAGES_PER_STEP })
    if (copied.totalPages === 0) throw new SQLite.SqliteError('the file is locked by another program', 'SQLITE_BUSY')
    return copied
  })
