import { hostname } from 'node:os'
import type { Kysely } from 'kysely'
import { BusyError } from '../util/errors.ts'
import { formatMillis } from '../util/time/instant.ts'
import type { Store } from './store.ts'
import type { Database } from './tables/schema.ts'

/** The process that has the writer's lock. */
export interface LockHolder {
  readonly pid: number
  readonly host: string
  readonly command: string
  readonly acquired_at: string
}

/** The error of a locked database, with its holder if known. */
export const createLockedError = (file: string, holder: LockHolder | undefined): BusyError =>
  new BusyError(
    holder
      ? `Process ${holder.pid} on ${holder.host} has been writing to ${file} since ${holder.acquired_at} (${holder.command}).`
      : `Another process is writing to ${file}.`,
    { hint: 'Wait for it, or stop it; readers are not affected.', code: 'writer-locked' },
  )

/** Reads the recorded holder. It may be dead, because a killed process leaves its record. */
export const readHolder = (db: Kysely<Database>): Promise<LockHolder | undefined> =>
  db
    .selectFrom('_lock')
    .select(['pid', 'host', 'command', 'acquired_at'])
    .where('name', '=', 'writer')
    .executeTakeFirst()

/**
 * Records this process as the writer, and takes the next fence number: writers with earlier ones are refused from then on.
 * Returns a function that removes the record.
 */
export async function addHolder(store: Store, command: string): Promise<() => Promise<void>> {
  const fence = await store.write(async (tx) => {
    const { number } = await tx
      .insertInto('_fence')
      .values({ name: 'writer', number: 1 })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet(({ eb }) => ({ number: eb('_fence.number', '+', 1) })),
      )
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
      // The record is only for messages; the lock is released anyway.
    }
    store.fence(null)
  }
}
