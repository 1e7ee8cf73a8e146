import type { Kysely } from 'kysely'
import { VIEWS } from '../src/db/tables/schema.ts'
import { run } from './upgrade.ts'

/** The prices of PVPC before June 2021, in columns of their own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await run(db, 'drop view archive_pvpc')
  await run(db, `create view archive_pvpc as ${VIEWS.archive_pvpc.sql}`)
  await run(db, 'pragma user_version = 3')
}
