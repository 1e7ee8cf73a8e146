import type { Dangling, Engine } from '../engine.ts'
import type { Connection } from './connection.ts'
import { logBytes } from './file/wal.ts'
import { upsertDays } from './operations/days.ts'
import { dayTotalsChecksums, differentDays, rebuildDays, valuesBeyond } from './operations/dayTotals.ts'
import { deleteOthers } from './operations/deleteOthers.ts'
import { tablesOf } from './operations/finishCopy.ts'
import { extremesOf, knownValues } from './operations/known.ts'
import { lockReplies } from './operations/lockReplies.ts'
import { upsertObservations, withdrawObservations } from './operations/observations.ts'
import { search } from './operations/search.ts'
import { query, seen } from './operations/statement.ts'
import { createIntervalReads, values } from './operations/values.ts'
import { changedVersions, revisionsOf, valuesThen } from './operations/versions.ts'

/** SQLite's part of what the program asks of a database. */
export function createEngine({ kysely, raw, prepare }: Connection, file: string): Engine {
  return {
    upsertObservations: async (_tx, ...what) => upsertObservations(prepare, ...what),
    withdrawObservations: async (_tx, ...what) => withdrawObservations(prepare, ...what),
    upsertDays: async (_tx, ...what) => upsertDays(prepare, ...what),
    rebuildDays,
    differentDays: (...of) => differentDays(kysely, ...of),
    dayTotalsChecksums: () => dayTotalsChecksums(kysely),
    valuesBeyond: (limit) => valuesBeyond(kysely, limit),
    lockReplies: async (_tx, hashes) => lockReplies(prepare, hashes),
    deleteOthers: async (_tx, ...what) => deleteOthers(prepare, ...what),
    search: async (text, kinds, most) => search(prepare, text, kinds, most),
    values: (of, asOf) => values(raw, of, asOf),
    ...createIntervalReads(raw),
    valuesThen: async (of, then) => valuesThen(prepare, of, then),
    knownValues: async (of, fetchId, limit) => knownValues(prepare, of, fetchId, limit),
    extremes: async (of, borders, fetchId) => extremesOf(prepare, of, borders, fetchId),
    revisions: async (of, after) => revisionsOf(prepare, of, after),
    changedVersions: (...of) => changedVersions(raw, ...of),
    query: async (sql, parameters) => query(raw, sql, parameters),
    seen: async (sql, columns) => seen(raw, sql, columns),
    limitCache: (bytes) => void raw.pragma(`cache_size = -${Math.ceil(bytes / 1024)}`),
    beginSnapshot: () => void raw.exec('begin'),
    tables: async () => tablesOf(raw),
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
