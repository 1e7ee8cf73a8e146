import type { Kysely } from 'kysely'
import { VIEWS } from '../src/db/tables/schema.ts'
import { addDeclared, readColumns, run } from './upgrade.ts'

/** The prices of PVPC before June 2021, in columns of their own, and I90 workbooks. In a new database, 0001 has created their table. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await run(db, 'drop view archive_pvpc')
  await run(db, `create view archive_pvpc as ${VIEWS.archive_pvpc.sql}`)
  if (!(await readColumns(db)).has('archive_i90_row')) await addDeclared(db, 'sqlite')
  for (const [name, view] of Object.entries(VIEWS))
    if (name.startsWith('archive_i90')) await run(db, `create view if not exists ${name} as ${view.sql}`)
  await run(db, 'pragma user_version = 3')
}
