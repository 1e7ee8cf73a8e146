import { BusyError, StoreError } from '../../util/errors.ts'
import { olderSchema } from '../migrations.ts'
import { refreshZones, writeDictionary } from '../queries/referenceTables.ts'
import type { Durability, LockTimeout, Reader, Store, StoreOptions } from '../store.ts'
import { retryWhileBusy } from './busy.ts'
import { type Connection, connect } from './connection.ts'
import { addStandIns, checkWhole, isPartial } from './copies.ts'
import { createCopying } from './copying.ts'
import { createEngine } from './engine.ts'
import { type Watch, watchFile } from './file/sameFile.ts'
import { createLogBound, LOG_LIMIT, watchLength } from './file/wal.ts'
import { replaceTables } from './operations/replaceTables.ts'
import { APPLICATION_ID, checkOwner, migrate, SCHEMA_VERSION } from './schema.ts'
import { asStoreError, isBusy, withStoreErrors } from './storeErrors.ts'

/** The values of a statement's parameters, by place or by name. */
export type BoundValues = readonly unknown[] | Readonly<Record<string, unknown>>

/**
 * A file that is read; it also answers statements directly. The program itself uses Kysely and the engine; tests and benchmarks
 * use this.
 */
export interface SqliteReader extends Reader {
  /** The first column of the first row of a query, or undefined; prepared once a text. */
  get(sql: string, parameters?: readonly unknown[]): unknown
  /** All rows of a query; prepared once a text. */
  all(sql: string, parameters?: BoundValues): unknown[]
  /** The rows of a query one by one, each as a list of its columns. */
  rows(sql: string, parameters?: BoundValues): IterableIterator<unknown[]>
  /** The rows of a query one by one, each as an object. */
  each(sql: string, parameters?: readonly unknown[]): IterableIterator<unknown>
}

/** The same of a file that is written. */
export interface SqliteStore extends SqliteReader, Store {
  /** Runs a statement with positional parameters on this connection and answers how many rows it changed; prepared once a text. */
  run(sql: string, parameters: readonly unknown[]): number
}

/** Opens a database for writing: made when absent, migrated when older, refused when newer or foreign. */
export async function openStore(
  file: string,
  { durability = 'normal', copies = false, logLimit = LOG_LIMIT, encoding, ...lockTimeout }: StoreOptions = {},
): Promise<SqliteStore> {
  const connection = connect(file, lockTimeout)
  const reader = createReader(connection, file)
  const watch = watchFile(file)
  connection.guard(watch.check)
  try {
    if (encoding !== undefined) connection.raw.pragma(`encoding = '${encoding}'`)
    await bringUpToDate(connection, reader, { durability, copies, lockTimeout })
    return createStore(connection, reader, watch, logLimit)
  } catch (error) {
    await reader.close()
    throw asStoreError(error, file)
  }
}

/** Makes or migrates a file, with all that its views need. */
async function bringUpToDate(
  connection: Connection,
  { file, kysely, engine }: SqliteReader,
  {
    durability,
    copies,
    lockTimeout,
  }: { readonly durability: Durability; readonly copies: boolean; readonly lockTimeout: LockTimeout },
): Promise<void> {
  const { raw } = connection
  await retryWhileBusy(async () => (copies ? addStandIns(connection) : checkWhole(connection, file)), lockTimeout)
  await retryWhileBusy(() => prepareFile(connection, file, durability), lockTimeout)
  const version = checkOwner(connection, file)
  if (version < SCHEMA_VERSION) await retryWhileBusy(() => migrate(connection, file), lockTimeout)
  await retryWhileBusy(() => refreshZones(kysely, engine), lockTimeout)
  // A process that died after the last migration left it empty.
  const described = raw.prepare('select 1 from data_dictionary limit 1').get() !== undefined
  if (version < SCHEMA_VERSION || !described) await writeDictionary(kysely)
}

/** What a file that is up to date offers to a writer. */
function createStore(connection: Connection, reader: SqliteReader, watch: Watch, logLimit: number): SqliteStore {
  const { raw, kysely } = connection
  const { file } = reader
  const latest = raw.prepare(`select number from _fence where name = 'writer'`).pluck()
  const length = watchLength(connection, file)
  const boundLog = createLogBound(connection, file, logLimit, length.forget)
  let ours: number | null = null
  let invalid = false
  const check = (): void => {
    try {
      watch.check()
      length.check()
      if (ours !== null && latest.get() !== ours) throw takenOver(file)
    } catch (error) {
      invalid = true
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
      if (invalid) return
      // Here too: what is lost after the last transaction is not folded back any more.
      check()
      try {
        raw.pragma('optimize')
        raw.pragma('wal_checkpoint(truncate)')
        length.forget()
      } catch (error) {
        // The next one tidies.
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
    fenced: () => ours !== null,
    async close() {
      // The log stays where it is when SQLite finds the file gone: emptied into it, it cannot be taken for that of the next one.
      try {
        if (invalid && watch.moved()) raw.pragma('wal_checkpoint(truncate)')
      } finally {
        await reader.close()
      }
    },
  }
  return {
    ...reader,
    ...withStoreErrors(writing, file),
    run: (sql, parameters) => connection.prepare(sql).run(parameters as unknown[]).changes,
  }
}

const takenOver = (file: string): BusyError =>
  new BusyError(`Another process is now writing to ${file}; this one has stopped.`, {
    hint: `Never delete ${file}.lock while a command runs. Run the command again when the other process has finished.`,
    code: 'taken-over',
  })

/** Sets how a file is written, before anything of it is; refuses one that is not ours. */
function prepareFile(connection: Connection, file: string, durability: Durability): void {
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
  // Pages that change with every reply are folded back once in 32 MiB, not once in 4.
  raw.pragma('wal_autocheckpoint = 8192')
  // Written first: if this process dies while it makes the first table, the file must still be recognized as ours.
  if (version === 0) raw.pragma(`application_id = ${APPLICATION_ID}`)
}

/** What a database offers to readers: statements that are prepared once a text. */
function createReader(connection: Connection, file: string): SqliteReader {
  const { kysely, raw, prepare } = connection
  return {
    file,
    address: file,
    schema: SCHEMA_VERSION,
    kysely,
    engine: withStoreErrors(createEngine(connection, file), file),
    coordination: null,
    copying: withStoreErrors(createCopying(connection), file),
    get: (sql: string, parameters: readonly unknown[] = []): unknown =>
      Object.values((prepare(sql).get(parameters as unknown[]) as object | undefined) ?? {})[0],
    all: (sql: string, parameters: BoundValues = []): unknown[] => prepare(sql).all(parameters as unknown[]),
    rows: (sql: string, parameters: BoundValues = []) =>
      raw
        .prepare(sql)
        .raw()
        .iterate(parameters as unknown[]) as IterableIterator<unknown[]>,
    each: (sql: string, parameters: readonly unknown[] = []) => raw.prepare(sql).iterate(parameters as unknown[]),
    // Kysely closes only what it has used itself.
    async close() {
      await kysely.destroy()
      if (raw.open) raw.close()
    },
  }
}

/** Opens a database for reading only; refused when it is absent, foreign, newer or not yet migrated. */
export function openReader(file: string): SqliteReader {
  const connection = connect(file, { readonly: true })
  try {
    const version = checkOwner(connection, file)
    if (version < SCHEMA_VERSION) {
      const hint = isPartial(connection)
        ? 'Publish it again with this version.'
        : `Run \`indicator-sync migrate\`. It first copies the file to ${file}.schema-${version}.`
      throw olderSchema(file, version, SCHEMA_VERSION, hint)
    }
    addStandIns(connection)
    return createReader(connection, file)
  } catch (error) {
    connection.raw.close()
    throw asStoreError(error, file)
  }
}
