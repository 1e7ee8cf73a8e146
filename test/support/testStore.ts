import * as locks from '../../src/db/lock.ts'
import * as db from '../../src/db/open.ts'
import type { SqliteReader } from '../../src/db/sqlite/open.ts'
import type {
  Reader as DatabaseReader,
  Store as DatabaseStore,
  InternalStoreOptions,
  StoreOptions,
} from '../../src/db/store.ts'

/*
 * Databases for tests, with synchronous queries like SQLite. On PostgreSQL a thread executes these (postgres/suites).
 */

/** The values of a statement's parameters, by position or name. */
export type BoundValues = readonly unknown[] | Readonly<Record<string, unknown>>

/** Statements that run synchronously. */
interface Statements {
  /** The first column of the first row of a query, or undefined. */
  get(sql: string, parameters?: readonly unknown[]): unknown
  /** All rows of a query. */
  all(sql: string, parameters?: BoundValues): unknown[]
  /** The rows of a query one by one, each as a list of its columns. */
  rows(sql: string, parameters?: BoundValues): IterableIterator<unknown[]>
  /** The rows of a query one by one, each as an object. */
  each(sql: string, parameters?: readonly unknown[]): IterableIterator<unknown>
}

export interface Reader extends DatabaseReader, Statements {}

export interface Store extends DatabaseStore, Statements {
  /** Runs a statement, and returns how many rows it changed. */
  run(sql: string, parameters: readonly unknown[]): number
}

type WithStatements<T> = T & Pick<Store, keyof Statements | 'run'>

function withStatements<T extends DatabaseReader>(reader: T): WithStatements<T> {
  // In the suites for PostgreSQL, readers have the statements already.
  if (!('connection' in reader)) return reader as WithStatements<T>
  const { raw, prepare } = (reader as unknown as SqliteReader).connection
  return {
    ...reader,
    get: (sql, parameters = []) =>
      Object.values((prepare(sql).get(parameters as unknown[]) as object | undefined) ?? {})[0],
    all: (sql, parameters = []) => prepare(sql).all(parameters as unknown[]),
    rows: (sql, parameters = []) =>
      raw
        .prepare(sql)
        .raw()
        .iterate(parameters as unknown[]) as IterableIterator<unknown[]>,
    each: (sql, parameters = []) => raw.prepare(sql).iterate(parameters as unknown[]),
    run: (sql, parameters) => prepare(sql).run(parameters as unknown[]).changes,
  }
}

/** Opens a database for reading. */
export const openReader = (file: string): Reader => withStatements(db.openReader(file))

/** Does not wait for the disk, because the power fails only in `npm run test:power`. */
function withoutSyncs(store: DatabaseStore): DatabaseStore {
  if ('connection' in store) (store as unknown as SqliteReader).connection.raw.pragma('synchronous = off')
  return store
}

/** Opens a database for writing. */
export const openStore = async (file: string, options?: InternalStoreOptions): Promise<Store> =>
  withStatements(withoutSyncs(await db.openStore(file, options)))

/** Opens a database as its only writer. */
export const openWriter = async (file: string, command: string, options?: StoreOptions): Promise<Store> =>
  withStatements(withoutSyncs(await locks.openWriter(file, command, options)))
