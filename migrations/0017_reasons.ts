import { type Kysely, sql } from 'kysely'

/** Why something was asked is recorded: what was absent at the source takes a share of a job's calls, and the last one is found by it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _fetch add column reason text`.execute(db)
  await sql`create index _fetch_absent on _fetch (id) where reason = 'absent'`.execute(db)
  await sql`pragma user_version = 17`.execute(db)
}
