import { type Kysely, sql } from 'kysely'

/** What a stored reply needs to be read again without the job that asked for it. Rows of before have NULL there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _fetch add column settled_before integer`.execute(db)
  await sql`alter table _fetch add column time_zone text`.execute(db)
  await sql`alter table _fetch add column complete integer`.execute(db)
  await sql`create index _quarantine_open on _quarantine (fetch_id) where resolved_at is null`.execute(db)
  await sql`pragma user_version = 2`.execute(db)
}
