import type { Transaction } from 'kysely'
import type { RowValues } from '../../tables/rows.ts'
import { type Database, type TableName, tableOf } from '../../tables/schema.ts'
import { changedBy } from '../connection/runSql.ts'

/**
 * Deletes the rows of a table that have some given values, except those in a list, which holds the values of other columns.
 * Returns how many.
 */
export function deleteOthers(
  tx: Transaction<Database>,
  table: TableName,
  same: RowValues,
  columns: readonly string[],
  kept: readonly (readonly unknown[])[],
): Promise<number> {
  const owner = Object.keys(same).map((column, i) => `${column} = $${i + 2}`)
  const values = columns.map(
    (column, i) => `(row ->> ${i})${tableOf(table).columns[column]!.store === 'text' ? '' : '::bigint'}`,
  )
  return changedBy(
    tx,
    `delete from ${table} where ${owner.join(' and ')}
     and (${columns.join(', ')}) not in (select ${values.join(', ')} from jsonb_array_elements($1::jsonb) row)`,
    [JSON.stringify(kept), ...Object.values(same)],
  )
}
