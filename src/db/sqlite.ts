import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { BusyError, StoreError } from '../base/errors.ts'
import type { Database } from '../tables/schema.ts'

/** A connection on one file. `raw` is for what Kysely cannot say as fast: the hot upsert, backups, read-only queries. */
export interface Connection {
  readonly kysely: Kysely<Database>
  readonly raw: SQLite.Database
}

/** How long a writer waits for another one before it gives up, in our own loop: SQLite's own waiting would stop every timer. */
export const PATIENCE_MS = 30_000
const STEP_MS = 25

const isBusy = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError &&
  (error.code.startsWith('SQLITE_BUSY') || error.code.startsWith('SQLITE_LOCKED'))

/** Kysely's driver with transactions that take the writer's lock at once: a plain `begin` fails when it first writes. */
class ImmediateDriver extends SqliteDriver {
  readonly #raw: SQLite.Database
  readonly #patienceMs: number

  constructor(raw: SQLite.Database, patienceMs: number) {
    super({ database: raw })
    this.#raw = raw
    this.#patienceMs = patienceMs
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = performance.now() + this.#patienceMs
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'))
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw asStoreError(error, this.#raw.name)
        await sleep(STEP_MS)
      }
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

const dialect = (raw: SQLite.Database, patienceMs: number): Dialect => {
  const base = new SqliteDialect({ database: raw })
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver(raw, patienceMs),
    createIntrospector: (db) => base.createIntrospector(db),
    createQueryCompiler: () => base.createQueryCompiler(),
  }
}

/** Says in our words what SQLite said in its own; passes on what is no error of SQLite. */
export function asStoreError(error: unknown, file?: string): unknown {
  if (!(error instanceof SQLite.SqliteError)) return error
  const where = file === undefined ? '' : ` ${file}`
  const [message, hint] = REASONS[error.code] ??
    REASONS[error.code.split('_').slice(0, 2).join('_')] ?? [
      `The database${where} refused: ${error.message}.`,
      'Run `indicator-sync doctor` to see the state of the file.',
    ]
  const Kind = isBusy(error) ? BusyError : StoreError
  return new Kind(message.replace('{}', where), { hint, code: error.code.toLowerCase(), cause: error })
}

const REASONS: Readonly<Record<string, readonly [string, string]>> = {
  SQLITE_BUSY: [
    'The database{} is locked by another program.',
    'Close the program that is writing to it and run the command again; nothing was lost.',
  ],
  SQLITE_FULL: [
    'The disk of the database{} is full, or that of temporary files.',
    'Make room, or name another folder for temporary files with SQLITE_TMPDIR, and run the command again; what was committed is kept.',
  ],
  SQLITE_IOERR_GETTEMPPATH: [
    'No folder for temporary files can be written, and{} holds more than fits into memory.',
    'Name one with SQLITE_TMPDIR and run the command again.',
  ],
  SQLITE_READONLY: [
    'The database{} cannot be written.',
    'Give this user the right to write the file and its folder: a reader too writes beside it. Or read a copy made by `indicator-sync publish`.',
  ],
  SQLITE_CANTOPEN: ['The database{} cannot be opened.', 'See that its folder exists and may be read and written.'],
  SQLITE_NOTADB: ['The file{} is no SQLite database.', 'Name another file with --database; this one was not touched.'],
  SQLITE_CORRUPT: [
    'The database{} is damaged.',
    'Restore a copy, or save what can be read with: sqlite3 FILE .recover',
  ],
  SQLITE_IOERR_SHMSIZE: [
    'The disk of the database{} is full: even a reader needs 32 kB beside it.',
    'Make room and run the command again; what was committed is kept.',
  ],
  SQLITE_IOERR: ['The disk of the database{} failed.', 'Check the disk; what was committed before is kept.'],
}

/** Opens a file for writing, or for reading only; a folder is made for a new file. */
export function connect(file: string, { readonly = false, patienceMs = PATIENCE_MS } = {}): Connection {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
      throw new StoreError(`${file} is a folder.`, { hint: 'Name a file in it with --database.', code: 'folder' })
    if (!readonly) mkdirSync(dirname(file), { recursive: true })
    else if (!existsSync(file))
      throw new StoreError(`There is no database ${file} yet.`, {
        hint: 'Run `indicator-sync sync <job>` or `indicator-sync demo` first, or name another file with --database.',
        code: 'no-database',
      })
    const raw = new SQLite(file, { readonly, timeout: 100 })
    raw.pragma('foreign_keys = on')
    if (readonly) raw.pragma('query_only = on')
    const config: KyselyConfig = { dialect: dialect(raw, patienceMs) }
    return { kysely: new Kysely<Database>(config), raw }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new StoreError(`The folder of ${file} cannot be made: ${error.message}.`, {
        hint: 'Make it, or name a file elsewhere with --database.',
        code: 'no-folder',
        cause: error,
      })
    throw asStoreError(error, file)
  }
}
