import type { Kysely } from 'kysely'
import type { Row } from '../copying.ts'
import { columnList, type Database, type TableName, tableOf } from '../tables/schema.ts'
import { doubles, wholeNumbers } from './connection/binary.ts'
import { queryRows } from './connection/statements.ts'

const ARRAYS = { integer: 'bigint', real: 'float8', text: 'text', blob: 'bytea' } as const

/** The values of a column as an array parameter. */
function toArray(store: keyof typeof ARRAYS, values: readonly unknown[]): unknown {
  if (store === 'integer') return wholeNumbers(values as (number | null)[])
  if (store === 'real') return doubles(values as (number | null)[])
  return store === 'blob' ? values : values.map((value) => (value as string | null)?.replaceAll('\0', '\uFFFD') ?? null)
}

/** Rows of a table as array parameters, one per column. */
export const toArrays = (table: TableName, rows: readonly Row[]): unknown[] =>
  Object.entries(tableOf(table).columns).map(([name, { store }]) =>
    toArray(
      store,
      rows.map((row) => row[name]),
    ),
  )

/** The rows of array parameters, as SQL. */
const arraySources = (table: TableName): string =>
  `unnest(${Object.values(tableOf(table).columns)
    .map(({ store }, i) => `$${i + 1}::${ARRAYS[store]}[]`)
    .join(', ')})`

/** The statement that inserts rows of a table, by default into itself. */
export const insertStatement = (table: TableName, target: string = table): string =>
  `insert into ${target} (${columnList(table)}) select * from ${arraySources(table)}`

/** Continues generated ids after the largest stored one. */
export async function advanceSequences(db: Kysely<Database>, tables: readonly TableName[]): Promise<void> {
  for (const table of tables)
    if (tableOf(table).columns.id?.isGenerated)
      await queryRows(
        db,
        `select setval(pg_get_serial_sequence('public.${table}', 'id'), coalesce(max(id), 1), max(id) is not null) from ${table}`,
      )
}
