import type { Transaction } from 'kysely'
import type { DanglingRow, Engine } from '../engine.ts'
import type { RowValues } from '../tables/rows.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'
import type { Connection } from './connection/connection.ts'
import { changedBy, queryRows } from './connection/statements.ts'
import { attachTables } from './operations/attachTables.ts'
import { computeDayChecksums, upsertDays } from './operations/days.ts'
import { upsertObservations } from './operations/observations.ts'
import { findParameters } from './operations/parameters.ts'
import { search } from './operations/search.ts'
import { findValueTypes, query } from './operations/statement.ts'
import { readExtremes, streamValues } from './operations/values.ts'

/** Locks stored bodies until the transaction ends, in the order of their hashes, and returns them. */
async function lockReplies(
  tx: Transaction<Database>,
  hashes: readonly string[],
  purpose: 'keep' | 'delete',
): Promise<readonly string[]> {
  const lock = purpose === 'keep' ? 'share' : 'update'
  const stored = `select hash from _reply where hash = any($1) order by hash for ${lock}`
  return (await queryRows<{ hash: string }>(tx, stored, [hashes])).map(({ hash }) => hash)
}

function deleteOthers(
  tx: Transaction<Database>,
  table: TableName,
  owner: RowValues,
  columns: readonly string[],
  kept: readonly (readonly unknown[])[],
): Promise<number> {
  const isOwned = Object.keys(owner).map((column, i) => `${column} = $${i + 2}`)
  const values = columns.map(
    (column, i) => `(row ->> ${i})${tableOf(table).columns[column]!.store === 'text' ? '' : '::bigint'}`,
  )
  return changedBy(
    tx,
    `delete from ${table} where ${isOwned.join(' and ')}
     and (${columns.join(', ')}) not in (select ${values.join(', ')} from jsonb_array_elements($1::jsonb) row)`,
    [JSON.stringify(kept), ...Object.values(owner)],
  )
}

export function createEngine(connection: Connection): Engine {
  const { kysely } = connection
  return {
    upsertObservations,
    upsertDays,
    computeDayChecksums: () => computeDayChecksums(kysely),
    lockReplies,
    deleteOthers,
    search: (text, kinds) => search(kysely, text, kinds),
    streamValues: (range, asOf) => streamValues(kysely, range, asOf),
    readExtremes: (...parameters) => readExtremes(kysely, ...parameters),
    attachTables: (tables) => attachTables(connection, tables),
    query: (sql, parameters) => query(connection, sql, parameters),
    findParameters,
    findValueTypes: (sql, columns) => findValueTypes(connection, sql, columns),
    // The server has limits: work_mem, temp_file_limit.
    limitCache: () => undefined,
    beginSnapshot: () => connection.beginSnapshot(),
    async listTables() {
      const rows = await queryRows<{ name: string }>(
        kysely,
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
         and not relispartition order by 1`,
      )
      return rows.map(({ name }) => name)
    },
    // The server enforces references; values have no foreign keys.
    async findDanglingRows() {
      const rows = await queryRows<{ series_id: number }>(
        kysely,
        'select series_id from series_geo g where not exists (select from series s where s.id = g.series_id)',
      )
      return rows.map(({ series_id }): DanglingRow => ({ table: 'series_geo', row: series_id, parent: 'series' }))
    },
    // A server with checksums detects damage when it reads.
    async checkIntegrity() {
      const [setting] = await queryRows<{ checksums: string }>(
        kysely,
        `select current_setting('data_checksums') as checksums`,
      )
      const isChecked = setting!.checksums === 'on'
      const detail = isChecked
        ? 'checked by the server, which has data_checksums on'
        : 'not checked: the server has data_checksums off (pg_checksums --enable, while it is stopped)'
      return { isSound: true, detail }
    },
    measureLog: async () => 0,
    async measureSize() {
      const [row] = await queryRows<{ bytes: number }>(kysely, 'select pg_database_size(current_database()) as bytes')
      return row!.bytes
    },
    async estimateRows(table) {
      const [row] = await queryRows<{ rows: number | null }>(
        kysely,
        `select sum(greatest(reltuples, 0)) as rows from pg_class
         where oid in (select relid from pg_partition_tree($1::text::regclass) where isleaf) or oid = $1::text::regclass and relkind = 'r'`,
        [`public.${table}`],
      )
      return row?.rows ?? 0
    },
  }
}
