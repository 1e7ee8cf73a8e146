import { type Kysely, sql } from 'kysely'
import { createTable, foreignKeys, INDEXES, postgresType } from '../src/db/tables/ddl.ts'
import { TABLE_NAMES, type TableName, tableOf } from '../src/db/tables/schema.ts'

/* The parts of a migration that follow from the declared tables. */

type Dialect = 'sqlite' | 'postgres'

/** The columns of every stored table, by its name. */
export async function readColumns(db: Kysely<unknown>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const tables = await db.introspection.getTables()
  return new Map(
    tables.flatMap(({ name, isView, schema, columns }) =>
      isView || (schema !== undefined && schema !== 'public')
        ? []
        : [[name, new Set(columns.map((column) => column.name))]],
    ),
  )
}

/** Creates the declared tables, columns and indexes that a database lacks. A new column of an old table must be nullable. */
export async function addDeclared(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const stored = await readColumns(db)
  const created: TableName[] = []
  for (const name of TABLE_NAMES) {
    const columns = stored.get(name)
    if (!columns) {
      await run(db, createTable(name, dialect))
      created.push(name)
      continue
    }
    for (const [column, declared] of Object.entries(tableOf(name).columns)) {
      if (columns.has(column)) continue
      if (!declared.isNullable) throw new Error(`The new column ${name}.${column} is not nullable.`)
      const type = dialect === 'sqlite' ? declared.store : postgresType(declared)
      await run(db, `alter table ${name} add column ${column} ${type}`)
    }
  }
  if (dialect === 'postgres') for (const name of created) for (const key of foreignKeys(name)) await run(db, key)
  for (const index of INDEXES) await run(db, index.replace(/^create (unique )?index /, 'create $1index if not exists '))
}

/** Runs a statement. */
export const run = (db: Kysely<unknown>, statement: string): Promise<unknown> => sql.raw(statement).execute(db)

/** Keeps the missing periods of each geo, with the times at which they were found. Those of all geos become rows of each. */
export const ABSENCES_BY_GEO = [
  `insert into _absent (series_id, geo_id, from_at, to_at, step_s, missing, reason, since_at, checked_at)
   select series_id, geo_id, from_at, to_at, step_s, missing, 'absent', since_at, checked_at from _absent_1 where geo_id <> 0`,
  `insert into _absent (series_id, geo_id, from_at, to_at, step_s, missing, reason, since_at, checked_at)
   select a.series_id, g.geo_id, a.from_at, a.to_at, a.step_s, a.missing, 'absent', a.since_at, a.checked_at
   from _absent_1 a join series_geo g on g.series_id = a.series_id
   where a.geo_id = 0 and not exists (select 1 from _absent_1 o
     where o.series_id = a.series_id and o.geo_id = g.geo_id and o.from_at < a.to_at and o.to_at > a.from_at)`,
]

/** Runs of commands that record themselves under a name of their own. */
const COMMAND_NAMES = "'archives', 'discover', 'replay', 'retry'"

/** Makes a job of each name that ran or selected something, without a file: the first run of a file of that name takes it over. */
const JOBS_BY_NAME = [
  `insert into _job (name, definition_at, returns, first_run_at, last_run_at, forgotten_at)
   select n.job, coalesce(min(r.started_at), '1970-01-01T00:00:00.000Z'), 0, min(r.started_at), max(r.started_at),
     (select l.finished_at from _run l where l.job = n.job and l.command = 'forget'
       and l.id = (select max(m.id) from _run m where m.job = n.job))
   from (select job from _job_range union select job from _run where job not in (${COMMAND_NAMES})) n
   left join _run r on r.job = n.job
   group by n.job`,
  'update _run set job_id = (select j.id from _job j where j.name = _run.job)',
]

/** Seconds. A series that was never requested has the default lookback of an entry. */
const DEFAULT_LOOKBACK_S = 2 * 86_400

/**
 * Keeps what jobs selected: it stays required from its start on. Requests stored the longest lookback of the series so far, so the
 * shortest of them is the closest to that of the entry. Windows are adopted by the next run.
 */
export async function convertJobRanges(db: Kysely<unknown>): Promise<void> {
  for (const statement of JOBS_BY_NAME) await run(db, statement)
  const { rows } = await sql<{
    series_id: number
    job_id: number
    geo_ids: string | null
    entry: string
    time_zone: string
    from_at: number
    to_at: number
    refresh_s: number
    lookback_s: number | null
  }>`select w.series_id, j.id as job_id, w.geo_ids, w.entry, s.time_zone, w.from_at, w.to_at, w.refresh_s,
      coalesce((select min(f.lookback_s) from _fetch f join _run r on r.id = f.run_id
        where f.series_id = w.series_id and f.entry = w.entry and r.job = w.job), s.lookback_s) as lookback_s
    from _job_range w join _job j on j.name = w.job join series s on s.id = w.series_id
    order by w.series_id, j.id, w.entry`.execute(db)
  const sorted = rows.map((row) => ({
    ...row,
    geos: (row.geo_ids ?? '')
      .split(',')
      .filter((id) => id !== '')
      .map(Number)
      .sort((a, b) => a - b)
      .join(','),
  }))
  const groups = Map.groupBy(sorted, ({ series_id, job_id, geos }) => [series_id, job_id, geos].join())
  for (const group of groups.values()) {
    const [{ series_id, job_id, geos, entry, time_zone }] = group as [(typeof sorted)[number]]
    const lookbacks = group.map(({ lookback_s }) => Number(lookback_s ?? DEFAULT_LOOKBACK_S))
    const from = Math.min(...group.map(({ from_at }) => Number(from_at)))
    await sql`insert into _duty
      (series_id, job_id, geo_ids, window_text, entry, time_zone, from_at, to_at, lookback_s, refresh_s, since_at)
      values (${series_id}, ${job_id}, ${geos}, '', ${entry}, ${time_zone}, ${from},
        ${Math.max(...group.map(({ to_at }) => Number(to_at)))}, ${Math.max(...lookbacks)},
        ${Math.min(...group.map(({ refresh_s }) => Number(refresh_s)))}, ${from})`.execute(db)
  }
  await run(db, 'drop table _job_range')
}
