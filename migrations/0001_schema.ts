import { type Kysely, sql } from 'kysely'
import { createTable, INDEXES, SEARCHED_TEXTS, TEXT_HISTORIES } from '../src/db/tables/ddl.ts'
import { TABLE_NAMES, VIEWS } from '../src/db/tables/schema.ts'

const differs = (columns: readonly string[]): string =>
  columns.map((column) => `old.${column} is not new.${column}`).join(' or ')

/** Moves a superseded value to the history. The step of a value belongs to the cadence: it changes without a new version. */
export const KEEP_VALUES = `create trigger observation_revised after update on observation
    when old.value is not new.value
    begin
      insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
      values (old.series_id, old.geo_id, old.at, old.fetch_id, old.value, old.step_s, new.fetch_id);
    end`

/** Moves the old version of a text to its history. A row without any text is no version. */
const keepVersions = (
  table: string,
  { history, columns }: (typeof TEXT_HISTORIES)[keyof typeof TEXT_HISTORIES],
): string =>
  `create trigger ${table}_revised after update on ${table}
    when coalesce(${columns.map((column) => `old.${column}`).join(', ')}) is not null and (${differs(columns)})
    begin
      insert into ${history} (kind, id, locale, fetch_id, ${columns.join(', ')}, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, ${columns.map((column) => `old.${column}`).join(', ')}, new.fetch_id);
    end`

/** Full-text search over all texts; `texts` is the view that has them. */
const SEARCH = `create virtual table search using fts5 (
    name, more, text, content = 'texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
  )`

/** Keeps the words of a text in the index up to date. */
function indexWords(table: string, columns: readonly (string | null)[]): string[] {
  const item = (row: 'old' | 'new'): string =>
    `(select id from search_item where kind = ${row}.kind and item_id = ${row}.id and locale = ${row}.locale)`
  const texts = (row: 'old' | 'new'): string =>
    columns.map((column) => (column ? `${row}.${column}` : 'null')).join(', ')
  const add = `insert into search (rowid, name, more, text) values (${item('new')}, ${texts('new')});`
  const remove = `insert into search (search, rowid, name, more, text) values ('delete', ${item('old')}, ${texts('old')});`
  return [
    `create trigger ${table}_found after insert on ${table} begin
        insert into search_item (kind, item_id, locale) values (new.kind, new.id, new.locale) on conflict do nothing;
        ${add}
      end`,
    `create trigger ${table}_found_again after update on ${table} when ${differs(columns.filter((column) => column !== null))} begin
        ${remove}
        ${add}
      end`,
    `create trigger ${table}_lost after delete on ${table} begin
        ${remove}
        delete from search_item where kind = old.kind and item_id = old.id and locale = old.locale;
      end`,
  ]
}

/** The whole schema: `src/db/tables` declares tables, indexes and views; the rest is what only SQLite needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...TABLE_NAMES.map((name) => createTable(name, 'sqlite')),
    ...INDEXES,
    ...Object.entries(VIEWS).map(([name, view]) => `create view ${name} as ${view.sql}`),
    SEARCH,
    KEEP_VALUES,
    ...Object.entries(TEXT_HISTORIES).map(([table, history]) => keepVersions(table, history)),
    ...Object.entries(SEARCHED_TEXTS).flatMap(([table, columns]) => indexWords(table, columns)),
    // `INDS` in ASCII: how `file` and our own command recognise the database.
    'pragma application_id = 1229866067',
    'pragma user_version = 1',
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
