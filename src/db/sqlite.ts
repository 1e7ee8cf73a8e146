import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import SQLite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type KyselyConfig,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import { StoreError } from '../base/errors.ts'
import type { Database } from '../tables/schema.ts'
import { PATIENCE_MS, patiently } from './patience.ts'
import { asStoreError } from './reasons.ts'

/** A connection on one file. `raw` is for what Kysely cannot say as fast: the hot upsert, backups, read-only queries. */
export interface Connection {
  readonly kysely: Kysely<Database>
  readonly raw: SQLite.Database
  /** What is checked at the beginning of every transaction, inside of it; it throws when nothing may be written. */
  guard(check: () => void): void
}

/** Kysely's driver with transactions that take the writer's lock at once: a plain `begin` fails when it first writes. */
class ImmediateDriver extends SqliteDriver {
  readonly #raw: SQLite.Database
  readonly #patienceMs: number
  readonly #check: () => void

  constructor(raw: SQLite.Database, patienceMs: number, check: () => void) {
    super({ database: raw })
    this.#raw = raw
    this.#patienceMs = patienceMs
    this.#check = check
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await patiently(() => connection.executeQuery(CompiledQuery.raw('begin immediate')), this.#patienceMs)
      this.#check()
    } catch (error) {
      if (this.#raw.inTransaction) this.#raw.exec('rollback')
      throw asStoreError(error, this.#raw.name)
    }
  }

  /** A full disk or a damaged file ends the transaction by itself; then there is nothing to undo, and the first error counts. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#raw.inTransaction) await super.rollbackTransaction(connection)
  }
}

/** SQLite can change its schema inside a transaction; Kysely's own adapter does not say so. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const dialect = (raw: SQLite.Database, patienceMs: number, check: () => void): Dialect => {
  const base = new SqliteDialect({ database: raw })
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver(raw, patienceMs, check),
    createIntrospector: (db) => base.createIntrospector(db),
    createQueryCompiler: () => base.createQueryCompiler(),
  }
}

/** How long SQLite itself waits, standing still: a writer hardly, for it waits in its own loop; a reader has nothing else to do. */
const BLOCK_MS = { writer: 100, reader: 5_000 }

/** Refuses what cannot be a database: a folder, a device, a pipe, for which opening would wait for ever. */
function refuseOthers(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isDirectory())
    throw new StoreError(`${file} is a folder.`, { hint: 'Name a file in it with --database.', code: 'folder' })
  if (stat && !stat.isFile())
    throw new StoreError(`${file} is not a file.`, { hint: 'Name a file with --database.', code: 'not-a-file' })
}

/** What the file system said on the way to a database, as ours. */
function asFileError(error: unknown, file: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return asStoreError(error, file)
  return new StoreError(`The database ${file} cannot be reached: ${error.message}.`, {
    hint: 'See that its folder can be made and written, or name a file elsewhere with --database.',
    code: 'no-folder',
    cause: error,
  })
}

/** Makes the folder of a new file; refuses what cannot be a database. */
export function makeRoom(file: string): void {
  try {
    refuseOthers(file)
    mkdirSync(dirname(file), { recursive: true })
  } catch (error) {
    throw asFileError(error, file)
  }
}

/** Opens a file for writing, or for reading only; a folder is made for a new file. */
export function connect(file: string, { readonly = false, patienceMs = PATIENCE_MS } = {}): Connection {
  try {
    if (!readonly) makeRoom(file)
    else {
      refuseOthers(file)
      if (!existsSync(file))
        throw new StoreError(`There is no database ${file} yet.`, {
          hint: 'Run `indicator-sync sync <job>` or `indicator-sync demo` first, or name another file with --database.',
          code: 'no-database',
        })
    }
    const raw = new SQLite(file, { readonly, timeout: readonly ? BLOCK_MS.reader : BLOCK_MS.writer })
    raw.pragma('foreign_keys = on')
    if (readonly) raw.pragma('query_only = on')
    let check = (): void => undefined
    const config: KyselyConfig = { dialect: dialect(raw, patienceMs, () => check()) }
    return {
      kysely: new Kysely<Database>(config),
      raw,
      guard(next) {
        check = next
      },
    }
  } catch (error) {
    throw asFileError(error, file)
  }
}

/**
 * Holds a file for this process alone, by an exclusive transaction in which nothing is ever written: the operating system
 * gives it back with the process, however that ends, and with nothing else. Answers how to give it back; throws
 * SQLite's own error while another one holds it.
 */
export function holdFile(file: string): () => void {
  const raw = new SQLite(file, { timeout: 0 })
  try {
    raw.exec('begin exclusive')
  } catch (error) {
    raw.close()
    throw error
  }
  return () => {
    raw.close()
  }
}

/** Takes a file for this process alone and gives it back at once; throws SQLite's own error while anybody has it open. */
export function holdAlone(file: string): void {
  const raw = new SQLite(file, { timeout: 0, fileMustExist: true })
  try {
    raw.pragma('locking_mode = exclusive')
    raw.exec('begin exclusive; rollback')
  } finally {
    raw.close()
  }
}
