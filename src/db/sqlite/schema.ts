import { existsSync, renameSync, rmSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import { migrateToLatest, newestSchema, refuseNewerSchema, SQLITE_MIGRATIONS, stateAt } from '../migrations.ts'
import type { SchemaState } from '../store.ts'
import { backUp } from './busy.ts'
import { type Connection, connect } from './connection.ts'
import { asStoreError } from './storeErrors.ts'

/** `INDS` in ASCII: marks files of this program. */
export const APPLICATION_ID = 0x494e_4453
/** The schema that this program supports. */
export const SCHEMA_VERSION = newestSchema(SQLITE_MIGRATIONS)

const pragma = (connection: Connection, name: string): number => connection.raw.pragma(name, { simple: true }) as number

/** Returns the schema version. Refuses a file of another program or a newer version. */
export function checkOwner(connection: Connection, file: string): number {
  const version = pragma(connection, 'user_version')
  const tables = connection.raw.prepare('select count(*) from sqlite_schema').pluck().get() as number
  if (tables > 0 && pragma(connection, 'application_id') !== APPLICATION_ID)
    throw new StoreError(`${file} belongs to another program.`, {
      hint: 'Pass another file with --database (`migrate`: --from). This one was not changed.',
      code: 'foreign-database',
    })
  refuseNewerSchema(file, version, SCHEMA_VERSION)
  return version
}

/**
 * Migrates the schema, safely also if another process does the same. Backs up a database with data first, to
 * `<file>.schema-<version>`.
 */
export async function migrate(connection: Connection, file: string): Promise<void> {
  const version = checkOwner(connection, file)
  if (version > 0 && version < SCHEMA_VERSION) await backUpSchema(connection, file, version)
  await migrateToLatest(connection.kysely, SQLITE_MIGRATIONS)
}

/** Copies a file to `<file>.schema-<version>`, unless another process migrates it and makes that copy meanwhile. */
async function backUpSchema({ raw }: Connection, file: string, version: number): Promise<void> {
  const copy = `${file}.schema-${version}`
  const unfinished = `${copy}.${process.pid}`
  try {
    await backUp(raw, unfinished)
    const copied = connect(unfinished, { readonly: true })
    let copiedVersion: number
    try {
      copiedVersion = pragma(copied, 'user_version')
    } finally {
      copied.raw.close()
    }
    if (copiedVersion === version) renameSync(unfinished, copy)
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(unfinished + end, { force: true })
  }
}

export function readSchemaState(file: string): SchemaState {
  if (!existsSync(file)) return stateAt(SQLITE_MIGRATIONS, false, 0)
  const connection = connect(file, { readonly: true })
  try {
    return stateAt(SQLITE_MIGRATIONS, true, checkOwner(connection, file))
  } catch (error) {
    throw asStoreError(error, file)
  } finally {
    connection.raw.close()
  }
}
