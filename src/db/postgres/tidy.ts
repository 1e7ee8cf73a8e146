import type { Kysely } from 'kysely'
import type { Database } from '../../tables/schema.ts'
import { rowsOf, runSql } from './connection/runSql.ts'

/**
 * Rows that changed since the last statistics, beyond which new ones are made here: the server itself never does for a
 * partitioned table.
 */
const CHANGED_ROWS = 20_000

/** Makes statistics for the query planner where there are none, or many rows have changed since. */
export async function tidyDatabase(db: Kysely<Database>): Promise<void> {
  const rows = await rowsOf<{ name: string }>(
    db,
    `select distinct coalesce(p.inhparent, s.relid)::regclass::text as name
     from pg_stat_user_tables s left join pg_inherits p on p.inhrelid = s.relid
     where s.schemaname = 'public' and has_table_privilege(s.relid, 'insert')
       and (s.n_mod_since_analyze > ${CHANGED_ROWS} or s.n_mod_since_analyze > 0 and s.last_analyze is null)`,
    [],
  )
  for (const { name } of rows) await runSql(db, `analyze ${name}`, [])
}
