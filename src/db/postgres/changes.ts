import type { Changes, Reader } from '../store.ts'
import { connectAlone } from './connection/connection.ts'
import { rowsOf } from './connection/runSql.ts'

/**
 * Which transactions are visible. Each that writes has a number, and after a crash of the server some numbers are given again.
 */
const SNAPSHOT_SQL =
  "select concat_ws(' ', current_database(), pg_postmaster_start_time(), pg_current_snapshot()) as seen"

/** Watches for what others write; each call tells what happened since the call before. */
export function watchChanges(address: string): Changes {
  let known: string | undefined
  let changed = false
  let busy = false
  async function look(): Promise<void> {
    busy = true
    try {
      const client = await connectAlone(address)
      try {
        const { rows } = await client.query<{ seen: string }>(SNAPSHOT_SQL)
        const { seen } = rows[0]!
        changed ||= known !== undefined && known !== seen
        known = seen
      } finally {
        await client.end()
      }
    } catch {
      // The next request of a page reports what is wrong.
    } finally {
      busy = false
    }
  }
  return {
    changed() {
      if (!busy) void look()
      const wasChanged = changed
      changed = false
      return wasChanged
    },
    close: () => undefined,
  }
}

/** A text that is another one whenever something was written. */
export async function stampOf({ kysely }: Reader): Promise<string> {
  return (await rowsOf<{ seen: string }>(kysely, SNAPSHOT_SQL, []))[0]!.seen
}
