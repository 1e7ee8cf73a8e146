import { type Kysely, sql } from 'kysely'

/** The code of what failed is recorded: whoever reads of it later, such as the process that handed it out, has no other way to know. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _fetch add column code text collate "C"`.execute(db)
}
