import type { Kysely } from 'kysely'
import { run } from '../upgrade.ts'

/** An index for the requests that reached the present, by which the usual lag of a series is judged. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await run(
    db,
    'create index if not exists _fetch_recent on _fetch (series_id, id) where to_at >= coalesce(settled_before, 0) - 3600',
  )
}
