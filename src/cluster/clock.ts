import type { Kysely } from 'kysely'
import { databaseClock } from '../db/shared.ts'
import type { ClusterDatabase } from '../tables/cluster.ts'

/** How long the clock of the database is believed before it is looked at again. */
const LOOK_MS = 60_000

/** A clock of this process that goes as that of the database does, however wrong its own is set. */
export async function openClock(db: Kysely<ClusterDatabase>): Promise<{ readonly now: () => number; close(): void }> {
  const look = async (): Promise<number> => {
    const sent = performance.now()
    const ms = await databaseClock(db)
    // What the answer took lies between the two, and half of it is the best guess.
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
  }, LOOK_MS)
  timer.unref()
  return { now: () => Math.round(performance.now() + offset), close: () => clearInterval(timer) }
}
