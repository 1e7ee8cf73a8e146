import { BusyError, StoreError } from '../../util/errors.ts'
import { createOlderSchemaError } from '../migrations.ts'
import { refreshZones, writeDictionary } from '../queries/referenceTables.ts'
import type { Durability, InternalStoreOptions, LockTimeout, Reader, Store } from '../store.ts'
import { retryWhileBusy } from './busy.ts'
import { type Connection, connect } from './connection.ts'
import { addMissingTables, isPartial, requireAllTables } from './copies.ts'
import { createCopying } from './copying.ts'
import { createEngine } from './engine.ts'
import { type Watch, watchFile } from './file/sameFile.ts'
import { createLogBound, LOG_LIMIT_BYTES, watchLength } from './file/wal.ts'
import { replaceTables } from './operations/replaceTables.ts'
import { APPLICATION_ID, checkOwner, migrate, SCHEMA_VERSION } from './schema.ts'
import { asStoreError, isBusy, withStoreErrors } from './storeErrors.ts'

/** An open file, with its connection for tests. */
export interface SqliteReader extends Reader {
  readonly connection: Connection
}

export interface SqliteStore extends SqliteReader, Store {}

export async function openStore(
  file: string,
  {
    durability = 'normal',
    allowsCopies = false,
    logLimit = LOG_LIMIT_BYTES,
    ...lockTimeout
  }: InternalStoreOptions = {},
): Promise<SqliteStore> {
  const connection = connect(file, lockTimeout)
  const reader = createReader(connection, file)
  const watch = watchFile(file)
  connection.guard(watch.check)
  try {
    await updateSchema(connection, reader, { durability, allowsCopies, lockTimeout })
    return createStore(connection, reader, watch, logLimit)
  } catch (error) {
    await reader.close()
    throw asStoreError(error, file)
  }
}

/** Creates or migrates a file, with the reference tables of its views. */
async function updateSchema(
  connection: Connection,
  { file, kysely }: SqliteReader,
  {
    durability,
    allowsCopies,
    lockTimeout,
  }: { readonly durability: Durability; readonly allowsCopies: boolean; readonly lockTimeout: LockTimeout },
): Promise<void> {
  const { raw } = connection
  await retryWhileBusy(
    async () => (allowsCopies ? addMissingTables(connection) : requireAllTables(connection, file)),
    lockTimeout,
  )
  await retryWhileBusy(() => setPragmas(connection, file, durability), lockTimeout)
  const version = checkOwner(connection, file)
  if (version < SCHEMA_VERSION) await retryWhileBusy(() => migrate(connection, file), lockTimeout)
  await retryWhileBusy(() => refreshZones(kysely), lockTimeout)
  // A process that died after the migration left it empty.
  const hasDictionary = raw.prepare('select 1 from data_dictionary limit 1').get() !== undefined
  if (version < SCHEMA_VERSION || !hasDictionary) await writeDictionary(kysely)
}

function createStore(connection: Connection, reader: SqliteReader, watch: Watch, logLimit: number): SqliteStore {
  const { raw, kysely } = connection
  const { file } = reader
  const latest = raw.prepare(`select number from _fence where name = 'writer'`).pluck()
  const length = watchLength(connection, file)
  const boundLog = createLogBound(connection, file, logLimit, length.forget)
  let ours: number | null = null
  let isInvalid = false
  const check = (): void => {
    try {
      watch.check()
      length.check()
      if (ours !== null && latest.get() !== ours) throw createTakenOverError(file)
    } catch (error) {
      isInvalid = true
      throw error
    }
  }
  connection.guard(check)
  const writing: Omit<Store, keyof Reader> & Pick<Store, 'close'> = {
    async write(work) {
      const result = await kysely.transaction().execute(work)
      await boundLog()
      return result
    },
    replaceTables: (rebuilt, tables) => replaceTables(connection, file, rebuilt.file, tables, writing.write),
    tidy() {
      if (isInvalid) return
      check()
      try {
        raw.pragma('optimize')
        raw.pragma('wal_checkpoint(truncate)')
        length.forget()
      } catch (error) {
        // The next writer does it.
        length.forget()
        if (!isBusy(error)) throw error
      }
    },
    shrink() {
      check()
      raw.exec('vacuum')
      return writing.tidy()
    },
    check,
    fence(number) {
      ours = number
    },
    async close() {
      // SQLite leaves the log of a deleted file, where it would belong to the next file of that name.
      try {
        if (isInvalid && watch.hasMoved()) raw.pragma('wal_checkpoint(truncate)')
      } finally {
        await reader.close()
      }
    },
  }
  return { ...reader, ...withStoreErrors(writing, file) }
}

const createTakenOverError = (file: string): BusyError =>
  new BusyError(`Another process is now writing to ${file}; this one has stopped.`, {
    hint: `Never delete ${file}.lock while a command runs. Run the command again when the other process has finished.`,
    code: 'taken-over',
  })

/** Sets how a file is written, before its first table. Refuses a file of another program. */
function setPragmas(connection: Connection, file: string, durability: Durability): void {
  const { raw } = connection
  const version = checkOwner(connection, file)
  const mode = raw.pragma(`journal_mode = ${durability === 'none' ? 'off' : 'wal'}`, { simple: true })
  if (durability !== 'none' && mode !== 'wal' && mode !== 'memory')
    throw new StoreError(`${file} is on a file system that does not support a write-ahead log.`, {
      hint: 'Move it from the network file system to a local disk, and pass the new path with --database.',
      code: 'no-log',
    })
  raw.pragma(`synchronous = ${durability === 'none' ? 'off' : durability}`)
  raw.pragma(`foreign_keys = ${durability === 'none' ? 'off' : 'on'}`)
  raw.pragma('cache_size = -4096')
  // Pages that change with every reply are merged once in 32 MiB, not once in 4.
  raw.pragma('wal_autocheckpoint = 8192')
  // Marks the file first, so that it is recognized even if this process dies before the first table.
  if (version === 0) raw.pragma(`application_id = ${APPLICATION_ID}`)
}

function createReader(connection: Connection, file: string): SqliteReader {
  const { kysely, raw } = connection
  return {
    connection,
    file,
    address: file,
    schema: SCHEMA_VERSION,
    kysely,
    engine: withStoreErrors(createEngine(connection, file), file),
    coordination: null,
    copying: withStoreErrors(createCopying(connection), file),
    // Kysely closes only a connection that it has used.
    async close() {
      await kysely.destroy()
      if (raw.open) raw.close()
    },
  }
}

export function openReader(file: string): SqliteReader {
  const connection = connect(file, { readonly: true })
  try {
    const version = checkOwner(connection, file)
    if (version < SCHEMA_VERSION) {
      const hint = isPartial(connection)
        ? 'Publish it again with this version.'
        : `Run \`indicator-sync migrate\`. It first copies the file to ${file}.schema-${version}.`
      throw createOlderSchemaError(file, version, SCHEMA_VERSION, hint)
    }
    addMissingTables(connection)
    return createReader(connection, file)
  } catch (error) {
    connection.raw.close()
    throw asStoreError(error, file)
  }
}
