import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Migrations by name, oldest first, loaded only when a database needs one. A name begins with the number of the schema that it makes. */
export type Migrations = Readonly<Record<string, () => Promise<Migration>>>

export const SQLITE_MIGRATIONS: Migrations = {
  '0001_schema': () => import('../../migrations/0001_schema.ts'),
}

export const POSTGRES_MIGRATIONS: Migrations = {
  '0001_schema': () => import('../../migrations/postgres/0001_schema.ts'),
}

/** The first migration of the development versions before 0.1.0. Their databases cannot be migrated. */
export const UNRELEASED_MIGRATION = '0001_first_schema'

/** What to do with a database of an unreleased schema. */
export const UNRELEASED_HINT =
  'Sync into a new database, or export the data with the version that made this one. Nothing was changed.'

/** The number at the beginning of a migration's name. */
export const migrationNumber = (name: string): number => Number.parseInt(name, 10)

/** The newest schema that some migrations make. */
export const newestSchema = (migrations: Migrations): number =>
  Math.max(...Object.keys(migrations).map(migrationNumber))

/** Runs all pending migrations in one transaction, under a lock that other processes wait for. */
export async function migrateToLatest<T>(db: Kysely<T>, migrations: Migrations): Promise<void> {
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          await Promise.all(
            Object.entries(migrations).map(async ([name, load]): Promise<[string, Migration]> => [name, await load()]),
          ),
        ),
    },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}
