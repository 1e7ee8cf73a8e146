import type { Copying } from '../copying.ts'
import { takeFirstSeen, takeTables } from '../takeRows.ts'
import { backUp } from './busy.ts'
import type { Connection } from './connection.ts'
import { finishCopy } from './operations/finishCopy.ts'
import { asStoreError } from './storeErrors.ts'

/** How a file is copied, and what a copy is filled with and made into. */
export function createCopying({ kysely, raw, prepare }: Connection): Copying {
  /** Attaches another database for the length of some work. */
  const beside = async (file: string, work: () => void): Promise<void> => {
    prepare('attach database ? as source').run(file)
    try {
      await kysely.transaction().execute(async () => work())
    } finally {
      raw.exec('detach database source')
    }
  }
  return {
    encoding: () => raw.pragma('encoding', { simple: true }) as string,
    async copyInto(file) {
      try {
        // A snapshot of our own: without it the copy would begin again whenever somebody writes.
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
        ? beside(source.file, () => {
            for (const table of tables) raw.exec(`insert into ${table} select * from source.${table}`)
          })
        : kysely.transaction().execute((tx) => takeTables(tx, source, tables)),
    takeFirstSeen: (source, tables) =>
      source.copying
        ? beside(source.file, () => {
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
