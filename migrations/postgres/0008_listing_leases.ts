import { type Kysely, sql } from 'kysely'

/** A listing is leased, too, by its path and query: a sync requested one that a worker was requesting. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    `alter table _asking add column target text collate "C", alter column series_id drop not null,
      alter column from_at drop not null, alter column to_at drop not null`,
    'create unique index _asking_target on _asking (target)',
  ])
    await sql.raw(statement).execute(db)
}
