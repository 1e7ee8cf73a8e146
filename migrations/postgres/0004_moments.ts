import { type Kysely, sql } from 'kysely'

const EPOCH = 'compat.epoch_of(compat.as_time($2))::text'

/** Statements that are written as for SQLite ask for the seconds and the day of the week or of the year of a moment, too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const formats = `case $1 when '%s' then ${EPOCH} when '%w' then extract(dow from compat.as_time($2))::text
      when '%j' then to_char(compat.as_time($2), 'DDD') else to_char(compat.as_time($2), compat.to_format($1)) end`
  for (const parameters of ['text, bigint, text', 'text, text'])
    await sql
      .raw(
        `create or replace function compat.strftime(${parameters}) returns text language sql stable parallel safe as $$ select ${formats} $$`,
      )
      .execute(db)
}
