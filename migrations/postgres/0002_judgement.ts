import type { Kysely } from 'kysely'
import { ABSENCES_BY_GEO, addDeclared, convertJobRanges, readColumns, run } from '../upgrade.ts'
import { withoutViews } from './dependentViews.ts'

/** As for SQLite: missing periods by stored values and cadence, jobs with an identity. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const tables = await readColumns(db)
  if (tables.has('_cadence')) return
  await withoutViews(db, [], async () => {
    await run(db, 'alter table _absent rename to _absent_1')
    for (const key of ['pkey', 'series_id_fkey'])
      await run(db, `alter table _absent_1 rename constraint _absent_${key} to _absent_1_${key}`)
    await run(db, 'drop index _absent_end')
    await addDeclared(db, 'postgres')
    for (const statement of ABSENCES_BY_GEO) await run(db, statement)
    await convertJobRanges(db)
    await run(db, 'drop table _absent_1')
  })
}
