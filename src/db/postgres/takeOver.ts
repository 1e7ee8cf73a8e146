import { sql } from 'kysely'
import { StoreError } from '../../util/errors.ts'
import { type Row, tableBlocks, UNCOPIED_TABLES } from '../copying.ts'
import type { Reader, Store, TakeOverResult } from '../store.ts'
import { TABLE_NAMES, type TableName, tableOf } from '../tables/schema.ts'
import { changedBy, queryRows } from './connection/statements.ts'
import { advanceSequences, insertStatement, toArrays } from './rowArrays.ts'
import { copyMark, MARK_SQL, writeMark } from './schema.ts'

/** Tables that others refer to, and the numbers of the search index, which the triggers of texts need. */
const REFERENCED_TABLES: readonly TableName[] = [
  'search_item',
  'geo',
  'vocabulary',
  'taxonomy_term',
  'indicator',
  'content',
  'archive',
  'widget',
  'series',
  '_run',
  '_fetch',
]
/** The table that is written last, so that readers see no coverage without values. */
const LAST_TABLE: TableName = '_coverage'
const TABLES_IN_ORDER: readonly TableName[] = [
  ...REFERENCED_TABLES,
  ...TABLE_NAMES.filter((name) => !REFERENCED_TABLES.includes(name) && name !== LAST_TABLE),
  LAST_TABLE,
].filter((name) => !UNCOPIED_TABLES.includes(name))

/** The last key of a table. Rows are written in this order, so all rows before it are stored. */
async function readLastKey({ kysely }: Store, table: TableName): Promise<Row | undefined> {
  const { key } = tableOf(table)
  const order = key.map((name) => `${name} desc`).join(', ')
  return (await queryRows<Row>(kysely, `select ${key.join(', ')} from ${table} order by ${order} limit 1`))[0]
}

/** A summary of a table that is equal on both databases. */
async function summarizeTable({ kysely }: Reader, table: TableName): Promise<string> {
  const integers = Object.entries(tableOf(table).columns).filter(
    ([, { store, isNullable }]) => store === 'integer' && !isNullable,
  )
  const sums = integers.map(
    ([name]) => sql`cast(coalesce(sum(${sql.ref(name)} % 1000003), 0) as bigint) as ${sql.ref(name)}`,
  )
  const values = Object.entries(tableOf(table).columns)
    .filter(([, { store }]) => store === 'real')
    .flatMap(([name]) => [
      sql`count(${sql.ref(name)}) as ${sql.ref(`${name}_count`)}`,
      sql`min(${sql.ref(name)}) as ${sql.ref(`${name}_min`)}`,
      sql`max(${sql.ref(name)}) as ${sql.ref(`${name}_max`)}`,
    ])
  const { rows } =
    await sql<Row>`select ${sql.join([sql`count(*) as rows_in_all`, ...sums, ...values])} from ${sql.table(table)}`.execute(
      kysely,
    )
  return JSON.stringify(rows[0])
}

const readMark = async ({ kysely }: Store): Promise<string | null> =>
  (await queryRows<{ mark: string | null }>(kysely, `select ${MARK_SQL} as mark`))[0]!.mark

/** Identifies a source by the start of its first run. */
async function readIdentity({ kysely }: Reader): Promise<string> {
  const first = await kysely.selectFrom('_run').select('started_at').orderBy('id').limit(1).executeTakeFirst()
  return first?.started_at ?? 'nothing'
}

/**
 * Copies every table of another database of the same schema, in transactions of many rows. After an interruption, the next call
 * continues after the last row. At the end it compares summaries of all tables.
 */
export async function takeOver(
  source: Reader,
  target: Store,
  onProgress: (table: string, rows: number) => void,
): Promise<TakeOverResult> {
  const mark = copyMark(await readIdentity(source))
  const stored = await readMark(target)
  if (stored !== mark && (stored !== null || (await readLastKey(target, '_run')) !== undefined))
    throw new StoreError(`The database ${target.file} is not empty, and not an unfinished copy of ${source.file}.`, {
      hint: 'Use an empty database: createdb NAME creates one.',
      code: 'not-empty',
    })
  await writeMark(target, mark)
  let rows = 0
  for (const table of TABLES_IN_ORDER) {
    const insert = insertStatement(table)
    for await (const block of tableBlocks(source, table, await readLastKey(target, table))) {
      const parameters = toArrays(table, block)
      rows += await target.write((tx) => changedBy(tx, insert, parameters))
      onProgress(table, rows)
    }
  }
  const different: string[] = []
  for (const table of TABLES_IN_ORDER)
    if ((await summarizeTable(source, table)) !== (await summarizeTable(target, table))) different.push(table)
  if (different.length > 0)
    throw new StoreError(`The copy in ${target.file} differs from ${source.file}: ${different.join(', ')}.`, {
      hint: 'Another program wrote to it during the copy. Drop the database, create it again, and repeat the copy.',
      code: 'copy-differs',
    })
  await advanceSequences(target.kysely, TABLES_IN_ORDER)
  await writeMark(target, null)
  // `tidy` does not suffice, because the server has not counted the rows yet. Without statistics, views take minutes.
  await sql`analyze`.execute(target.kysely)
  return { tables: TABLES_IN_ORDER.length, rows }
}
