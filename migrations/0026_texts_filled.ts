import { type Kysely, sql } from 'kysely'

/** The texts of which a table keeps earlier versions. */
const HISTORIES = [
  ['indicator_text', 'indicator_revision', ['name', 'short_name', 'description']],
  ['content_text', 'content_revision', ['title', 'summary', 'body', 'payload']],
] as const

/** A row without any text is no version: what comes into it was not known before, and was not otherwise either. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, history, columns] of HISTORIES) {
    const differs = columns.map((column) => `old.${column} is not new.${column}`).join(' or ')
    const old = columns.map((column) => `old.${column}`).join(', ')
    await sql`drop trigger ${sql.raw(table)}_revised`.execute(db)
    await sql
      .raw(`create trigger ${table}_revised after update on ${table}
    when coalesce(${old}) is not null and (${differs})
    begin
      insert into ${history} (kind, id, locale, fetch_id, ${columns.join(', ')}, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, ${old}, new.fetch_id);
    end`)
      .execute(db)
    await sql.raw(`delete from ${history} where coalesce(${columns.join(', ')}) is null`).execute(db)
  }
  await sql`pragma user_version = 26`.execute(db)
}
