import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import SQLite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type PrimitiveValueListNode,
  type QueryResult,
  SqliteAdapter,
  SqliteDialect,
  SqliteQueryCompiler,
} from 'kysely'
import { InputError, StoreError } from '../../util/errors.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { runDirectly, type StatementResult } from '../prepared.ts'
import type { LockTimeout } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { retryWhileBusy } from './busy.ts'
import { asStoreError } from './storeErrors.ts'

/** A connection to a file. `raw` is for the hot path, backups and read-only queries. */
export interface Connection {
  readonly kysely: Kysely<Database>
  readonly raw: SQLite.Database
  /** Prepares each statement once. */
  readonly prepare: (sql: string) => SQLite.Statement
  /** Sets a check that runs at the start of every transaction, and throws if nothing may be written. */
  guard(check: () => void): void
}

export type Prepare = Connection['prepare']

/** Maximum number of prepared statements. */
const MAX_PREPARED = 500

/** Prepares each statement once. */
function createPreparer(raw: SQLite.Database): (sql: string) => SQLite.Statement {
  const prepared = new Map<string, SQLite.Statement>()
  return (sql) => {
    let statement = prepared.get(sql)
    if (!statement) {
      if (prepared.size >= MAX_PREPARED) prepared.clear()
      statement = raw.prepare(sql)
      prepared.set(sql, statement)
    }
    return statement
  }
}

/** Runs statements synchronously, each prepared once. */
const createRunner =
  (file: string, prepare: (sql: string) => SQLite.Statement) =>
  (sql: string, parameters: readonly unknown[]): StatementResult & { readonly insertId?: number | bigint } => {
    try {
      const statement = prepare(sql)
      if (statement.reader) return { rows: statement.all(parameters), changes: 0 }
      const { changes, lastInsertRowid } = statement.run(parameters)
      return { rows: [], changes, insertId: lastInsertRowid }
    } catch (error) {
      throw asStoreError(error, file)
    }
  }

/** Runs Kysely's queries on the one connection of a file. */
function createQueries(raw: SQLite.Database, run: ReturnType<typeof createRunner>): DatabaseConnection {
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changes, insertId } = run(sql, parameters)
      if (insertId === undefined) return { rows: rows as R[] }
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(insertId) }
    },
    // A separate statement, because nothing else may run it while its rows are read.
    async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      try {
        for (const row of raw.prepare(sql).iterate(parameters)) yield { rows: [row as R] }
      } catch (error) {
        throw asStoreError(error, raw.name)
      }
    },
  }
}

/**
 * A driver whose transactions acquire the write lock immediately: a plain `begin` fails at its first write. Kysely gives the
 * only connection to one transaction after the other.
 */
function createDriver(
  raw: SQLite.Database,
  connection: DatabaseConnection,
  lockTimeout: LockTimeout,
  check: () => void,
): Driver {
  return {
    init: async () => undefined,
    acquireConnection: async () => connection,
    async beginTransaction() {
      try {
        await retryWhileBusy(() => connection.executeQuery(CompiledQuery.raw('begin immediate')), lockTimeout)
        check()
      } catch (error) {
        try {
          if (raw.inTransaction) raw.exec('rollback')
        } catch {
          // The first error counts.
        }
        throw asStoreError(error, raw.name)
      }
    },
    commitTransaction: async () => void (await connection.executeQuery(CompiledQuery.raw('commit'))),
    // A full disk or a damaged file ends the transaction automatically. Then the first error counts.
    async rollbackTransaction() {
      if (raw.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'))
    },
    releaseConnection: async () => undefined,
    destroy: async () => void raw.close(),
  }
}

/**
 * SQLite can change its schema inside a transaction, contrary to Kysely's adapter. Readers may run any number of queries
 * concurrently.
 */
const openAdapter = (isReadonly: boolean): SqliteAdapter =>
  Object.defineProperties(new SqliteAdapter(), {
    supportsTransactionalDdl: { value: true },
    supportsMultipleConnections: { value: isReadonly },
  })

/**
 * Compiles the list of an `in` or `not in` to a single parameter, so that lists of all lengths share a prepared statement.
 */
class ListCompiler extends SqliteQueryCompiler {
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    const isList = this.parentNode?.kind === 'BinaryOperationNode'
    // The placeholders of a query that is being prepared are not plain values.
    if (isList && node.values.every((value) => typeof value === 'number' || typeof value === 'string')) {
      this.append('(select value from json_each(')
      this.appendValue(JSON.stringify(node.values))
      this.append('))')
    } else super.visitPrimitiveValueList(node)
  }
}

function createDialect(raw: SQLite.Database, driver: Driver, adapter: SqliteAdapter): Dialect {
  const base = new SqliteDialect({ database: raw })
  return {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createIntrospector: (db) => base.createIntrospector(db),
    createQueryCompiler: () => new ListCompiler(),
  }
}

/**
 * Milliseconds that SQLite waits, which blocks the process. Writers wait in their own loop.
 */
const BLOCK_MS = { writer: 100, reader: 5_000 }

/** Refuses a folder, a device, and a pipe, whose opening would never end. */
function requireRegularFile(file: string): void {
  // The driver would open the trimmed path: another file, or none.
  if (file !== file.trim())
    throw new StoreError(`The database path ${JSON.stringify(file)} begins or ends with white space.`, {
      hint: 'Rename the file, or pass another one with --database.',
      code: 'spaces',
    })
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat?.isDirectory())
    throw new StoreError(`${file} must be a regular file, not a folder.`, {
      hint: 'Pass a file in it with --database.',
      code: 'folder',
    })
  if (stat && !stat.isFile())
    throw new StoreError(`${file} must be a regular file.`, {
      hint: 'Pass another file with --database.',
      code: 'not-a-file',
    })
}

/** Turns an error of the file system into a StoreError. */
function asFileError(error: unknown, file: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return asStoreError(error, file)
  return new StoreError(`Cannot open the database ${file}: ${error.message}.`, {
    hint: 'Check that its folder is writable, or pass another file with --database.',
    code: 'no-folder',
    cause: error,
  })
}

/** Makes the folder of a new file. Refuses anything but a regular file. */
export function makeDatabaseFolder(file: string): void {
  try {
    requireRegularFile(file)
    makeFolder(dirname(file))
  } catch (error) {
    throw asFileError(error instanceof InputError ? error.cause : error, file)
  }
}

/** Opens a file for reading, or for writing with a folder for a new file. */
export function connect(
  file: string,
  { readonly = false, ...lockTimeout }: LockTimeout & { readonly readonly?: boolean } = {},
): Connection {
  try {
    if (!readonly) makeDatabaseFolder(file)
    else {
      requireRegularFile(file)
      if (!existsSync(file))
        throw new StoreError(`The database ${file} does not exist yet.`, {
          hint: 'Run `indicator-sync sync <job>` or `indicator-sync demo` first, or pass another file with --database.',
          code: 'no-database',
        })
    }
    const raw = new SQLite(file, { readonly, timeout: readonly ? BLOCK_MS.reader : BLOCK_MS.writer })
    raw.pragma('foreign_keys = on')
    if (readonly) raw.pragma('query_only = on')
    let check = (): void => undefined
    const prepare = createPreparer(raw)
    const run = createRunner(file, prepare)
    const driver = createDriver(raw, createQueries(raw, run), lockTimeout, () => check())
    const adapter = openAdapter(readonly)
    runDirectly(adapter, run)
    return {
      kysely: new Kysely<Database>({ dialect: createDialect(raw, driver, adapter) }),
      raw,
      prepare,
      guard(next) {
        check = next
      },
    }
  } catch (error) {
    throw asFileError(error, file)
  }
}

/** A lock file that is a link: the lock would be on the target of the link. */
export class LinkedLockError extends StoreError {}

function refuseLink(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new LinkedLockError(`${file} is a link.`, { hint: 'Remove it.', code: 'lock-link' })
}

/**
 * Locks a file by an exclusive transaction without writes, which the operating system ends with the process. Returns how to
 * release it. Throws SQLite's error if another process has it.
 */
export function lockExclusively(file: string): () => void {
  refuseLink(file)
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

/** Throws SQLite's error if another process has a file open. */
export function checkNotInUse(file: string): void {
  const raw = new SQLite(file, { timeout: 0, fileMustExist: true })
  try {
    raw.pragma('locking_mode = exclusive')
    raw.exec('begin exclusive; rollback')
  } finally {
    raw.close()
  }
}
