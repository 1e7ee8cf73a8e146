import type { Transaction } from 'kysely'
import type { UpsertCounts } from '../db/engine.ts'
import { type Prepared, prepareQuery } from '../db/prepared.ts'
import { GOOD_OUTCOMES } from '../db/queries/fetchOutcomes.ts'
import type { OwnedRows, RowValues, TableRows } from '../db/tables/rows.ts'
import { type Database, type TableName, tableOf } from '../db/tables/schema.ts'
import { canonical } from '../util/json.ts'
import { isListedOnly, type Languages, TEXT_TABLES, upsertRow } from './upsertRow.ts'

/** The key of an item's text in a language. */
interface TextKey {
  readonly kind: string
  readonly id: number
  readonly locale: string
}

const textIn = (texts: TableName): Prepared<TextKey, { locale: string }> =>
  prepareQuery((db, { kind, id, locale }: TextKey) => {
    // All tables of texts have these columns; only some have `kind`.
    const text = db
      .selectFrom(texts as 'indicator_text')
      .select('locale')
      .where('id', '=', id)
    const item = 'kind' in tableOf(texts).columns ? text.where('kind', '=', kind) : text
    const listed = isListedOnly(texts) ? item.where('withdrawn_at', 'is', null) : item
    return listed.where('locale', '=', locale).limit(1)
  })
const TEXT_IN = new Map([...new Set(Object.values(TEXT_TABLES))].map((texts) => [texts, textIn(texts)]))

/** Whether an item has a text in a language. */
const hasText = async (
  tx: Transaction<Database>,
  texts: TableName,
  { kind, id }: RowValues,
  locale: string,
): Promise<boolean> =>
  (await TEXT_IN.get(texts)!.first(tx, { kind: kind as string, id: id as number, locale })) !== undefined

/**
 * Merges the payload of a row into the stored one. If both have a field, the new value wins, unless the item has a text in the first
 * language and this reply is in another one.
 */
async function mergePayload(
  tx: Transaction<Database>,
  table: TableName,
  row: RowValues,
  before: RowValues,
  { locale, mainLocale = '' }: Languages,
): Promise<RowValues> {
  const stored = JSON.parse(String(before.payload)) as object
  const sent = JSON.parse(String(row.payload)) as object
  const texts = locale === undefined || locale === mainLocale ? undefined : TEXT_TABLES[table]
  const keepsStored = texts !== undefined && (await hasText(tx, texts, row, mainLocale))
  return { ...row, payload: canonical(keepsStored ? { ...sent, ...stored } : { ...stored, ...sent }) }
}

/** Drops the rows of items that have a text in the main language, unless the rows are in that language. */
export async function dropDescribed(
  tx: Transaction<Database>,
  owned: OwnedRows,
  mainLocale: string,
): Promise<OwnedRows> {
  const { table, locale, owners, rows, ...rest } = owned
  const texts = locale === undefined || locale === mainLocale ? undefined : TEXT_TABLES[table]
  if (texts === undefined) return { table, owners, rows, ...rest }
  const undescribed = async (all: readonly RowValues[]): Promise<RowValues[]> => {
    const withoutText: RowValues[] = []
    for (const row of all) if (!(await hasText(tx, texts, row, mainLocale))) withoutText.push(row)
    return withoutText
  }
  return { ...rest, table, owners: await undescribed(owners), rows: await undescribed(rows) }
}

export const NOTHING_WRITTEN: UpsertCounts = { inserted: 0, unchanged: 0, revised: 0 }
export const addWritten = (a: UpsertCounts, b: UpsertCounts): UpsertCounts => ({
  inserted: a.inserted + b.inserted,
  unchanged: a.unchanged + b.unchanged,
  revised: a.revised + b.revised,
})

/** The key of a row as JSON. */
const rowKey = (table: TableName, row: RowValues): string =>
  JSON.stringify(tableOf(table).key.map((column) => row[column]))

/** The number of stored rows that one query reads. */
const ROWS_PER_READ = 16

/** Prepared queries for stored rows, by table and number of keys. */
const storedQueries = new Map<string, Prepared<RowValues[string][], RowValues>>()

/** The query for the stored rows of a table with one of `count` keys. Its parameter is one list with the values of all keys. */
function prepareStoredQuery(table: TableName, count: number): Prepared<RowValues[string][], RowValues> {
  const name = `${table} ${count}`
  const existing = storedQueries.get(name)
  if (existing) return existing
  const { key } = tableOf(table)
  const query = prepareQuery((db, values: RowValues[string][]) =>
    db
      .selectFrom(table as 'geo')
      .selectAll()
      .where((eb) =>
        eb.or(
          Array.from({ length: count }, (_, i) =>
            eb.and(key.map((column, k) => eb(column as 'id', '=', values[i * key.length + k] as number))),
          ),
        ),
      ),
  )
  storedQueries.set(name, query)
  return query
}

/** Reads the stored rows with the keys of some rows, by key. */
async function readStoredRows(
  tx: Transaction<Database>,
  table: TableName,
  rows: readonly RowValues[],
): Promise<ReadonlyMap<string, RowValues>> {
  const { key } = tableOf(table)
  const storedRows = new Map<string, RowValues>()
  for (let first = 0; first < rows.length; first += ROWS_PER_READ) {
    const batch = rows.slice(first, first + ROWS_PER_READ)
    const values = batch.flatMap((row) => key.map((column) => row[column]!))
    for (const row of await prepareStoredQuery(table, batch.length).all(tx, values))
      storedRows.set(rowKey(table, row), row)
  }
  return storedRows
}

/** Whether a change only adds to the stored value: there was none, or the JSON only has new fields. */
function isCompleted(
  column: string,
  before: RowValues[string] | undefined,
  after: RowValues[string] | undefined,
): boolean {
  if (before === after || before === null) return true
  if (!column.startsWith('payload') || typeof after !== 'string') return false
  const was = JSON.parse(String(before)) as object
  const is = JSON.parse(after) as object
  return canonical({ ...is, ...was }) === canonical(is)
}

const earlierReply = prepareQuery((db, { kind, id, fetchId }: { kind: string; id: number; fetchId: number }) =>
  db
    .selectFrom('_fetch as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select('f.id')
    .where('s.kind', '=', kind)
    .where('s.indicator_id', '=', id)
    .where('f.id', '<', fetchId)
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .limit(1),
)

/** Whether a reply is the first one about an indicator that was inserted with its series and has nothing but an id. */
async function isFirstReply(
  tx: Transaction<Database>,
  { kind, id, last_seen_at, ...rest }: RowValues,
  fetchId: number,
): Promise<boolean> {
  const isDescribed = Object.entries(rest).some(([column, value]) => value !== null && column !== 'first_seen_at')
  if (isDescribed || last_seen_at !== null) return false
  const key = { kind: kind as string, id: id as number }
  if (await indicatorText.first(tx, key)) return false
  return (await earlierReply.first(tx, { ...key, fetchId })) === undefined
}

const indicatorText = prepareQuery((db, { kind, id }: { kind: string; id: number }) =>
  db.selectFrom('indicator_text').select('id').where('kind', '=', kind).where('id', '=', id).limit(1),
)

/**
 * Upserts the rows of one table. `stamps`: columns that only the loader knows, for tables that have them. `mainLocale`: the first language
 * of the service.
 */
export async function upsertRows(
  tx: Transaction<Database>,
  { table, rows: sent, keepsListed = false, locale }: TableRows,
  stamps: RowValues & { readonly fetch_id: number },
  mainLocale: string,
): Promise<UpsertCounts> {
  const { columns, silent } = tableOf(table)
  // The last of several rows with equal keys counts.
  const rows = [...new Map(sent.map((row) => [rowKey(table, row), row])).values()]
  const extra = Object.fromEntries(Object.entries(stamps).filter(([column]) => column in columns))
  const befores = await readStoredRows(tx, table, rows)
  let inserted = 0
  let revised = 0
  for (const sentRow of rows) {
    const before = befores.get(rowKey(table, sentRow))
    const row =
      sentRow.payload && before?.payload
        ? await mergePayload(tx, table, sentRow, before, { locale, mainLocale })
        : sentRow
    const compared = Object.keys(row).filter((column) => !silent.includes(column))
    if (before && compared.every((column) => before[column] === row[column])) {
      if (table === 'indicator' && (await isFirstReply(tx, before, stamps.fetch_id))) inserted++
      continue
    }
    if (!(await upsertRow(tx, table, { ...row, ...extra }, keepsListed, { locale, mainLocale }))) continue
    const after = before && (await readStoredRows(tx, table, [row])).get(rowKey(table, row))
    const isNew = !before || compared.every((name) => isCompleted(name, before[name], after![name]))
    if (isNew) inserted++
    else revised++
  }
  return { inserted, unchanged: rows.length - inserted - revised, revised }
}
