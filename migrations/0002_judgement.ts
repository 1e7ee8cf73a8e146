import { type Kysely, sql } from 'kysely'
import { VIEWS } from '../src/db/tables/schema.ts'
import { KEEP_VALUES } from './0001_schema.ts'
import { ABSENCES_BY_GEO, addDeclared, convertJobRanges, readColumns, run } from './upgrade.ts'

/**
 * Missing periods by stored values and cadence, jobs with an identity. In a new database, 0001 has created all of it. The program judges
 * the stored series of an older database afterwards, one by one (`src/load/timelines/deriveTimelines.ts`).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const tables = await readColumns(db)
  if (!tables.has('_cadence')) {
    // No table can be renamed while a view reads one that does not exist, so those of other programs are created again, too.
    const { rows: views } = await sql<{
      name: string
      sql: string
    }>`select name, sql from sqlite_schema where type = 'view' order by rowid`.execute(db)
    for (const { name } of views) await sql`drop view ${sql.id(name)}`.execute(db)
    await run(db, 'alter table _absent rename to _absent_1')
    await run(db, 'drop index _absent_end')
    await addDeclared(db, 'sqlite')
    for (const statement of ABSENCES_BY_GEO) await run(db, statement)
    await convertJobRanges(db)
    await run(db, 'drop table _absent_1')
    await run(db, 'drop trigger observation_revised')
    await run(db, KEEP_VALUES)
    for (const [name, view] of Object.entries(VIEWS)) await run(db, `create view ${name} as ${view.sql}`)
    for (const view of views) if (!(view.name in VIEWS)) await run(db, view.sql)
  }
  await run(db, 'pragma user_version = 2')
}
