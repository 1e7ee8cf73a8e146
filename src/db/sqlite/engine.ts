import type { Dangling, Engine } from '../engine.ts'
import { sharedEngine } from '../sharedEngine.ts'
import type { RowValues } from '../tables/rows.ts'
import type { TableName } from '../tables/schema.ts'
import type { Connection } from './connection.ts'
import { logBytes } from './file/wal.ts'
import { dayTotalsChecksums, upsertDays, valuesBeyond } from './operations/days.ts'
import { listTables } from './operations/finishCopy.ts'
import { upsertObservations, withdrawObservations } from './operations/observations.ts'
import { search } from './operations/search.ts'
import { query, seen } from './operations/statement.ts'
import { readExtremes, values } from './operations/values.ts'

/** Answers which bodies are in the reply store. Writers follow one another, so there is nothing to lock. */
function lockReplies(prepare: Connection['prepare'], hashes: readonly string[]): readonly string[] {
  const stored = prepare('select hash from _reply where hash in (select value from json_each(?))')
  return (stored.all(JSON.stringify(hashes)) as { hash: string }[]).map(({ hash }) => hash)
}

/**
 * Deletes the rows of a table that have some given values, except those in a list, which holds the values of other columns.
 * Returns how many.
 */
function deleteOthers(
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

/** SQLite's part of what the program asks of a database. */
export function createEngine({ kysely, raw, prepare }: Connection, file: string): Engine {
  return {
    upsertObservations: async (_tx, ...what) => upsertObservations(prepare, ...what),
    withdrawObservations: async (_tx, ...what) => withdrawObservations(prepare, ...what),
    upsertDays: async (_tx, ...what) => upsertDays(prepare, ...what),
    dayTotalsChecksums: () => dayTotalsChecksums(kysely),
    valuesBeyond: (limit) => valuesBeyond(kysely, limit),
    lockReplies: async (_tx, hashes) => lockReplies(prepare, hashes),
    deleteOthers: async (_tx, ...what) => deleteOthers(prepare, ...what),
    search: async (text, kinds, most) => search(prepare, text, kinds, most),
    values: (of, asOf) => values({ kysely, raw }, of, asOf),
    ...sharedEngine(kysely),
    extremes: async (of, borders, fetchId) => readExtremes(prepare, of, borders, fetchId),
    query: async (sql, parameters) => query(raw, sql, parameters),
    seen: async (sql, columns) => seen(raw, sql, columns),
    limitCache: (bytes) => void raw.pragma(`cache_size = -${Math.ceil(bytes / 1024)}`),
    beginSnapshot: () => void raw.exec('begin'),
    tables: async () => listTables(raw),
    async dangling() {
      const rows = raw.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[]
      return rows.map(({ table, rowid, parent }): Dangling => ({ table, row: rowid, parent }))
    },
    async integrity() {
      const detail = raw.pragma('integrity_check(1)', { simple: true }) as string
      return { isSound: detail === 'ok', detail }
    },
    logBytes: async () => logBytes(file),
    async bytes() {
      return (
        (raw.pragma('page_count', { simple: true }) as number) * (raw.pragma('page_size', { simple: true }) as number)
      )
    },
    async rowsAtLeast(table) {
      const measured = prepare(`select 1 from sqlite_schema where name = 'sqlite_stat1'`).get() !== undefined
      if (!measured) return 0
      const known = prepare('select max(cast(stat as integer)) as rows from sqlite_stat1 where tbl = ?').get(table)
      return (known as { rows: number | null }).rows ?? 0
    },
  }
}
