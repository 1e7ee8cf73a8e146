import type { Kysely, Transaction } from 'kysely'
import type { Coordination } from './coordination.ts'
import type { Copying } from './copying.ts'
import type { Awaitable, Engine } from './engine.ts'
import type { Database, TableName } from './tables/schema.ts'

/** An open database that is read. */
export interface Reader {
  /** Its name for messages: a path, or an address without its password. */
  readonly file: string
  /** Its name to open it again, which may contain a password. */
  readonly address: string
  /** The version of its schema, which is the one of this program. */
  readonly schema: number
  /** Typed queries on every table and view. */
  readonly kysely: Kysely<Database>
  /** @internal */
  readonly engine: Engine
  /** Coordinates the machines that share a database; null for a file. @internal */
  readonly coordination: Coordination | null
  /** How a file is copied; null of a database on a server. @internal */
  readonly copying: Copying | null
  /** Closes the database. */
  close(): Promise<void>
}

/** An open database, ready to be written: its schema is this program's. */
export interface Store extends Reader {
  /** One immediate transaction: everything that `work` writes is there afterwards, or nothing of it. Never wait for the network inside. */
  write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T>
  /**
   * Replaces the rows of some tables with those of a database that was rebuilt from this one, in one transaction: readers see
   * the old rows or the new ones. Equal rows stay as they are, and so does what other programs added.
   * @internal
   */
  replaceTables(rebuilt: Reader, tables: readonly TableName[]): Promise<void>
  /** Tidies, as far as others let it: statistics for the query planner, and what was written folded into the database. */
  tidy(): Awaitable<void>
  /** Returns the space of deleted rows to the file system; others cannot write meanwhile. */
  shrink(): Awaitable<void>
  /** Throws when nothing may be written any more: the database is not the one that was opened, or another writer has taken it over. */
  check(): Awaitable<void>
  /** Sets the number that the writer's lock gave: from now on nothing is written where there is a later one. Null gives it up. @internal */
  fence(number: number | null): void
  /** True if this store has the writer’s lock. @internal */
  fenced(): boolean
}

/**
 * How durable a commit is: `normal` survives the death of the process, `full` a loss of power too. `none` survives nothing and
 * checks no references: for a file that is thrown away unless it is completed.
 */
export type Durability = 'normal' | 'full' | 'none'

/** How long another program that holds the database is waited for. */
export interface LockTimeout {
  readonly busyTimeoutMs?: number
  /** Ends the waiting: a user who stops this program does not want to wait for another one. */
  readonly signal?: AbortSignal | undefined
}

/** How a database is written. */
export interface StoreOptions extends LockTimeout {
  /** What a commit survives. Default: `normal`. */
  readonly durability?: Durability
  /** Opens a published copy, too. */
  readonly copies?: boolean
  /** Opens an unfinished copy of a file, too, to continue it. */
  readonly unfinished?: boolean
  /** The text encoding of a new file. Only files of the same encoding can be attached to each other. */
  readonly encoding?: string | undefined
  /** Bytes to which the log of what was written may grow before it is folded into the database. */
  readonly logLimit?: number
}

/** What is known of a database's schema without changing it. */
export interface SchemaState {
  readonly exists: boolean
  readonly version: number
  /** The version that this program speaks. */
  readonly known: number
  /** The migrations that this program knows, and whether the database has seen each. */
  readonly migrations: readonly { readonly name: string; readonly applied: boolean }[]
}

/** What was copied from another database. */
export interface TakenOver {
  readonly tables: number
  /** Those that were not there yet. */
  readonly rows: number
}

/** What each kind of database offers while none is open. `db/open.ts` and `db/lock.ts` pass it on; nothing else uses it. */
export interface Backend {
  openReader(file: string): Reader
  openStore(file: string, options?: StoreOptions): Promise<Store>
  /** Acquires the writer's lock, then opens the database. Release the lock after closing the store. Throws BusyError, naming the holder. */
  openLocked(
    file: string,
    options: StoreOptions,
  ): Promise<{ readonly store: Store; readonly release: () => Awaitable<void> }>
  /** Locks a file that serves only as a lock, and creates it if needed. Returns how to release it. Throws BusyError. */
  takeLockFile(file: string): () => void
  /** Whether a process has the writer's lock; undefined if that cannot be found out. */
  isLocked(file: string): Awaitable<boolean | undefined>
  schemaState(file: string): Awaitable<SchemaState>
  /** Copies every table of another database into this one, which is empty or where that was begun; both are locked for it. */
  takeOver(source: Reader, file: string, onProgress: (table: string, rows: number) => void): Promise<TakenOver>
  /** Removes a database of our own making that nobody has open, with all that belongs to it. */
  remove(file: string): Awaitable<void>
  /** Whether a database is a copy that `publish` made and nothing has opened for writing since. */
  isPublishedCopy(file: string): boolean
  /** A text that is another one whenever something was written; not each of them means that. */
  readStamp(reader: Reader): Awaitable<string>
}
