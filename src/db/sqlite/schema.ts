import { existsSync } from 'node:fs'
import { NewerSchemaError, StoreError } from '../../base/errors.ts'
import type { SchemaState } from '../store.ts'
import { type Connection, connect } from './connection.ts'
import { MIGRATIONS, readMigrations } from './migrations.ts'
import { asStoreError } from './storeErrors.ts'

/** `INDS` in ASCII: how the file is known to be ours. */
export const APPLICATION_ID = 0x494e_4453
/** The number of a migration, as its name begins. */
const numberOf = (name: string): number => Number.parseInt(name, 10)
/** The schema that this program speaks. */
export const SCHEMA_VERSION = Math.max(...Object.keys(MIGRATIONS).map(numberOf))

const pragma = (connection: Connection, name: string): number => connection.raw.pragma(name, { simple: true }) as number

/** Refuses a file of another program and one of a newer version of this one, before anything of it is touched. */
export function checkOwner(connection: Connection, file: string): number {
  const version = pragma(connection, 'user_version')
  const tables = connection.raw.prepare('select count(*) from sqlite_schema').pluck().get() as number
  if (tables > 0 && pragma(connection, 'application_id') !== APPLICATION_ID)
    throw new StoreError(`${file} is a database of another program.`, {
      hint: 'Name another file (--database, or --from of `migrate`); this one was not touched.',
      code: 'foreign-database',
    })
  if (version > SCHEMA_VERSION)
    throw new NewerSchemaError(
      `${file} has schema ${version}; this version of indicator-sync knows up to ${SCHEMA_VERSION}.`,
      {
        hint: 'Update indicator-sync; the file was not touched.',
        code: 'newer-schema',
      },
    )
  return version
}

/** Brings the schema up to date: all missing migrations in one transaction, safe against another process that does the same. */
export async function migrate(connection: Connection): Promise<void> {
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db: connection.kysely,
    provider: { getMigrations: readMigrations },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** The schema of a file, and the migrations that this program knows. */
export function schemaState(file: string): SchemaState {
  const state = (exists: boolean, version: number): SchemaState => ({
    exists,
    version,
    known: SCHEMA_VERSION,
    migrations: Object.keys(MIGRATIONS).map((name) => ({ name, applied: numberOf(name) <= version })),
  })
  if (!existsSync(file)) return state(false, 0)
  const connection = connect(file, { readonly: true })
  try {
    return state(true, checkOwner(connection, file))
  } catch (error) {
    throw asStoreError(error, file)
  } finally {
    connection.raw.close()
  }
}
