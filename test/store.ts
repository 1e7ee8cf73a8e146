import * as locks from '../src/db/lock.ts'
import * as db from '../src/db/open.ts'
import type { SqliteReader, SqliteStore } from '../src/db/sqlite/open.ts'
import type { StoreOptions } from '../src/db/store.ts'

/*
 * Databases for tests, with synchronous queries like SQLite. On PostgreSQL a thread executes these (postgres/suites).
 */

export type Reader = SqliteReader
export type Store = SqliteStore

/** Opens a database for reading. */
export const openReader = (file: string): Reader => db.openReader(file) as Reader

/** Opens a database for writing. */
export const openStore = async (file: string, options?: StoreOptions): Promise<Store> =>
  (await db.openStore(file, options)) as Store

/** Opens a database as its only writer. */
export const openWriter = async (file: string, command: string, options?: StoreOptions): Promise<Store> =>
  (await locks.openWriter(file, command, options)) as Store
