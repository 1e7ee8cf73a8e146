import { type Kysely, sql } from 'kysely'

/** What workers ask at this moment: others leave it out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `create table _asking (
      claim text collate "C" primary key, series_id bigint not null, geo_ids text collate "C", from_at bigint not null,
      to_at bigint not null, until_at bigint not null
    )`,
    'create index _asking_series on _asking (series_id)',
  ])
    await sql.raw(statement).execute(db)
}
