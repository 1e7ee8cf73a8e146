import { setTimeout as sleep } from 'node:timers/promises'
import { SignalError } from '../../util/errors.ts'
import type { LockTimeout } from '../store.ts'
import { isBusy } from './storeErrors.ts'

/**
 * Milliseconds. How long we wait, in our own loop, for another program that has the file locked: SQLite's own waiting would stop every
 * timer.
 */
const BUSY_TIMEOUT_MS = 60_000
const BUSY_STEP_MS = 25

/**
 * Tries again while another program has locked what is needed, and gives up with SQLite's last error. Timers and signals go on;
 * throws StoppedError where `signal` is aborted and the file is still locked.
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
      // A random factor, so that two that wait do not collide again and again.
      await sleep(BUSY_STEP_MS * (0.5 + Math.random()))
    }
  }
}

/** Pages that a copy takes in one step, between which timers run. */
const PAGES_AT_ONCE = 4_096

/** What SQLite's backup answers when it ends. */
interface Copied {
  readonly totalPages: number
}

/**
 * Copies a database over a file, which others may read and write meanwhile. A backup that finds the file locked ends silently,
 * without having copied a page.
 */
export const backUp = (
  source: { backup(file: string, options: { progress: () => number }): Promise<Copied> },
  file: string,
): Promise<Copied> =>
  retryWhileBusy(async () => {
    const copied = await source.backup(file, { progress: () => PAGES_AT_ONCE })
    if (copied.totalPages === 0) throw lockedMeanwhile()
    return copied
  })

const lockedMeanwhile = (): Error =>
  Object.assign(new Error('the file is locked by another program'), { name: 'SqliteError', code: 'SQLITE_BUSY' })
