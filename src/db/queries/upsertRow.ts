import { type CompiledQuery, type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { RowValues, TableRows } from '../tables/rows.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'

/** Compiled statements by kind of database, because each has its own SQL. */
const compiled = new WeakMap<object, Map<string, CompiledQuery>>()

/** Fields without a column of their own are put together with the stored ones before they are written. */
const MERGED = 'payload'

/** Columns of an insert that a later row never overwrites. */
const BORN = 'first_seen_at'

/**
 * The upsert of a row with some columns of a table: null-safe and guarded, so that an equal row writes nothing, and a
 * column that was not sent keeps what it has. Built once, prepared once.
 */
function compiledUpsert(
  db: Kysely<Database>,
  table: TableName,
  columns: readonly string[],
  when: TableRows['when'],
  { locale, first }: Languages,
): CompiledQuery {
  const second = locale === undefined || locale === first ? undefined : TEXT_TABLES[table]
  const name = `${table} ${columns} ${when} ${second && first}`
  const { adapter } = db.getExecutor()
  const ofKind = compiled.get(adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(adapter, ofKind)
  const known = ofKind.get(name)
  if (known) return known
  const { key, silent } = tableOf(table)
  const updated = columns.filter((column) => !key.includes(column) && column !== BORN)
  const compared = updated.filter((column) => !silent.includes(column))
  const row = Object.fromEntries(columns.map((column) => [column, null]))
  const insert = db.insertInto(table).values(row as never)
  const query = insert.onConflict((conflict) => {
    const target = conflict.columns(key as never)
    if (when === 'kept' || compared.length === 0) return target.doNothing()
    // Where another answer has described it better, only the columns that it left null are filled.
    const better =
      when === 'unlisted'
        ? sql<SqlBool>`${sql.ref(`${table}.last_seen_at`)} is not null`
        : second === undefined
          ? null
          : hasFirst(table, second, first)
    const next = (column: string): Expression<unknown> => {
      const [stored, sent] = [sql.ref(`${table}.${column}`), sql.ref(`excluded.${column}`)]
      if (better === null || silent.includes(column) || column === MERGED) return sent
      return sql`case when ${better} then coalesce(${stored}, ${sent}) else ${sent} end`
    }
    const differs = (column: string): Expression<SqlBool> =>
      sql<SqlBool>`${sql.ref(`${table}.${column}`)} is distinct from ${next(column)}`
    const versioned = compared.filter((column) => isVersioned(table, column)).map(differs)
    return target
      .doUpdateSet(({ or }) => {
        const set = Object.fromEntries(updated.map((column) => [column, next(column)]))
        // A version began with the fetch of the columns that the history keeps.
        const begins = sql`case when ${or(versioned)} then excluded.fetch_id else ${sql.ref(`${table}.fetch_id`)} end`
        return (HISTORIES[table] ? { ...set, fetch_id: begins } : set) as never
      })
      .where(({ or }): Expression<SqlBool> => or(compared.map(differs)))
  })
  const compiledQuery = query.compile()
  ofKind.set(name, compiledQuery)
  return compiledQuery
}

/** Where triggers keep the earlier versions of texts. */
const HISTORIES: Partial<Readonly<Record<TableName, TableName>>> = {
  indicator_text: 'indicator_revision',
  content_text: 'content_revision',
}

/** Whether the history of a table keeps a column. */
const isVersioned = (table: TableName, column: string): boolean => {
  const history = HISTORIES[table]
  return history !== undefined && column in tableOf(history).columns
}

/** Writes one row, and answers whether that changed anything. */
export async function upsertRow(
  db: Kysely<Database>,
  table: TableName,
  row: RowValues,
  when: TableRows['when'],
  languages: Languages,
): Promise<boolean> {
  const query = compiledUpsert(db, table, Object.keys(row), when, languages)
  const { numAffectedRows } = await db.executeQuery({ ...query, parameters: Object.values(row) })
  return numAffectedRows !== 0n
}

/** The language of some rows, and the language whose texts win in the columns that all languages share. */
export interface Languages {
  readonly locale?: string | undefined
  readonly first?: string | undefined
}

/** Where the texts of what a table holds are, by language. */
export const TEXT_TABLES: Partial<Readonly<Record<TableName, TableName>>> = {
  indicator: 'indicator_text',
  content: 'content_text',
  content_term: 'content_text',
  content_vocabulary: 'content_text',
  archive: 'archive_text',
  archive_edition: 'archive_text',
  archive_term: 'archive_text',
  archive_vocabulary: 'archive_text',
  widget: 'widget_text',
}

/**
 * Whether texts come with listings alone: an item that a language lists no more is described by the others. Indicators and widgets
 * are described by other answers, too.
 */
export const isListedOnly = (texts: TableName): boolean => texts === 'content_text'

/** Whether the item of a row is described in the first language. */
const hasFirst = (table: TableName, texts: TableName, first = ''): Expression<SqlBool> => {
  const keys = ['kind', 'id'].filter((column) => column in tableOf(texts).columns)
  const same = keys.map((column) => sql`t.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
  const stored = isListedOnly(texts) ? sql` and t.withdrawn_at is null` : sql``
  return sql<SqlBool>`exists (select 1 from ${sql.table(texts)} t where ${sql.join(same, sql` and `)} and t.locale = ${sql.lit(first)}${stored})`
}
