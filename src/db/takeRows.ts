import type { Kysely, Transaction } from 'kysely'
import type { Database, TableName } from '../tables/schema.ts'
import type { TakeOverSource } from './copying.ts'
import { tableBlocks } from './tableBlocks.ts'

/** Rows of one insert: no statement has more parameters than a database takes. */
const ROWS_PER_INSERT = 200

/** Takes over tables from another database, row by row, where the two cannot be joined. */
export async function takeTables(
  tx: Transaction<Database>,
  source: TakeOverSource,
  tables: readonly TableName[],
): Promise<void> {
  for (const table of tables)
    for await (const block of tableBlocks(source, table))
      for (let first = 0; first < block.length; first += ROWS_PER_INSERT)
        await tx
          .insertInto(table)
          .values(block.slice(first, first + ROWS_PER_INSERT) as never)
          .execute()
}

/** Takes over when rows were first seen, where that was earlier; each table with its key. */
export async function takeFirstSeen(
  tx: Kysely<Database>,
  source: TakeOverSource,
  tables: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  for (const [table, key] of Object.entries(tables))
    for await (const block of tableBlocks(source, table as 'indicator'))
      for (const row of block)
        await tx
          .updateTable(table as 'indicator')
          .set({ first_seen_at: row.first_seen_at as string })
          .where(({ and, eb }) => and(key.map((column) => eb(column as 'id', '=', row[column] as number))))
          .where('first_seen_at', '>', row.first_seen_at as string)
          .execute()
}
