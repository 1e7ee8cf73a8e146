import { type Kysely, sql } from 'kysely'
import { createTable, foreignKeys, INDEXES } from '../src/db/tables/ddl.ts'
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

const POSTGRES_TYPES = { integer: 'bigint', real: 'double precision', text: 'text collate "C"', blob: 'bytea' } as const

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
    for (const [column, { store, isNullable }] of Object.entries(tableOf(name).columns)) {
      if (columns.has(column)) continue
      if (!isNullable) throw new Error(`The new column ${name}.${column} is not nullable.`)
      await run(db, `alter table ${name} add column ${column} ${dialect === 'sqlite' ? store : POSTGRES_TYPES[store]}`)
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
