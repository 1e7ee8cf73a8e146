import type { DanglingRow, Engine } from '../engine.ts'
import type { RowValues } from '../tables/rows.ts'
import type { TableName } from '../tables/schema.ts'
import type { Connection } from './connection.ts'
import { measureLog } from './file/wal.ts'
import { attachTables } from './operations/attachTables.ts'
import { computeDayChecksums, upsertDays } from './operations/days.ts'
import { listTables } from './operations/finishCopy.ts'
import { upsertObservations } from './operations/observations.ts'
import { search } from './operations/search.ts'
import { findParameters, findValueTypes, query } from './operations/statement.ts'
import { readExtremes, streamValues } from './operations/values.ts'

/** Returns which bodies are stored. There is only one writer, so nothing is locked. */
function storedReplies(prepare: Connection['prepare'], hashes: readonly string[]): readonly string[] {
  const stored = prepare('select hash from _reply where hash in (select value from json_each(?))')
  return (stored.all(JSON.stringify(hashes)) as { hash: string }[]).map(({ hash }) => hash)
}

function deleteOthers(
  prepare: Connection['prepare'],
  table: TableName,
  owner: RowValues,
  columns: readonly string[],
  kept: readonly (readonly unknown[])[],
): number {
  const isOwned = Object.keys(owner).map((column) => `${column} = ?`)
  const values = columns.map((_, i) => `value ->> ${i}`)
  const sql = `delete from ${table} where ${isOwned.join(' and ')}
    and (${columns.join(', ')}) not in (select ${values.join(', ')} from json_each(?))`
  return prepare(sql).run([...Object.values(owner), JSON.stringify(kept)]).changes
}

export function createEngine({ kysely, raw, prepare }: Connection, file: string): Engine {
  return {
    upsertObservations: async (_tx, ...parameters) => upsertObservations(prepare, ...parameters),
    upsertDays: async (_tx, ...parameters) => upsertDays(prepare, ...parameters),
    computeDayChecksums: () => computeDayChecksums(kysely),
    lockReplies: async (_tx, hashes) => storedReplies(prepare, hashes),
    deleteOthers: async (_tx, ...parameters) => deleteOthers(prepare, ...parameters),
    search: async (text, kinds, limit) => search(prepare, text, kinds, limit),
    streamValues: (range, asOf) => streamValues({ kysely, raw }, range, asOf),
    readExtremes: async (series, borders, fetchId) => readExtremes(prepare, series, borders, fetchId),
    attachTables: (tables) => attachTables(raw, tables),
    query: async (sql, parameters) => query(raw, sql, parameters),
    findParameters,
    findValueTypes: async (sql, columns) => findValueTypes(raw, sql, columns),
    limitCache: (bytes) => void raw.pragma(`cache_size = -${Math.ceil(bytes / 1024)}`),
    beginSnapshot: () => void raw.exec('begin'),
    listTables: async () => listTables(raw),
    async findDanglingRows() {
      const rows = raw.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[]
      return rows.map(({ table, rowid, parent }): DanglingRow => ({ table, row: rowid, parent }))
    },
    async checkIntegrity() {
      const detail = raw.pragma('integrity_check(1)', { simple: true }) as string
      return { isSound: detail === 'ok', detail }
    },
    measureLog: async () => measureLog(file),
    async measureSize() {
      return (
        (raw.pragma('page_count', { simple: true }) as number) * (raw.pragma('page_size', { simple: true }) as number)
      )
    },
    async estimateRows(table) {
      const hasStatistics = prepare(`select 1 from sqlite_schema where name = 'sqlite_stat1'`).get() !== undefined
      if (!hasStatistics) return 0
      const row = prepare('select max(cast(stat as integer)) as rows from sqlite_stat1 where tbl = ?').get(table)
      return (row as { rows: number | null }).rows ?? 0
    },
  }
}
