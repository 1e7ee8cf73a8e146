import { type Kysely, sql } from 'kysely'

/** The texts of which a table keeps earlier versions. */
const HISTORIES = [
  ['indicator_text', 'indicator_revision', ['name', 'short_name', 'description']],
  ['content_text', 'content_revision', ['title', 'summary', 'body', 'payload']],
] as const

/** The texts that are found by their words. */
const FOUND = [
  ['indicator_text', ['name', 'short_name', 'description_text']],
  ['content_text', ['title', 'summary', 'body_text']],
  ['archive_text', ['name', 'description']],
] as const

/** As before, but a text that changes takes no number of the index: the numbers stay those of a file with the same texts. */
const found = (table: string, columns: readonly string[]): string =>
  `create or replace function ${table}_found() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' then
        delete from search_item where kind = old.kind and item_id = old.id and locale = old.locale;
        return null;
      end if;
      if tg_op = 'INSERT' then
        insert into search_item (kind, item_id, locale) values (new.kind, new.id, new.locale) on conflict do nothing;
      end if;
      insert into search (id, words)
      select id, compat.words_of(${columns.map((column) => `coalesce(new.${column}, '')`).join(" || ' ' || ")})
      from search_item where kind = new.kind and item_id = new.id and locale = new.locale
      on conflict (id) do update set words = excluded.words;
      return null;
    end $$`

/** A row without any text is no version: what comes into it was not known before, and was not otherwise either. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, history, columns] of HISTORIES) {
    const differs = columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')
    const statements = [
      `drop trigger ${table}_revised on ${table}`,
      `create trigger ${table}_revised after update on ${table} for each row
    when (coalesce(${columns.map((column) => `old.${column}`).join(', ')}) is not null and (${differs}))
    execute function ${table}_revised()`,
      `delete from ${history} where coalesce(${columns.join(', ')}) is null`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  }
  for (const [table, columns] of FOUND) await sql.raw(found(table, columns)).execute(db)
}
