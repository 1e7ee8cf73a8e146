import { type CompiledQuery, type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import { TEXT_HISTORIES } from '../db/tables/ddl.ts'
import type { RowValues } from '../db/tables/rows.ts'
import { type Database, type TableName, tableOf } from '../db/tables/schema.ts'

/** Compiled statements by kind of database, because each has its own SQL. */
const compiled = new WeakMap<object, Map<string, CompiledQuery>>()

/** The caller merges fields without a column of their own with the stored ones. */
const MERGED_COLUMN = 'payload'

/** A column that later rows never overwrite. */
const INSERTED_COLUMN = 'first_seen_at'

/**
 * The upsert of a row with some columns of a table, compiled once. Equal rows write nothing, and columns that were not sent keep
 * their values.
 */
function compiledUpsert(
  db: Kysely<Database>,
  table: TableName,
  columns: readonly string[],
  keepsListed: boolean,
  { locale, mainLocale }: Languages,
): CompiledQuery {
  const second = locale === undefined || locale === mainLocale ? undefined : TEXT_TABLES[table]
  const name = `${table} ${columns} ${keepsListed} ${second && mainLocale}`
  const { adapter } = db.getExecutor()
  const queries = compiled.get(adapter) ?? new Map<string, CompiledQuery>()
  compiled.set(adapter, queries)
  const existing = queries.get(name)
  if (existing) return existing
  const { key, silent } = tableOf(table)
  const histories: Partial<Record<TableName, { readonly columns: readonly string[] }>> = TEXT_HISTORIES
  const versionedColumns = histories[table]?.columns
  const updated = columns.filter((column) => !key.includes(column) && column !== INSERTED_COLUMN)
  const compared = updated.filter((column) => !silent.includes(column))
  const row = Object.fromEntries(columns.map((column) => [column, null]))
  const insert = db.insertInto(table).values(row as never)
  const query = insert.onConflict((conflict) => {
    const target = conflict.columns(key as never)
    if (compared.length === 0) return target.doNothing()
    // If another reply describes the item better, only NULLs are filled.
    const isMain = second === undefined ? null : hasMainText(table, second, mainLocale)
    const isDescribed = keepsListed ? sql<SqlBool>`${sql.ref(`${table}.last_seen_at`)} is not null` : isMain
    const next = (column: string): Expression<unknown> => {
      const stored = sql.ref(`${table}.${column}`)
      const sent = sql.ref(`excluded.${column}`)
      if (isDescribed === null || silent.includes(column) || column === MERGED_COLUMN) return sent
      return sql`case when ${isDescribed} then coalesce(${stored}, ${sent}) else ${sent} end`
    }
    const differs = (column: string): Expression<SqlBool> =>
      sql<SqlBool>`${sql.ref(`${table}.${column}`)} is distinct from ${next(column)}`
    const versioned = compared.filter((column) => versionedColumns?.includes(column)).map(differs)
    return target
      .doUpdateSet(({ or }) => {
        const set = Object.fromEntries(updated.map((column) => [column, next(column)]))
        // A version starts with the fetch of the columns in the history.
        const fetchId = sql`case when ${or(versioned)} then excluded.fetch_id else ${sql.ref(`${table}.fetch_id`)} end`
        return (versionedColumns ? { ...set, fetch_id: fetchId } : set) as never
      })
      .where(({ or }): Expression<SqlBool> => or(compared.map(differs)))
  })
  const compiledQuery = query.compile()
  queries.set(name, compiledQuery)
  return compiledQuery
}

/** Upserts a row, and returns whether that changed anything. */
export async function upsertRow(
  db: Kysely<Database>,
  table: TableName,
  row: RowValues,
  keepsListed: boolean,
  languages: Languages,
): Promise<boolean> {
  const query = compiledUpsert(db, table, Object.keys(row), keepsListed, languages)
  const { numAffectedRows } = await db.executeQuery({ ...query, parameters: Object.values(row) })
  return numAffectedRows !== 0n
}

/** The language of rows, and the language that takes precedence in columns that all languages share. */
export interface Languages {
  readonly locale?: string | undefined
  readonly mainLocale?: string | undefined
}

/** The tables of the texts of items. */
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
 * Whether texts come only with listings: if a language lists an item no longer, other languages describe it. Other replies
 * describe indicators and widgets, too.
 */
export const isListedOnly = (texts: TableName): boolean => texts === 'content_text'

/** A condition: the item of the row has a text in the main language. */
const hasMainText = (table: TableName, texts: TableName, mainLocale = ''): Expression<SqlBool> => {
  const keys = ['kind', 'id'].filter((column) => column in tableOf(texts).columns)
  const same = keys.map((column) => sql`t.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
  const stored = isListedOnly(texts) ? sql` and t.withdrawn_at is null` : sql``
  return sql<SqlBool>`exists (select 1 from ${sql.table(texts)} t where ${sql.join(same, sql` and `)} and t.locale = ${sql.lit(mainLocale)}${stored})`
}
