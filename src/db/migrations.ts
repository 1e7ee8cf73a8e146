import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { NewerSchemaError, StoreError } from '../util/errors.ts'
import type { SchemaState } from './store.ts'

/**
 * Migrations by name, oldest first, loaded on demand. A name starts with the number of its schema. Both databases count together, so a
 * number may be missing from one.
 */
export type Migrations = Readonly<Record<string, () => Promise<Migration>>>

export const SQLITE_MIGRATIONS: Migrations = {
  '0001_schema': () => import('../../migrations/0001_schema.ts'),
  '0002_judgement': () => import('../../migrations/0002_judgement.ts'),
  '0003_archives': () => import('../../migrations/0003_archives.ts'),
  '0005_recent_fetches': () => import('../../migrations/0005_recent_fetches.ts'),
}

export const POSTGRES_MIGRATIONS: Migrations = {
  '0001_schema': () => import('../../migrations/postgres/0001_schema.ts'),
  '0002_judgement': () => import('../../migrations/postgres/0002_judgement.ts'),
  '0003_archives': () => import('../../migrations/postgres/0003_archives.ts'),
  '0004_small_columns': () => import('../../migrations/postgres/0004_small_columns.ts'),
  '0005_recent_fetches': () => import('../../migrations/postgres/0005_recent_fetches.ts'),
}

/** The number of the schema that a migration makes. */
export const migrationNumber = (name: string): number => Number.parseInt(name, 10)

/** The newest schema of some migrations. */
export const newestSchema = (migrations: Migrations): number =>
  Math.max(...Object.keys(migrations).map(migrationNumber))

/** Refuses a database with a newer schema than this program can migrate. */
export function refuseNewerSchema(database: string, version: number, supported: number): void {
  if (version > supported)
    throw new NewerSchemaError(
      `${database} has schema ${version}; this version of indicator-sync supports up to ${supported}.`,
      { hint: 'Update indicator-sync. The database was not changed.', code: 'newer-schema' },
    )
}

/** The error of a reader with an older schema. */
export const createOlderSchemaError = (database: string, version: number, current: number, hint: string): StoreError =>
  new StoreError(`${database} has the outdated schema ${version} (current: ${current}).`, {
    hint,
    code: 'older-schema',
  })

/** The state of a schema version. */
export const stateAt = (migrations: Migrations, exists: boolean, version: number): SchemaState => ({
  exists,
  version,
  known: newestSchema(migrations),
  migrations: Object.keys(migrations).map((name) => ({ name, applied: migrationNumber(name) <= version })),
})

/** Runs all pending migrations in one transaction, with a lock for which other processes wait. */
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
