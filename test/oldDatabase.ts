import { Migrator } from 'kysely/migration'
import { connect } from '../src/db/sqlite/connection.ts'
import { MIGRATIONS } from '../src/db/sqlite/migrations.ts'
import { APPLICATION_ID } from '../src/db/sqlite/schema.ts'

/** Makes a database of the first schema with two rows in it. */
export async function makeOld(file: string): Promise<void> {
  const { kysely, raw } = connect(file)
  raw.pragma(`application_id = ${APPLICATION_ID}`)
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: async () => ({ '0001_first_schema': await MIGRATIONS['0001_first_schema']!() }) },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
  raw.exec('insert into geo (id) values (3), (8741)')
  await kysely.destroy()
}
