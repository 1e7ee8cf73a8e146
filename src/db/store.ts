import type { Kysely, Transaction } from 'kysely'
import type { Coordination } from './coordination.ts'
import type { Copying } from './copying.ts'
import type { Awaitable, Engine } from './engine.ts'
import type { Database, TableName } from './tables/schema.ts'

/** A database that is open for reading. */
export interface Reader {
  /** Its name for messages: a path, or an address without its password. */
  readonly file: string
  /** Its name to open it again, which may contain a password. */
  readonly address: string
  /** The version of its schema, which is that of this program. */
  readonly schema: number
  /** Typed queries on every table and view. */
  readonly kysely: Kysely<Database>
  /** @internal */
  readonly engine: Engine
  /** Coordinates the machines that share a database; null for a file. @internal */
  readonly coordination: Coordination | null
  /** Copies a file; null for a server. @internal */
  readonly copying: Copying | null
  /** Closes the database. */
  close(): Promise<void>
}

/** A database that is open for writing. */
export interface Store extends Reader {
  /** Runs `work` in an immediate transaction. Never wait for the network inside. */
  write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T>
  /**
   * Replaces the rows of some tables with those of a rebuilt database, in one transaction. Equal rows stay, and so do tables of
   * other programs.
   * @internal
   */
  replaceTables(rebuilt: Reader, tables: readonly TableName[]): Promise<void>
  /** Updates the statistics for the query planner, and merges the write-ahead log if readers permit. */
  tidy(): Awaitable<void>
  /** Returns the space of deleted rows to the file system. Others cannot write meanwhile. */
  shrink(): Awaitable<void>
  /** Throws if nothing may be written any more: the file was replaced, or another writer took over. */
  check(): Awaitable<void>
  /** Sets the fence number of the writer: writes fail if there is a later one. Null removes it. @internal */
  fence(number: number | null): void
}

/**
 * The durability of a commit: `normal` survives the death of the process, `full` also a loss of power. `none` survives nothing
 * and checks no references: for a file that is deleted unless it is completed.
 */
export type Durability = 'normal' | 'full' | 'none'

/** How long to wait for another program that has locked the database. */
export interface LockTimeout {
  readonly busyTimeoutMs?: number
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
}

/** Options of writing a database. */
export interface StoreOptions extends LockTimeout {
  /** The durability of commits. Default: `normal`. */
  readonly durability?: Durability
}

/** Options of this program only: a sync into a published copy would write into temporary tables. */
export interface InternalStoreOptions extends StoreOptions {
  /** Whether a published copy may be opened. */
  readonly allowsCopies?: boolean
  /** Whether an unfinished copy of a file may be opened, to continue it. */
  readonly allowsUnfinished?: boolean
  /** Bytes to which the write-ahead log may grow. */
  readonly logLimit?: number
}

/** The state of a database's schema. */
export interface SchemaState {
  readonly exists: boolean
  readonly version: number
  /** The version that this program supports. */
  readonly known: number
  /** The supported migrations, and whether each was applied. */
  readonly migrations: readonly { readonly name: string; readonly applied: boolean }[]
}

/** The counts of a copy from another database. */
export interface TakeOverResult {
  readonly tables: number
  /** New rows. */
  readonly rows: number
}

/** The operations of a kind of database without an open one. Only `db/open.ts` and `db/lock.ts` use it. */
export interface Backend {
  openReader(file: string): Reader
  openStore(file: string, options?: InternalStoreOptions): Promise<Store>
  /** Acquires the writer's lock, then opens the database. Release the lock after closing the store. Throws BusyError, naming the holder. */
  openLocked(
    file: string,
    options: InternalStoreOptions,
  ): Promise<{ readonly store: Store; readonly release: () => Awaitable<void> }>
  /** Whether a process has the writer's lock; undefined if that cannot be found out. */
  isLocked(file: string): Awaitable<boolean | undefined>
  readSchemaState(file: string): Awaitable<SchemaState>
  /** Copies every table of another database into this one, which is empty or an unfinished copy. */
  takeOver(source: Reader, file: string, onProgress: (table: string, rows: number) => void): Promise<TakeOverResult>
  /** A text that changes with every write, and sometimes without one. */
  readStamp(reader: Reader): Awaitable<string>
}
