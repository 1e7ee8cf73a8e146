import type { Transaction } from 'kysely'
import type { Dangling, Engine } from '../engine.ts'
import { sharedEngine } from '../sharedEngine.ts'
import type { RowValues } from '../tables/rows.ts'
import { type Database, type TableName, tableOf } from '../tables/schema.ts'
import type { Connection } from './connection/connection.ts'
import { changedBy, queryRows } from './connection/statements.ts'
import { dayTotalsChecksums, upsertDays, valuesBeyond } from './operations/days.ts'
import { upsertObservations, withdrawObservations } from './operations/observations.ts'
import { search } from './operations/search.ts'
import { query, seen } from './operations/statement.ts'
import { readExtremes, values } from './operations/values.ts'

/** Locks bodies of the reply store until the transaction ends, in the order of their hashes; answers which of them are there. */
async function lockReplies(
  tx: Transaction<Database>,
  hashes: readonly string[],
  purpose: 'keep' | 'delete',
): Promise<readonly string[]> {
  const lock = purpose === 'keep' ? 'share' : 'update'
  const stored = `select hash from _reply where hash = any($1) order by hash for ${lock}`
  return (await queryRows<{ hash: string }>(tx, stored, [hashes])).map(({ hash }) => hash)
}

/**
 * Deletes the rows of a table that have some given values, except those in a list, which holds the values of other columns.
 * Returns how many.
 */
function deleteOthers(
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

/** PostgreSQL's part of what the program asks of a database. */
export function createEngine(connection: Connection): Engine {
  const { kysely } = connection
  return {
    upsertObservations,
    withdrawObservations,
    upsertDays,
    dayTotalsChecksums: () => dayTotalsChecksums(kysely),
    valuesBeyond: (limit) => valuesBeyond(kysely, limit),
    lockReplies,
    deleteOthers,
    search: (text, kinds) => search(kysely, text, kinds),
    values: (of, asOf) => values(kysely, of, asOf),
    ...sharedEngine(kysely),
    extremes: (...of) => readExtremes(kysely, ...of),
    query: (sql, parameters) => query(connection, sql, parameters),
    seen: (sql, columns) => seen(connection, sql, columns),
    // The server has limits of its own: work_mem, temp_file_limit.
    limitCache: () => undefined,
    beginSnapshot: () => connection.beginSnapshot(),
    async tables() {
      const rows = await queryRows<{ name: string }>(
        kysely,
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
         and not relispartition order by 1`,
      )
      return rows.map(({ name }) => name)
    },
    // The server enforces references; values have no foreign keys.
    async dangling() {
      const rows = await queryRows<{ series_id: number }>(
        kysely,
        'select series_id from series_geo g where not exists (select from series s where s.id = g.series_id)',
      )
      return rows.map(({ series_id }): Dangling => ({ table: 'series_geo', row: series_id, parent: 'series' }))
    },
    // With checksums, the server refuses to read what is damaged; without, nobody knows.
    async integrity() {
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
    logBytes: async () => 0,
    async bytes() {
      const [row] = await queryRows<{ bytes: number }>(kysely, 'select pg_database_size(current_database()) as bytes')
      return row!.bytes
    },
    async rowsAtLeast(table) {
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
