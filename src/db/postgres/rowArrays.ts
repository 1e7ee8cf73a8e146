import type { Kysely } from 'kysely'
import type { Row } from '../copying.ts'
import { postgresType } from '../tables/ddl.ts'
import type { Column } from '../tables/declare.ts'
import { columnList, type Database, type TableName, tableOf } from '../tables/schema.ts'
import { doubles, smallNumbers, wholeNumbers } from './connection/binary.ts'
import { queryRows } from './connection/statements.ts'

/** The values of a column as an array parameter. */
function toArray(name: string, { store, isSmall }: Column<unknown>, values: readonly unknown[]): unknown {
  if (isSmall) return smallNumbers(name, values as (number | null)[])
  if (store === 'integer') return wholeNumbers(values as (number | null)[])
  if (store === 'real') return doubles(values as (number | null)[])
  return store === 'blob' ? values : values.map((value) => (value as string | null)?.replaceAll('\0', '\uFFFD') ?? null)
}

/** Rows of a table as array parameters, one per column. */
export const toArrays = (table: TableName, rows: readonly Row[]): unknown[] =>
  Object.entries(tableOf(table).columns).map(([name, column]) =>
    toArray(
      name,
      column,
      rows.map((row) => row[name]),
    ),
  )

/** The type of the array with the values of a column, which inherits its collation. */
const arrayType = (column: Column<unknown>): string => `${postgresType(column).replace(/ collate .*/, '')}[]`

/** The rows of array parameters, as SQL. */
const arraySources = (table: TableName): string =>
  `unnest(${Object.values(tableOf(table).columns)
    .map((column, i) => `$${i + 1}::${arrayType(column)}`)
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
