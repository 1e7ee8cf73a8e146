import { TABLE_NAMES, type TableName, tableOf } from '../../src/db/tables/schema.ts'
import type { Reader } from './testStore.ts'

/** Tables about the current writer and the number of writers. */
const WRITERS: readonly string[] = ['_lock', '_fence']

/** Returns every row of every table, sorted, without columns that differ between runs. */
export function dump(db: Pick<Reader, 'all'>, without: Partial<Record<TableName, readonly string[]>> = {}) {
  const tables = TABLE_NAMES.filter((name) => !WRITERS.includes(name))
  return Object.fromEntries(
    tables.map((name) => {
      const columns = Object.keys(tableOf(name).columns).filter((column) => !without[name]?.includes(column))
      return [name, db.all(`select ${columns} from ${name} order by ${columns.map((_, i) => `${i + 1} nulls first`)}`)]
    }),
  )
}
