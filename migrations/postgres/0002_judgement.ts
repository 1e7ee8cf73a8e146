import type { Kysely } from 'kysely'
import { VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
import { ABSENCES_BY_GEO, addDeclared, convertJobRanges, readColumns, run } from '../upgrade.ts'
import { viewSql } from './0001_schema.ts'

/** As for SQLite: missing periods by stored values and cadence, jobs with an identity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const tables = await readColumns(db)
  if (tables.has('_cadence')) return
  for (const { name, schema } of (await db.introspection.getTables()).filter(({ isView }) => isView))
    if (schema === 'public') await run(db, `drop view if exists ${name} cascade`)
  await run(db, 'alter table _absent rename to _absent_1')
  for (const key of ['pkey', 'series_id_fkey'])
    await run(db, `alter table _absent_1 rename constraint _absent_${key} to _absent_1_${key}`)
  await run(db, 'drop index _absent_end')
  await addDeclared(db, 'postgres')
  for (const statement of ABSENCES_BY_GEO) await run(db, statement)
  await convertJobRanges(db)
  await run(db, 'drop table _absent_1')
  for (const [name, view] of Object.entries<DatabaseView>(VIEWS))
    await run(db, `create view ${name} as ${viewSql(view)}`)
}
