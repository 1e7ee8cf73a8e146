import type { Kysely } from 'kysely'
import { VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'
import { addDeclared, readColumns, run } from '../upgrade.ts'
import { viewSql } from './0001_schema.ts'

/** As for SQLite: the prices of PVPC before June 2021, and I90 workbooks. Views of other programs may read this view, so it is not dropped. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await run(db, `create or replace view archive_pvpc as ${viewSql(VIEWS.archive_pvpc)}`)
  if (!(await readColumns(db)).has('archive_i90_row')) await addDeclared(db, 'postgres')
  for (const [name, view] of Object.entries<DatabaseView>(VIEWS))
    if (name.startsWith('archive_i90')) await run(db, `create or replace view ${name} as ${viewSql(view)}`)
}
