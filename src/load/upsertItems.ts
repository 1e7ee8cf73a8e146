import type { Transaction } from 'kysely'
import type { UpsertCounts } from '../db/engine.ts'
import { type Prepared, prepared } from '../db/prepared.ts'
import { GOOD_OUTCOMES } from '../db/queries/fetchOutcomes.ts'
import { isListedOnly, type Languages, TEXT_TABLES, upsertRow } from '../db/queries/upsertRow.ts'
import type { OwnedRows, RowValues, TableRows } from '../db/tables/rows.ts'
import { type Database, type TableName, tableOf } from '../db/tables/schema.ts'
import { canonical } from '../util/json.ts'

/** The key of an item's text in a language. */
interface TextKey {
  readonly kind: string
  readonly id: number
  readonly locale: string
}

const textIn = (texts: TableName): Prepared<TextKey, { locale: string }> =>
  prepared((db, of: TextKey) => {
    // Every table of texts has these columns, or all but the kind.
    const text = db
      .selectFrom(texts as 'indicator_text')
      .select('locale')
      .where('id', '=', of.id)
    const ofKind = 'kind' in tableOf(texts).columns ? text.where('kind', '=', of.kind) : text
    const stored = isListedOnly(texts) ? ofKind.where('withdrawn_at', 'is', null) : ofKind
    return stored.where('locale', '=', of.locale).limit(1)
  })
const TEXT_IN = new Map([...new Set(Object.values(TEXT_TABLES))].map((texts) => [texts, textIn(texts)]))

/** Whether an item is described in a language. */
const hasText = async (
  tx: Transaction<Database>,
  texts: TableName,
  { kind, id }: RowValues,
  locale: string,
): Promise<boolean> =>
  (await TEXT_IN.get(texts)!.first(tx, { kind: kind as string, id: id as number, locale })) !== undefined

/**
 * A row with its payload merged into the stored one: fields that were not sent stay. Where both have a field, the new one wins,
 * unless the item is described in the first language and this is another one.
 */
async function withHeld(
  tx: Transaction<Database>,
  table: TableName,
  row: RowValues,
  before: RowValues,
  { locale, first = '' }: Languages,
): Promise<RowValues> {
  const [stored, now] = [JSON.parse(String(before.payload)), JSON.parse(String(row.payload))] as [object, object]
  const texts = locale === undefined || locale === first ? undefined : TEXT_TABLES[table]
  const keepsStored = texts !== undefined && (await hasText(tx, texts, row, first))
  return { ...row, payload: canonical(keepsStored ? { ...now, ...stored } : { ...stored, ...now }) }
}

/** Only the rows of items that have no text in the first language yet; all rows where these are in the first language. */
export async function onlyUndescribed(tx: Transaction<Database>, owned: OwnedRows, first: string): Promise<OwnedRows> {
  const { table, locale, owners, rows, ...rest } = owned
  const texts = locale === undefined || locale === first ? undefined : TEXT_TABLES[table]
  if (texts === undefined) return { table, owners, rows, ...rest }
  const undescribed = async (all: readonly RowValues[]): Promise<RowValues[]> => {
    const left: RowValues[] = []
    for (const one of all) if (!(await hasText(tx, texts, one, first))) left.push(one)
    return left
  }
  return { ...rest, table, owners: await undescribed(owners), rows: await undescribed(rows) }
}

export const NOTHING_WRITTEN: UpsertCounts = { fresh: 0, unchanged: 0, revised: 0 }
export const addWritten = (a: UpsertCounts, b: UpsertCounts): UpsertCounts => ({
  fresh: a.fresh + b.fresh,
  unchanged: a.unchanged + b.unchanged,
  revised: a.revised + b.revised,
})

/** The key of a row, as a text. */
const rowKey = (table: TableName, row: RowValues): string =>
  JSON.stringify(tableOf(table).key.map((column) => row[column]))

/** How many stored rows one query reads. */
const ROWS_PER_READ = 16

/** Queries of stored rows, by table and number of keys. */
const stored = new Map<string, Prepared<RowValues[string][], RowValues>>()

/** The query for the stored rows of a table with one of `count` keys, given as one list of values. */
function heldQuery(table: TableName, count: number): Prepared<RowValues[string][], RowValues> {
  const name = `${table} ${count}`
  const known = stored.get(name)
  if (known) return known
  const { key } = tableOf(table)
  const query = prepared((db, values: RowValues[string][]) =>
    db
      .selectFrom(table as 'geo')
      .selectAll()
      .where((of) =>
        of.or(
          Array.from({ length: count }, (_, i) =>
            of.and(key.map((column, k) => of(column as 'id', '=', values[i * key.length + k] as number))),
          ),
        ),
      ),
  )
  stored.set(name, query)
  return query
}

/** The stored rows with the same keys as some rows, by key. */
async function heldRows(
  tx: Transaction<Database>,
  table: TableName,
  rows: readonly RowValues[],
): Promise<ReadonlyMap<string, RowValues>> {
  const { key } = tableOf(table)
  const found = new Map<string, RowValues>()
  for (let first = 0; first < rows.length; first += ROWS_PER_READ) {
    const some = rows.slice(first, first + ROWS_PER_READ)
    const values = some.flatMap((row) => key.map((column) => row[column]!))
    for (const row of await heldQuery(table, some.length).all(tx, values)) found.set(rowKey(table, row), row)
  }
  return found
}

/** Whether a changed column only adds to the stored value: nothing was stored, or its JSON only has new fields. */
function isCompleted(
  column: string,
  before: RowValues[string] | undefined,
  after: RowValues[string] | undefined,
): boolean {
  if (before === after || before === null) return true
  if (!column.startsWith('payload') || typeof after !== 'string') return false
  const [was, is] = [JSON.parse(String(before)), JSON.parse(after)] as [object, object]
  return canonical({ ...is, ...was }) === canonical(is)
}

const mentioned = prepared((db, of: { kind: string; id: number; fetchId: number }) =>
  db
    .selectFrom('_fetch as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select('f.id')
    .where('s.kind', '=', of.kind)
    .where('s.indicator_id', '=', of.id)
    .where('f.id', '<', of.fetchId)
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .limit(1),
)

/** Whether an answer is the first about a stored indicator, of which only the number is known: it was inserted with a series. */
async function isFirstMention(
  tx: Transaction<Database>,
  { kind, id, last_seen_at, ...rest }: RowValues,
  fetchId: number,
): Promise<boolean> {
  const isDescribed = Object.entries(rest).some(([column, value]) => value !== null && column !== 'first_seen_at')
  if (isDescribed || last_seen_at !== null) return false
  const key = { kind: kind as string, id: id as number }
  if (await indicatorText.first(tx, key)) return false
  return (await mentioned.first(tx, { ...key, fetchId })) === undefined
}

const indicatorText = prepared((db, of: { kind: string; id: number }) =>
  db.selectFrom('indicator_text').select('id').where('kind', '=', of.kind).where('id', '=', of.id).limit(1),
)

/** Writes the rows of one table. Columns that only the loader knows are filled from `stamps` where the table has them; `first` is the first language of the service. */
export async function upsertRows(
  tx: Transaction<Database>,
  { table, rows: sent, when, locale }: TableRows,
  stamps: RowValues & { readonly fetch_id: number },
  first: string,
): Promise<UpsertCounts> {
  const { columns, silent } = tableOf(table)
  // Of rows with equal keys in one answer the last counts.
  const rows = [...new Map(sent.map((row) => [rowKey(table, row), row])).values()]
  const extra = Object.fromEntries(Object.entries(stamps).filter(([column]) => column in columns))
  const befores = await heldRows(tx, table, rows)
  let [fresh, revised] = [0, 0]
  for (const one of rows) {
    const before = befores.get(rowKey(table, one))
    const row = one.payload && before?.payload ? await withHeld(tx, table, one, before, { locale, first }) : one
    const compared = Object.keys(row).filter((column) => !silent.includes(column))
    if (before && (when === 'kept' || compared.every((column) => before[column] === row[column]))) {
      if (table === 'indicator' && (await isFirstMention(tx, before, stamps.fetch_id))) fresh++
      continue
    }
    if (!(await upsertRow(tx, table, { ...row, ...extra }, when, { locale, first }))) continue
    const after = before && (await heldRows(tx, table, [row])).get(rowKey(table, row))
    const isNew = !before || compared.every((name) => isCompleted(name, before[name], after![name]))
    if (isNew) fresh++
    else revised++
  }
  return { fresh, unchanged: rows.length - fresh - revised, revised }
}
