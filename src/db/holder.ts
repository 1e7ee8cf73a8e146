import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import { BusyError } from '../util/errors.ts'
import { formatMillis } from '../util/time/instant.ts'
import type { Store } from './store.ts'
import type { Database } from './tables/schema.ts'

/** The holder of the writer's lock, as it described itself. */
export interface LockHolder {
  readonly pid: number
  readonly host: string
  readonly command: string
  readonly acquired_at: string
}

/** Says that another process writes, and which one where that is known. */
export const lockedBy = (file: string, holder: LockHolder | undefined): BusyError =>
  new BusyError(
    holder
      ? `Process ${holder.pid} on ${holder.host} has been writing to ${file} since ${holder.acquired_at} (${holder.command}).`
      : `Another process is writing to ${file}.`,
    { hint: 'Wait for it, or stop it; readers are not affected.', code: 'writer-locked' },
  )

/** The holder that is recorded in the database. It may be dead: a killed process leaves its record. */
export const readHolder = (db: Kysely<Database>): Promise<LockHolder | undefined> =>
  db
    .selectFrom('_lock')
    .select(['pid', 'host', 'command', 'acquired_at'])
    .where('name', '=', 'writer')
    .executeTakeFirst()

/**
 * Records in the database who writes, and takes the next fence number: a writer with an earlier one is refused from then on.
 * Returns how to remove the record.
 */
export async function addHolder(store: Store, command: string): Promise<() => Promise<void>> {
  const fence = await store.write(async (tx) => {
    const { number } = await tx
      .insertInto('_fence')
      .values({ name: 'writer', number: 1 })
      .onConflict((conflict) => conflict.column('name').doUpdateSet((of) => ({ number: of('_fence.number', '+', 1) })))
      .returning('number')
      .executeTakeFirstOrThrow()
    const holder = { fence: number, pid: process.pid, host: hostname(), command, acquired_at: formatMillis(Date.now()) }
    await tx
      .insertInto('_lock')
      .values({ name: 'writer', ...holder })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(holder))
      .execute()
    return number
  })
  store.fence(fence)
  return async () => {
    try {
      await store.write((tx) => tx.deleteFrom('_lock').where('fence', '=', fence).execute())
    } catch {
      // The record only informs others; the lock itself is released all the same.
    }
    store.fence(null)
  }
}
