import { type Kysely, sql } from 'kysely'

/** How a body is packed: bodies of before are zstd of the body as it came. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _reply add column form text not null default 'zstd'`.execute(db)
  await sql`pragma user_version = 3`.execute(db)
}
