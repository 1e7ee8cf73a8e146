import type { Reader } from '../store.ts'
import { rowsOf } from './connection/runSql.ts'

/**
 * Which transactions are visible. Each that writes has a number, and after a crash of the server some numbers are given again.
 */
const SNAPSHOT_SQL =
  "select concat_ws(' ', current_database(), pg_postmaster_start_time(), pg_current_snapshot()) as seen"

/** A text that is another one whenever something was written. */
export async function stampOf({ kysely }: Reader): Promise<string> {
  return (await rowsOf<{ seen: string }>(kysely, SNAPSHOT_SQL, []))[0]!.seen
}
