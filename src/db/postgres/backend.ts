import type { Backend } from '../store.ts'
import { queryRows } from './connection/statements.ts'
import { isLocked, lockWriter } from './lock.ts'
import { openReader, openStore } from './open.ts'
import { readSchemaState } from './schema.ts'
import { takeOver } from './takeOver.ts'

/** The visible transactions. A server may reuse their numbers after a crash. */
const SNAPSHOT = "select concat_ws(' ', current_database(), pg_postmaster_start_time(), pg_current_snapshot()) as seen"

/** PostgreSQL: a database is on a server, and its name is its address. */
export const postgres: Backend = {
  openReader,
  openStore,
  async openLocked(file, options) {
    const release = await lockWriter(file)
    try {
      return { store: await openStore(file, options), release }
    } catch (error) {
      await release()
      throw error
    }
  },
  isLocked,
  readSchemaState,
  async takeOver(source, file, onProgress) {
    // Full durability, because nothing would repeat commits that a crash of the server lost.
    const { store, release } = await this.openLocked(file, { allowsUnfinished: true, durability: 'full' })
    try {
      return await takeOver(source, store, onProgress)
    } finally {
      await store.close()
      await release()
    }
  },
  readStamp: async ({ kysely }) => (await queryRows<{ seen: string }>(kysely, SNAPSHOT))[0]!.seen,
}
