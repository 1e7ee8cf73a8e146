import { coordinationOf } from '../db/coordination.ts'
import type { Store } from '../db/store.ts'

/** Milliseconds for which the difference to the clock of the database is trusted before it is measured again. */
const TRUSTED_MS = 60_000

/** A clock that follows the one of the database, however wrong the clock of this machine is set. */
export async function openClock(store: Store): Promise<{ readonly now: () => number; close(): void }> {
  const { clock } = coordinationOf(store)
  const look = async (): Promise<number> => {
    const sent = performance.now()
    const ms = await clock()
    // The database read its clock between the sending and the answer; the middle is the best guess.
    return ms - (sent + performance.now()) / 2
  }
  let offset = await look()
  const timer = setInterval(() => {
    look().then(
      (found) => {
        offset = found
      },
      () => undefined,
    )
  }, TRUSTED_MS)
  timer.unref()
  return { now: () => Math.round(performance.now() + offset), close: () => clearInterval(timer) }
}
