import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import { canonical } from '../base/json.ts'
import type { Store } from '../db/open.ts'
import type { OwnedRows, RowValues, TableRows } from '../tables/rows.ts'
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
  { locale, first }: Languages = {},
): string {
  const second = locale === undefined || locale === first ? undefined : TEXTS[table]
  const name = `${table} ${columns} ${rows} ${when} ${second && first}`
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
    // Where another answer has told it better, only what that one leaves open is filled.
    const better =
      when === 'unlisted'
        ? sql<SqlBool>`${sql.ref(`${table}.last_seen_at`)} is not null`
        : second === undefined
          ? null
          : hasFirst(table, second, first)
    const next = (column: string): Expression<unknown> => {
      const [held, sent] = [sql.ref(`${table}.${column}`), sql.ref(`excluded.${column}`)]
      if (better === null || silent.includes(column) || isMerged(table, column)) return sent
      return sql`iif(${better}, coalesce(${held}, ${sent}), ${sent})`
    }
    const differs = telling.map((column) => sql<SqlBool>`${sql.ref(`${table}.${column}`)} is not ${next(column)}`)
    return target
      .doUpdateSet(Object.fromEntries(updated.map((column) => [column, next(column)])) as never)
      .where(({ or }): Expression<SqlBool> => or(differs))
  })
  const text = query.compile().sql
  compiled.set(name, text)
  return text
}

/** The language of some rows, and the one whose word on what is shared by all holds. */
export interface Languages {
  readonly locale?: string | undefined
  readonly first?: string | undefined
}

/** Where the texts of what a table holds are, by language. */
const TEXTS: Partial<Readonly<Record<TableName, TableName>>> = {
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

/** Whether a row's item was told in the first language. */
const hasFirst = (table: TableName, texts: TableName, first = ''): Expression<SqlBool> => {
  const keys = ['kind', 'id'].filter((column) => column in tableOf(texts).columns)
  const same = keys.map((column) => sql`t.${sql.ref(column)} = ${sql.ref(`${table}.${column}`)}`)
  return sql<SqlBool>`exists (select 1 from ${sql.table(texts)} t where ${sql.join(same, sql` and `)} and t.locale = ${sql.lit(first)})`
}

/** Fields of an indicator come in two listings, each of which knows others: they are put together before they are written. */
const isMerged = (table: TableName, column: string): boolean => table === 'indicator' && column === 'payload'

/** A row with what is held of its payload, too; where both have a field, the later holds, but for the first language. */
function withHeld(store: Store, row: RowValues, { locale, first }: Languages): RowValues {
  const held = store.get('select payload from indicator where kind = ? and id = ?', [row.kind, row.id])
  if (typeof held !== 'string') return row
  const [before, now] = [JSON.parse(held), JSON.parse(String(row.payload))] as [object, object]
  const texts = 'select 1 from indicator_text where kind = ? and id = ? and locale = ?'
  const isTold = locale !== first && store.get(texts, [row.kind, row.id, first]) !== undefined
  return { ...row, payload: canonical(isTold ? { ...now, ...before } : { ...before, ...now }) }
}

/** Rows of items that were not told in the first language yet, where these are in another one. */
export function withoutTold(store: Store, listed: OwnedRows, first: string): OwnedRows {
  const { table, locale, owners, rows, ...rest } = listed
  const texts = locale === undefined || locale === first ? undefined : TEXTS[table]
  if (texts === undefined) return { table, owners, rows, ...rest }
  const isTold = ({ kind, id }: RowValues): boolean =>
    store.get(`select 1 from ${texts} where kind = ? and id = ? and locale = ?`, [kind, id, first]) !== undefined
  return {
    ...rest,
    table,
    owners: owners.filter((owner) => !isTold(owner)),
    rows: rows.filter((row) => !isTold(row)),
  }
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

/** Writes the rows of one table. Columns that only the loader knows are filled from `stamps` where the table has them; `first` is the first language. */
export function upsertRows(
  store: Store,
  { table, rows: sent, when, locale }: TableRows,
  stamps: RowValues & { readonly fetch_id: number },
  first: string,
): Written {
  const { columns, key } = tableOf(table)
  // What an answer says twice is one row; the later holds.
  const rows = [...new Map(sent.map((row) => [JSON.stringify(key.map((column) => row[column])), row])).values()]
  const extra = Object.entries(stamps).filter(([column]) => column in columns)
  const history = HISTORY[table]
  const versions = (): number =>
    history === undefined || rows.length === 0
      ? 0
      : (store.get(`select count(*) from ${history} where superseded_by = ?`, [stamps.fetch_id]) as number)
  const before = versions()
  let changed = 0
  for (const one of rows) {
    const row = isMerged(table, 'payload') && one.payload ? withHeld(store, one, { locale, first }) : one
    const full = extra.length === 0 ? row : { ...row, ...Object.fromEntries(extra) }
    changed += store.run(
      upsertSql(store.kysely, table, Object.keys(full), 1, when, { locale, first }),
      Object.values(full),
    )
  }
  const revised = versions() - before
  return { fresh: changed - revised, unchanged: rows.length - changed, revised }
}
