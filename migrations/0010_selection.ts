import { type Kysely, sql } from 'kysely'

/** Which indicators the catalogue lists under a term: jobs may name indicators so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table indicator_term (
    term text not null,
    kind text not null,
    id integer not null,
    primary key (term, kind, id)
  ) strict, without rowid`.execute(db)
  await sql`pragma user_version = 10`.execute(db)
}
