import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './reasons.ts'

/** How long another program that holds the file is waited for, in our own loop: SQLite's own waiting would stop every timer. */
export const PATIENCE_MS = 60_000
const STEP_MS = 25

/** Tries again while another program holds what is needed, and gives up with what SQLite said last. Timers and signals go on. */
export async function patiently<T>(work: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      // By chance a little more or less, so that two that wait do not meet again and again.
      await sleep(STEP_MS * (0.5 + Math.random()))
    }
  }
}

/** Pages that a copy takes in one step, between which timers run. */
const PAGES_AT_ONCE = 4_096

/** What SQLite's backup answers when it ends. */
interface Copied {
  readonly totalPages: number
}

/** Copies a database over a file, which others may read and write meanwhile. A backup that finds the file held ends without a word and without a page. */
export const copyPatiently = (
  source: { backup(file: string, options: { progress: () => number }): Promise<Copied> },
  file: string,
): Promise<Copied> =>
  patiently(async () => {
    const copied = await source.backup(file, { progress: () => PAGES_AT_ONCE })
    if (copied.totalPages === 0) throw heldMeanwhile()
    return copied
  })

const heldMeanwhile = (): Error =>
  Object.assign(new Error('the file is held by another program'), { name: 'SqliteError', code: 'SQLITE_BUSY' })
