import type { Kysely, Transaction } from 'kysely'
import { type Copying, type TakeOverSource, tableBlocks } from '../copying.ts'
import { columnList, type Database, type TableName } from '../tables/schema.ts'
import { backUp } from './busy.ts'
import type { Connection } from './connection.ts'
import { finishCopy } from './operations/finishCopy.ts'
import { asStoreError } from './storeErrors.ts'

/** Rows of an insert, within the limit of parameters. */
const ROWS_PER_INSERT = 200

/** Copies tables from a server, row by row. */
async function takeTables(
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

/** Copies earlier `first_seen_at` from a server, row by row. */
async function takeFirstSeen(
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

export function createCopying({ kysely, raw, prepare }: Connection): Copying {
  /** Attaches another database during some work. */
  const withAttached = async (file: string, work: () => void): Promise<void> => {
    prepare('attach database ? as source').run(file)
    try {
      await kysely.transaction().execute(async () => work())
    } finally {
      raw.exec('detach database source')
    }
  }
  return {
    async copyInto(file) {
      try {
        // Without a snapshot, every write by others would restart the backup.
        raw.exec('begin')
        raw.prepare('select 1 from sqlite_schema').get()
        await backUp(raw, file)
      } catch (error) {
        throw asStoreError(error, file)
      } finally {
        if (raw.inTransaction) raw.exec('rollback')
      }
    },
    takeTables: (source, tables) =>
      source.copying
        ? withAttached(source.file, () => {
            // The columns of a migrated table are in another order.
            for (const table of tables) {
              const columns = columnList(table)
              raw.exec(`insert into ${table} (${columns}) select ${columns} from source.${table}`)
            }
          })
        : kysely.transaction().execute((tx) => takeTables(tx, source, tables)),
    takeFirstSeen: (source, tables) =>
      source.copying
        ? withAttached(source.file, () => {
            for (const [table, key] of Object.entries(tables)) {
              const same = key.map((column) => `o.${column} = ${table}.${column}`).join(' and ')
              const first = `(select min(o.first_seen_at, ${table}.first_seen_at) from source.${table} o where ${same})`
              raw.exec(`update ${table} set first_seen_at = ${first} where first_seen_at > ${first}`)
            }
          })
        : kysely.transaction().execute((tx) => takeFirstSeen(tx, source, tables)),
    finishCopy: async (file, bookkeeping) => finishCopy(raw, file, bookkeeping),
  }
}
