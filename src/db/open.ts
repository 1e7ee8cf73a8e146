import type { Kysely, Transaction } from 'kysely'
import { BusyError, StoreError } from '../base/errors.ts'
import type { Database } from '../tables/schema.ts'
import { addStandIns, checkWhole } from './copies.ts'
import type { Engine } from './engine.ts'
import { watchFile } from './identity.ts'
import { copyPatiently, PATIENCE_MS, patiently } from './patience.ts'
import { asStoreError, isBusy } from './reasons.ts'
import { APPLICATION_ID, checkOwner, migrate, SCHEMA_VERSION, writeDictionary } from './schema.ts'
import { type Connection, connect } from './sqlite/connection.ts'
import { createEngine } from './sqlite/engine.ts'
import { createLogBound, LOG_LIMIT, watchLength } from './wal.ts'
import { refreshZones, rememberZone } from './zones.ts'

/** The values of a statement's parameters, by place or by name. */
export type Bound = readonly unknown[] | Readonly<Record<string, unknown>>

/** An open database that is read. */
export interface Reader {
  readonly file: string
  readonly kysely: Kysely<Database>
  readonly engine: Engine
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
  /** Tidies, as far as others let it: statistics for the query planner, and the write-ahead log folded back into the file. */
  tidy(): void
  /** Throws when nothing may be written any more: the file is not the one that was opened, or another writer has taken it over. */
  check(): void
  /** The number that the writer's lock gave: from now on nothing is written where there is a later one. Null gives it up. */
  fence(number: number | null): void
  /** Whether the writer's lock is held with this store. */
  fenced(): boolean
}

/**
 * How sure a commit is: `normal` survives the death of the process, `full` a loss of power too. `none` survives nothing
 * and checks no references: it is for a file that is thrown away unless it gets whole.
 */
export type Durability = 'normal' | 'full' | 'none'

/** How a database is written. */
export interface StoreOptions {
  readonly durability?: Durability
  /** Opens a published copy, too. */
  readonly copies?: boolean
  /** Bytes to which the write-ahead log may grow before it is folded back into the file. */
  readonly logLimit?: number
  /** Milliseconds for which another program that holds the file is waited for. */
  readonly patienceMs?: number
}

/** Opens a database for writing: made when absent, migrated when older, refused when newer or foreign. */
export async function openStore(
  file: string,
  { durability = 'normal', copies = false, logLimit = LOG_LIMIT, patienceMs = PATIENCE_MS }: StoreOptions = {},
): Promise<Store> {
  const connection = connect(file, { patienceMs })
  const { kysely, raw } = connection
  const watch = watchFile(file)
  connection.guard(watch.check)
  try {
    await patiently(async () => (copies ? addStandIns(connection) : checkWhole(connection, file)), patienceMs)
    await patiently(() => prepareFile(connection, file, durability), patienceMs)
    const version = checkOwner(connection, file)
    if (version < SCHEMA_VERSION) {
      await patiently(() => migrate(connection), patienceMs)
      for (const zone of raw.prepare('select distinct time_zone from series').pluck().all() as string[])
        await patiently(() => kysely.transaction().execute((tx) => rememberZone(tx, zone)), patienceMs)
    }
    await patiently(() => refreshZones(kysely), patienceMs)
    // Whoever died after the last migration left it empty.
    const described = raw.prepare('select 1 from data_dictionary limit 1').get() !== undefined
    if (version < SCHEMA_VERSION || !described) await writeDictionary(kysely)
  } catch (error) {
    await kysely.destroy()
    throw asStoreError(error, file)
  }
  const reader = reading(connection, file)
  const latest = raw.prepare(`select number from _fence where name = 'writer'`).pluck()
  const length = watchLength(connection, file)
  const boundLog = createLogBound(connection, file, logLimit, length.forget)
  let ours: number | null = null
  let lost = false
  const check = (): void => {
    try {
      watch.check()
      length.check()
      if (ours !== null && latest.get() !== ours) throw takenOver(file)
    } catch (error) {
      lost = true
      throw error
    }
  }
  connection.guard(check)
  return {
    ...reader,
    async write(work) {
      try {
        const result = await kysely.transaction().execute(work)
        await boundLog()
        return result
      } catch (error) {
        throw asStoreError(error, file)
      }
    },
    run: (sql, parameters) => connection.prepare(sql).run(parameters as unknown[]).changes,
    tidy() {
      if (lost) return
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
    check,
    fence(number) {
      ours = number
    },
    fenced: () => ours !== null,
    async close() {
      // The log stays where it is when SQLite finds the file gone: emptied into it, it cannot be taken for that of the next one.
      if (lost && watch.moved()) raw.pragma('wal_checkpoint(truncate)')
      await kysely.destroy()
    },
  }
}

const takenOver = (file: string): BusyError =>
  new BusyError(`Another process has taken over the writing to ${file}; this one writes nothing more.`, {
    hint: 'The file with .lock at its end must not be deleted while a command runs. Run the command again when the other one is done.',
    code: 'taken-over',
  })

/** Sets how a file is written, before anything of it is; refuses one that is not ours. */
function prepareFile(connection: Connection, file: string, durability: Durability): void {
  const { raw } = connection
  const version = checkOwner(connection, file)
  const mode = raw.pragma(`journal_mode = ${durability === 'none' ? 'off' : 'wal'}`, { simple: true })
  if (durability !== 'none' && mode !== 'wal' && mode !== 'memory')
    throw new StoreError(`${file} lies where no write-ahead log can be kept beside it.`, {
      hint: 'Put it on a disk of this machine, not on a network file system, and name it with --database.',
      code: 'no-log',
    })
  raw.pragma(`synchronous = ${durability === 'none' ? 'off' : durability}`)
  raw.pragma(`foreign_keys = ${durability === 'none' ? 'off' : 'on'}`)
  raw.pragma('cache_size = -4096')
  // Pages that change with every reply are folded back once in 16 MiB, not once in 4.
  raw.pragma('wal_autocheckpoint = 4096')
  // Said first: whoever dies while the first table is made must find the file to be ours.
  if (version === 0) raw.pragma(`application_id = ${APPLICATION_ID}`)
}

/** What reading and writing stores share: statements that are prepared once a text. */
function reading(connection: Connection, file: string) {
  const { kysely, raw, prepare } = connection
  return {
    file,
    kysely,
    engine: createEngine(connection),
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
        await copyPatiently(raw, other)
      } catch (error) {
        throw asStoreError(error, other)
      } finally {
        if (raw.inTransaction) raw.exec('rollback')
      }
    },
    // Kysely closes only what it has used itself.
    async close() {
      await kysely.destroy()
      if (raw.open) raw.close()
    },
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
    addStandIns(connection)
    return { ...reading(connection, file), raw: connection.raw }
  } catch (error) {
    connection.raw.close()
    throw asStoreError(error, file)
  }
}
