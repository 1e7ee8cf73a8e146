import type { Kysely, Transaction } from 'kysely'
import { StoreError } from '../base/errors.ts'
import type { Database } from '../tables/schema.ts'
import { APPLICATION_ID, checkOwner, migrate, SCHEMA_VERSION, writeDictionary } from './schema.ts'
import { asStoreError, type Connection, connect, PATIENCE_MS } from './sqlite.ts'
import { createLogBound, LOG_LIMIT } from './wal.ts'

/** The values of a statement's parameters, by place or by name. */
export type Bound = readonly unknown[] | Readonly<Record<string, unknown>>

/** An open database that is read. */
export interface Reader {
  readonly file: string
  readonly kysely: Kysely<Database>
  /** The first column of the first row of a query, or undefined; prepared once a text. */
  get(sql: string, parameters?: readonly unknown[]): unknown
  /** All rows of a query; prepared once a text. */
  all(sql: string, parameters?: Bound): unknown[]
  /** The rows of a query one by one, each as a list of its columns. */
  rows(sql: string, parameters?: Bound): IterableIterator<unknown[]>
  /** The rows of a query one by one, each as an object. */
  each(sql: string, parameters?: readonly unknown[]): IterableIterator<unknown>
  /** Makes another database equal to this one as it is now, in one transaction there; it is made where there is none. Others may write here meanwhile. */
  copyInto(file: string): Promise<void>
  close(): Promise<void>
}

/** An open database, ready to be written: its schema is this program's. */
export interface Store extends Reader {
  /** One immediate transaction: everything that `work` writes is there afterwards, or nothing of it. Never wait for the network inside. */
  write<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T>
  /** Runs a statement with positional parameters on this connection and answers how many rows it changed; prepared once a text. */
  run(sql: string, parameters: readonly unknown[]): number
  /** Rows changed on this connection since it was opened, those changed by triggers included. */
  totalChanges(): number
  /** Tidies: statistics for the query planner, and the write-ahead log folded back into the file. */
  tidy(): void
}

/**
 * How sure a commit is: `normal` survives the death of the process, `full` a loss of power too. `none` survives nothing
 * and checks no references: it is for a file that is thrown away unless it gets whole.
 */
export type Durability = 'normal' | 'full' | 'none'

/** How a database is written. */
export interface StoreOptions {
  readonly durability?: Durability
  /** Bytes to which the write-ahead log may grow before it is folded back into the file. */
  readonly logLimit?: number
  /** Milliseconds for which another program that holds the file is waited for. */
  readonly patienceMs?: number
}

/** Opens a database for writing: made when absent, migrated when older, refused when newer or foreign. */
export async function openStore(
  file: string,
  { durability = 'normal', logLimit = LOG_LIMIT, patienceMs = PATIENCE_MS }: StoreOptions = {},
): Promise<Store> {
  const connection = connect(file, { patienceMs })
  const { kysely, raw } = connection
  try {
    const version = checkOwner(connection, file)
    raw.pragma(`journal_mode = ${durability === 'none' ? 'off' : 'wal'}`)
    raw.pragma(`synchronous = ${durability === 'none' ? 'off' : durability}`)
    raw.pragma(`foreign_keys = ${durability === 'none' ? 'off' : 'on'}`)
    raw.pragma('cache_size = -4096')
    // Pages that change with every reply are folded back once in 16 MiB, not once in 4.
    raw.pragma('wal_autocheckpoint = 4096')
    // Said first: whoever dies while the first table is made must find the file to be ours.
    if (version === 0) raw.pragma(`application_id = ${APPLICATION_ID}`)
    if (version < SCHEMA_VERSION) await migrate(connection)
    // Whoever died after the last migration left it empty.
    const described = raw.prepare('select 1 from data_dictionary limit 1').get() !== undefined
    if (version < SCHEMA_VERSION || !described) await writeDictionary(kysely)
  } catch (error) {
    await kysely.destroy()
    throw asStoreError(error, file)
  }
  const { prepare, ...reader } = reading(connection, file)
  const total = raw.prepare('select total_changes()').pluck()
  const boundLog = createLogBound(connection, file, logLimit)
  return {
    ...reader,
    async write(work) {
      try {
        const result = await kysely.transaction().execute(work)
        boundLog()
        return result
      } catch (error) {
        throw asStoreError(error, file)
      }
    },
    run: (sql, parameters) => prepare(sql).run(parameters as unknown[]).changes,
    totalChanges: () => total.get() as number,
    tidy() {
      raw.pragma('optimize')
      raw.pragma('wal_checkpoint(truncate)')
    },
  }
}

/** Pages that a copy takes in one step, between which timers run. */
const PAGES_AT_ONCE = 4_096

/** What reading and writing stores share: statements that are prepared once a text. */
function reading(connection: Connection, file: string) {
  const { kysely, raw } = connection
  const prepared = new Map<string, ReturnType<typeof raw.prepare>>()
  const prepare = (sql: string) => {
    let statement = prepared.get(sql)
    if (!statement) {
      statement = raw.prepare(sql)
      prepared.set(sql, statement)
    }
    return statement
  }
  return {
    file,
    kysely,
    prepare,
    get: (sql: string, parameters: readonly unknown[] = []): unknown =>
      Object.values((prepare(sql).get(parameters as unknown[]) as object | undefined) ?? {})[0],
    all: (sql: string, parameters: Bound = []): unknown[] => prepare(sql).all(parameters as unknown[]),
    rows: (sql: string, parameters: Bound = []) =>
      raw
        .prepare(sql)
        .raw()
        .iterate(parameters as unknown[]) as IterableIterator<unknown[]>,
    each: (sql: string, parameters: readonly unknown[] = []) => raw.prepare(sql).iterate(parameters as unknown[]),
    async copyInto(other: string): Promise<void> {
      try {
        // A snapshot of our own: without it the copy would begin again whenever somebody writes.
        raw.exec('begin')
        raw.prepare('select 1 from sqlite_schema').get()
        await raw.backup(other, { progress: () => PAGES_AT_ONCE })
      } catch (error) {
        throw asStoreError(error, other)
      } finally {
        if (raw.inTransaction) raw.exec('rollback')
      }
    },
    close: () => kysely.destroy(),
  }
}

/** Opens a database for reading only; refused when it is absent, foreign, newer or not yet migrated. */
export function openReader(file: string): Reader & Pick<Connection, 'raw'> {
  const connection = connect(file, { readonly: true })
  try {
    const version = checkOwner(connection, file)
    if (version < SCHEMA_VERSION)
      throw new StoreError(`${file} has the older schema ${version}; this version reads ${SCHEMA_VERSION}.`, {
        hint: 'Run `indicator-sync migrate` once.',
        code: 'older-schema',
      })
    return { ...reading(connection, file), raw: connection.raw }
  } catch (error) {
    connection.raw.close()
    throw asStoreError(error, file)
  }
}
