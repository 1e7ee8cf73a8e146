import type { Kysely } from 'kysely'
import type { Store } from '../db/store.ts'
import type { ClusterDatabase } from '../tables/cluster.ts'

/** A database that many machines share, seen with the tables that only such a one has. */
export const shared = (db: Store['kysely']): Kysely<ClusterDatabase> => db as unknown as Kysely<ClusterDatabase>

/** The clock of the database, in whole epoch milliseconds: the only one that all machines agree on. */
export async function databaseClock(db: Kysely<ClusterDatabase>): Promise<number> {
  const { seconds } = await db
    .selectNoFrom(({ fn, val }) => fn<number>('date_part', [val('epoch'), fn('clock_timestamp', [])]).as('seconds'))
    .executeTakeFirstOrThrow()
  return Math.floor(seconds * 1000)
}

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
