import { hostname } from 'node:os'
import { coordinationOf, shared } from '../db/coordination.ts'
import type { Store } from '../db/store.ts'

/** What a worker reports about itself with a heartbeat. */
interface Heartbeat {
  readonly claims: number
  readonly done: number
  readonly draining: 0 | 1
  readonly runs: string
  readonly holding: string | null
}

/** A worker among all that share the database. */
export interface Registered {
  /**
   * Reports that the worker is alive and what it does; closes what dead workers left open, as its registration does. Answers
   * whether others had taken this one for dead meanwhile: it is noted again, but they ended its runs.
   */
  beat(heartbeat: Heartbeat): Promise<boolean>
  leave(): Promise<void>
}

/** Notes a worker in the database. */
export async function register(store: Store, host: string, version: string): Promise<Registered> {
  const db = shared(store.kysely)
  const { clock, forgetDeadProcesses } = coordinationOf(store)
  const now = await clock()
  const itself = { machine: hostname(), pid: process.pid, version, host, started_at: now }
  const { id } = await db
    .insertInto('_worker')
    .values({ ...itself, seen_at: now, claims: 0, done: 0, draining: 0, runs: '', holding: null })
    .returning('id')
    .executeTakeFirstOrThrow()

  // A worker that has nothing to do may leave before its first heartbeat.
  await forgetDeadProcesses(now)
  let isClosing = false

  return {
    async beat(heartbeat) {
      const at = await clock()
      const report = { ...heartbeat, seen_at: at }
      const noted = await db.updateTable('_worker').set(report).where('id', '=', id).executeTakeFirstOrThrow()
      const isGone = noted.numUpdatedRows === 0n
      if (isGone)
        await db
          .insertInto('_worker')
          .values({ id, ...itself, ...report })
          .execute()
      // Without waiting: a heartbeat must not be late because of a lock on what a dead worker left. The next one tries again.
      if (isClosing) return isGone
      isClosing = true
      void forgetDeadProcesses(at)
        .catch(() => undefined)
        .finally(() => {
          isClosing = false
        })
      return isGone
    },
    async leave() {
      await db.deleteFrom('_worker').where('id', '=', id).execute()
    },
  }
}
