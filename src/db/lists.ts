import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { RowValues } from '../tables/rows.ts'
import type { Database, TableName } from '../tables/schema.ts'

/** The values of a list for `in` and `not in`, as one parameter: the text of a query is the same however long the list is. */
export const listOf = <T extends string | number>(values: readonly T[]): RawBuilder<T> =>
  sql<T>`(select value from json_each(${JSON.stringify(values)}))`

/** Deletes the rows of a table with some values that are not in a list, which has the values of some other columns. */
export async function deleteOthers(
  tx: Transaction<Database>,
  table: TableName,
  same: RowValues,
  columns: readonly string[],
  kept: readonly (readonly unknown[])[],
): Promise<number> {
  const ofOwner = Object.entries(same).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  const pairs = columns.map((_, i) => sql`value ->> ${sql.lit(i)}`)
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.join(ofOwner, sql` and `)}
    and (${sql.join(columns.map((column) => sql.ref(column)))}) not in (
      select ${sql.join(pairs)} from json_each(${JSON.stringify(kept)}))`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}
