import type { RowValues } from '../../tables/rows.ts'
import type { TableName } from '../../tables/schema.ts'
import type { Connection } from '../connection.ts'

/**
 * Deletes the rows of a table that have some given values, except those in a list, which holds the values of other columns.
 * Returns how many.
 */
export function deleteOthers(
  prepare: Connection['prepare'],
  table: TableName,
  same: RowValues,
  columns: readonly string[],
  kept: readonly (readonly unknown[])[],
): number {
  const ofOwner = Object.keys(same).map((column) => `${column} = ?`)
  const values = columns.map((_, i) => `value ->> ${i}`)
  const sql = `delete from ${table} where ${ofOwner.join(' and ')}
    and (${columns.join(', ')}) not in (select ${values.join(', ')} from json_each(?))`
  return prepare(sql).run([...Object.values(same), JSON.stringify(kept)]).changes
}
