import type { Kysely } from 'kysely'
import { VIEWS } from '../../src/db/tables/schema.ts'
import { run } from '../upgrade.ts'
import { viewSql } from './0001_schema.ts'

/** As for SQLite: the prices of PVPC before June 2021. Views of other programs may read this view, so it is not dropped. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await run(db, `create or replace view archive_pvpc as ${viewSql(VIEWS.archive_pvpc)}`)
}
