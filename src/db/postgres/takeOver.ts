import { sql } from 'kysely'
import { StoreError } from '../../util/errors.ts'
import { OWN_TABLES, type Row, tableBlocks } from '../copying.ts'
import type { Reader, Store, TakenOver } from '../store.ts'
import { TABLE_NAMES, type TableName, tableOf } from '../tables/schema.ts'
import { changedBy, queryRows } from './connection/statements.ts'
import { advanceSequences, insertStatement, packed } from './rowArrays.ts'
import { MARK_SQL, markOf, writeMark } from './schema.ts'

/** Tables that others refer to; and the index of texts, whose numbers must be there before the texts. */
const REFERENCED_TABLES: readonly TableName[] = [
  ...(['search_item', 'geo', 'vocabulary', 'taxonomy_term', 'indicator', 'content', 'archive', 'widget'] as const),
  ...(['series', '_run', '_fetch'] as const),
]
/** Written last: readers must not see coverage of values that are not copied yet. */
const LAST_TABLE: TableName = '_coverage'
const TABLES_IN_ORDER: readonly TableName[] = [
  ...REFERENCED_TABLES,
  ...TABLE_NAMES.filter((name) => !REFERENCED_TABLES.includes(name) && name !== LAST_TABLE),
  LAST_TABLE,
].filter((name) => !OWN_TABLES.includes(name))

/** The last key of a table. Rows are written in its order, so all rows before it are there. */
async function lastKey({ kysely }: Store, table: TableName): Promise<Row | undefined> {
  const { key } = tableOf(table)
  const order = key.map((name) => `${name} desc`).join(', ')
  return (await queryRows<Row>(kysely, `select ${key.join(', ')} from ${table} order by ${order} limit 1`))[0]
}

/** What a table holds, in numbers that two databases have in common. */
async function tableSummary({ kysely }: Reader, table: TableName): Promise<string> {
  const whole = Object.entries(tableOf(table).columns).filter(
    ([, { store, nullable }]) => store === 'integer' && !nullable,
  )
  const sums = whole.map(
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

/** What a source is known by: when its first run began. */
async function databaseIdentity({ kysely }: Reader): Promise<string> {
  const first = await kysely.selectFrom('_run').select('started_at').orderBy('id').limit(1).executeTakeFirst()
  return first?.started_at ?? 'nothing'
}

/**
 * Copies every table of another database of the same schema, in transactions of many rows. After an interruption, the next call
 * continues after the last row that is there. At the end both are counted and summed, table by table.
 */
export async function takeOver(
  source: Reader,
  target: Store,
  onProgress: (table: string, rows: number) => void,
): Promise<TakenOver> {
  const mark = markOf(await databaseIdentity(source))
  const stored = await readMark(target)
  if (stored !== mark && (stored !== null || (await lastKey(target, '_run')) !== undefined))
    throw new StoreError(`The database ${target.file} is not empty, and not an unfinished copy of ${source.file}.`, {
      hint: 'Use an empty database: createdb NAME creates one.',
      code: 'not-empty',
    })
  await writeMark(target, mark)
  let rows = 0
  for (const table of TABLES_IN_ORDER) {
    const insert = insertStatement(table)
    for await (const block of tableBlocks(source, table, await lastKey(target, table))) {
      const parameters = packed(table, block)
      rows += await target.write((tx) => changedBy(tx, insert, parameters))
      onProgress(table, rows)
    }
  }
  const different: string[] = []
  for (const table of TABLES_IN_ORDER)
    if ((await tableSummary(source, table)) !== (await tableSummary(target, table))) different.push(table)
  if (different.length > 0)
    throw new StoreError(`The copy in ${target.file} differs from ${source.file}: ${different.join(', ')}.`, {
      hint: 'Another program wrote to it during the copy. Drop the database, create it again, and repeat the copy.',
      code: 'copy-differs',
    })
  await advanceSequences(target.kysely, TABLES_IN_ORDER)
  await writeMark(target, null)
  // Not `tidy`: the server does not count the rows yet, and without statistics views over them take minutes.
  await sql`analyze`.execute(target.kysely)
  return { tables: TABLES_IN_ORDER.length, rows }
}
