import type { Kysely } from 'kysely'
import type { Row } from '../copying.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'
import { doubles, wholeNumbers } from './connection/binary.ts'
import { queryRows } from './connection/statements.ts'

const ARRAYS = { integer: 'bigint', real: 'float8', text: 'text', blob: 'bytea' } as const

/** The values of a column as one parameter. */
function packedColumn(store: keyof typeof ARRAYS, values: readonly unknown[]): unknown {
  if (store === 'integer') return wholeNumbers(values as (number | null)[])
  if (store === 'real') return doubles(values as (number | null)[])
  return store === 'blob' ? values : values.map((value) => (value as string | null)?.replaceAll('\0', '\uFFFD') ?? null)
}

/** Rows of a table as parameters, one a column, for `arraysOf`. */
export const packed = (table: TableName, rows: readonly Row[]): unknown[] =>
  Object.entries(tableOf(table).columns).map(([name, { store }]) =>
    packedColumn(
      store,
      rows.map((row) => row[name]),
    ),
  )

/** Rows of a table that come as parameters, one a column. */
export const arraySources = (table: TableName): string =>
  `unnest(${Object.values(tableOf(table).columns)
    .map(({ store }, i) => `$${i + 1}::${ARRAYS[store]}[]`)
    .join(', ')})`

/** The names of the columns of a table, of a row with a name where one is given. */
export const columnList = (table: TableName, row?: string): string =>
  Object.keys(tableOf(table).columns)
    .map((name) => (row ? `${row}.${name}` : name))
    .join(', ')

/** The statement that writes rows of a table. */
export const insertStatement = (table: TableName): string =>
  `insert into ${table} (${columnList(table)}) select * from ${arraySources(table)}`

/** What is numbered as it comes is numbered on from the last number that is there. */
export async function advanceSequences(db: Kysely<Database>, tables: readonly TableName[]): Promise<void> {
  for (const table of tables)
    if (tableOf(table).columns.id?.generated)
      await queryRows(
        db,
        `select setval(pg_get_serial_sequence('public.${table}', 'id'), coalesce(max(id), 1), max(id) is not null) from ${table}`,
      )
}
