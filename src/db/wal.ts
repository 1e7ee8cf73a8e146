import { statSync } from 'node:fs'
import type { Connection } from './sqlite.ts'

/** Bytes of the write-ahead log of a database. */
export const logBytes = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** Bytes to which the log may grow where nothing else is said. */
export const LOG_LIMIT = 64 * 1024 * 1024
/** The log is looked at once in so many transactions. */
const LOOK_EVERY = 16

/**
 * Keeps the write-ahead log short. SQLite folds it back by itself, but begins it anew only when no reader is left in it,
 * which may never be when readers come one after the other; beyond the limit we wait for them, for as long as a busy
 * database is waited for. Under a reader that stays, the log grows, and is looked at again when it has doubled.
 */
export function createLogBound({ raw }: Connection, file: string, limit: number): () => void {
  let commits = 0
  let next = limit
  return () => {
    if (++commits % LOOK_EVERY !== 0) return
    const size = logBytes(file)
    if (size < next) return
    raw.pragma('wal_checkpoint(truncate)')
    next = Math.max(limit, 2 * logBytes(file))
  }
}
