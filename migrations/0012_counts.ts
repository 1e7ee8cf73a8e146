import { type Kysely, sql } from 'kysely'

/**
 * Every request that was sent is recorded: those that were too large, whose parts were asked, and those before whose answer
 * the run ended. They are no failures, so `gaps` does not call their windows failed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where name = 'gaps'`.execute(db)
  // Taken as it is: nothing else of it changes.
  const view = rows[0]!.sql.replaceAll(`('ok', 'empty', 'coarse')`, `('ok', 'empty', 'coarse', 'too-large', 'stopped')`)
  await sql`drop view gaps`.execute(db)
  await sql.raw(view).execute(db)
  // The index of failures is used where its condition is asked for word for word.
  await sql`drop index _fetch_failed`.execute(db)
  await sql`create index _fetch_failed on _fetch (series_id, id) where outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped')`.execute(
    db,
  )
  await sql`pragma user_version = 12`.execute(db)
}
