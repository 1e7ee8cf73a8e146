import { Migrator } from 'kysely/migration'
import { connect } from '../../src/db/sqlite/connection.ts'
import { readMigrations } from '../../src/db/sqlite/migrations.ts'

/** Makes a database in a file as an earlier version left it, up to the migration of this name, and answers its connection. */
export async function connectEarlier(file: string, name: string): Promise<ReturnType<typeof connect>> {
  const connection = connect(file)
  const { error } = await new Migrator({
    db: connection.kysely,
    provider: { getMigrations: readMigrations },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  }).migrateTo(name)
  if (error) throw error
  return connection
}
