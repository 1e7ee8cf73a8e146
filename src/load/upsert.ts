import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { Store } from '../db/open.ts'
import type { RowValues, TableRows } from '../tables/rows.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'

const compiled = new Map<string, string>()

/** Columns of an insert that a later row never overwrites. */
const BORN = 'first_seen_at'

/**
 * The upsert of some columns of a table for so many rows, as SQL: null-safe and guarded, so that an equal row writes
 * nothing, and a column that was not sent keeps what it has. Built by Kysely once, prepared by the store once.
 */
export function upsertSql(
  db: Kysely<Database>,
  table: TableName,
  columns: readonly string[],
  rows: number,
  when?: TableRows['when'],
): string {
  const name = `${table} ${columns} ${rows} ${when}`
  const known = compiled.get(name)
  if (known) return known
  const { key, silent } = tableOf(table)
  const updated = columns.filter((column) => !key.includes(column) && column !== BORN)
  const telling = updated.filter((column) => !silent.includes(column))
  const row = Object.fromEntries(columns.map((column) => [column, null]))
  const insert = db.insertInto(table).values(Array.from({ length: rows }, () => row) as never)
  const query = insert.onConflict((conflict) => {
    const target = conflict.columns(key as never)
    if (when === 'kept' || telling.length === 0) return target.doNothing()
    const differs = telling.map(
      (column) => sql<SqlBool>`${sql.ref(`${table}.${column}`)} is not ${sql.ref(`excluded.${column}`)}`,
    )
    return target
      .doUpdateSet(Object.fromEntries(updated.map((column) => [column, sql.ref(`excluded.${column}`)])) as never)
      .where(({ and, or }) => {
        const guard: Expression<SqlBool> = or(differs)
        return when === 'unlisted' ? and([guard, sql<SqlBool>`${sql.ref(`${table}.last_seen_at`)} is null`]) : guard
      })
  })
  const text = query.compile().sql
  compiled.set(name, text)
  return text
}

/** What an upsert did. */
export interface Written {
  /** Rows that were not there before, or were completed. */
  readonly fresh: number
  readonly unchanged: number
  /** Rows whose old version went to the history. */
  readonly revised: number
}

export const NOTHING_WRITTEN: Written = { fresh: 0, unchanged: 0, revised: 0 }
export const addWritten = (a: Written, b: Written): Written => ({
  fresh: a.fresh + b.fresh,
  unchanged: a.unchanged + b.unchanged,
  revised: a.revised + b.revised,
})

/** Where the old versions of texts go, by a trigger. */
const HISTORY: Partial<Readonly<Record<TableName, TableName>>> = {
  indicator_text: 'indicator_revision',
  content_text: 'content_revision',
}

/** Writes the rows of one table. Columns that only the loader knows are filled from `stamps` where the table has them. */
export function upsertRows(
  store: Store,
  { table, rows, when }: TableRows,
  stamps: RowValues & { readonly fetch_id: number },
): Written {
  const { columns } = tableOf(table)
  const extra = Object.entries(stamps).filter(([column]) => column in columns)
  const history = HISTORY[table]
  const versions = (): number =>
    history === undefined || rows.length === 0
      ? 0
      : (store.get(`select count(*) from ${history} where superseded_by = ?`, [stamps.fetch_id]) as number)
  const before = versions()
  let changed = 0
  for (const row of rows) {
    const full = extra.length === 0 ? row : { ...row, ...Object.fromEntries(extra) }
    changed += store.run(upsertSql(store.kysely, table, Object.keys(full), 1, when), Object.values(full))
  }
  const revised = versions() - before
  return { fresh: changed - revised, unchanged: rows.length - changed, revised }
}
