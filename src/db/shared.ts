import { type Kysely, sql } from 'kysely'
import type { ClusterDatabase } from '../tables/cluster.ts'
import type { Store } from './store.ts'

/** A database that many machines share, seen with the tables that only such a one has. */
export const shared = (db: Store['kysely']): Kysely<ClusterDatabase> => db as unknown as Kysely<ClusterDatabase>

/**
 * Milliseconds that a statement on what all machines share waits for a lock before it is tried again: none of them keeps one across
 * a message to its process, so a longer wait has another cause.
 */
export const LOCK_MS = 5_000

/** So many milliseconds after now by the clock of the database, as part of a statement: at the moment at which that is executed. */
export const clockAfter = (ms: number) => sql<number>`floor(extract(epoch from clock_timestamp()) * 1000) + ${ms}`

/** The clock of the database, in whole epoch milliseconds: the only one that all machines agree on. */
export async function databaseClock(db: Kysely<ClusterDatabase>): Promise<number> {
  const { seconds } = await db
    .selectNoFrom(({ fn, val }) => fn<number>('date_part', [val('epoch'), fn('clock_timestamp', [])]).as('seconds'))
    .executeTakeFirstOrThrow()
  return Math.floor(seconds * 1000)
}
