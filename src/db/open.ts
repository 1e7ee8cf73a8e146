import { existsSync, statSync } from 'node:fs'
import type { Kysely, Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import { StoreError } from '../base/errors.ts'
import { transitions } from '../base/zone.ts'
import { dictionaryRows } from '../tables/dictionary.ts'
import type { Database } from '../tables/schema.ts'
import { MIGRATIONS } from './migrations.ts'
import { asStoreError, type Connection, connect, PATIENCE_MS } from './sqlite.ts'

/** `INDS` in ASCII: how the file is known to be ours. */
export const APPLICATION_ID = 0x494e_4453
/** The schema that this program speaks. */
export const SCHEMA_VERSION = Object.keys(MIGRATIONS).length

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

const pragma = (connection: Connection, name: string): number => connection.raw.pragma(name, { simple: true }) as number

/** Refuses a file of another program and one of a newer version of this one, before anything of it is touched. */
function checkOwner(connection: Connection, file: string): number {
  const version = pragma(connection, 'user_version')
  const tables = connection.raw.prepare('select count(*) from sqlite_schema').pluck().get() as number
  if (tables > 0 && pragma(connection, 'application_id') !== APPLICATION_ID)
    throw new StoreError(`${file} is a database of another program.`, {
      hint: 'Name another file with --database; this one was not touched.',
      code: 'foreign-database',
    })
  if (version > SCHEMA_VERSION)
    throw new StoreError(
      `${file} has schema ${version}; this version of indicator-sync knows up to ${SCHEMA_VERSION}.`,
      {
        hint: 'Update indicator-sync; the file was not touched.',
        code: 'newer-schema',
      },
    )
  return version
}

/** Brings the schema up to date: all missing migrations in one transaction, safe against another process that does the same. */
async function migrate(connection: Connection): Promise<void> {
  const migrator = new Migrator({
    db: connection.kysely,
    provider: { getMigrations: async () => ({ ...MIGRATIONS }) },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw asStoreError(error)
}

/** Writes the data dictionary of this program's schema. */
export async function writeDictionary(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('data_dictionary').execute()
    for (const row of dictionaryRows()) await transaction.insertInto('data_dictionary').values(row).execute()
  })
}

/** Writes the clock changes of a zone, once; the views turn instants into local time with them. */
export async function rememberZone(db: Kysely<Database>, zone: string): Promise<void> {
  const held = await db
    .selectFrom('time_zone_offset')
    .select('zone')
    .where('zone', '=', zone)
    .limit(1)
    .executeTakeFirst()
  if (held) return
  const rows = transitions(zone)
  await db
    .insertInto('time_zone_offset')
    .values(
      rows.map(({ at, offset }, i) => ({
        zone,
        // The first row reaches back for good and the last one ahead, so that every instant lies in one of them.
        from_at: i === 0 ? -62_135_596_800 : at,
        to_at: rows[i + 1]?.at ?? 253_402_300_800,
        offset_s: offset,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
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

const LOG_LIMIT = 64 * 1024 * 1024
/** The log is looked at once in so many transactions. */
const LOOK_EVERY = 16

/**
 * Keeps the write-ahead log short. SQLite folds it back by itself, but begins it anew only when no reader is left in it,
 * which may never be when readers come one after the other; beyond the limit we wait for them, for as long as a busy
 * database is waited for. Under a reader that stays, the log grows, and is looked at again when it has doubled.
 */
function createLogBound({ raw }: Connection, file: string, limit: number): () => void {
  let commits = 0
  let next = limit
  return () => {
    if (++commits % LOOK_EVERY !== 0) return
    const size = logBytes(file)
    if (size < next) return
    raw.pragma('wal_checkpoint(truncate)')
    next = Math.max(limit, 2 * logBytes(file))
  }
}

/** Bytes of the write-ahead log of a database. */
export const logBytes = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

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

/** What is known of a database's schema without changing it. */
export interface SchemaState {
  readonly exists: boolean
  readonly version: number
  readonly known: readonly string[]
}

/** The schema of a file, and the migrations that this program knows. */
export function schemaState(file: string): SchemaState {
  const known = Object.keys(MIGRATIONS)
  if (!existsSync(file)) return { exists: false, version: 0, known }
  const connection = connect(file, { readonly: true })
  try {
    return { exists: true, version: checkOwner(connection, file), known }
  } catch (error) {
    throw asStoreError(error, file)
  } finally {
    connection.raw.close()
  }
}
