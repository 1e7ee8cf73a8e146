import type { Transaction } from 'kysely'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { GeoDay, Observations, RowValues } from './tables/rows.ts'
import type { Database, TableName } from './tables/schema.ts'

/** Rows in blocks, to limit memory. */
export type Blocks<T> = AsyncIterable<readonly T[]>

/** A result that SQLite returns directly, and PostgreSQL as a promise. */
export type Awaitable<T> = T | Promise<T>

/** The result of an upsert. */
export interface UpsertCounts {
  /** New rows, and rows in which only NULLs were filled. */
  readonly inserted: number
  readonly unchanged: number
  /** Changed rows. */
  readonly revised: number
}

/** A result of a search, in one language. */
export interface SearchHit {
  readonly kind: string
  readonly id: number
  readonly name: string | null
  /** Its short name or summary. */
  readonly more: string | null
  readonly locale: string
}

/** An interval of one series and geo. */
export interface SeriesRange extends Interval {
  readonly seriesId: number
  readonly geoId: number
}

/** A value with the length of its period in seconds. */
export interface ValueAt {
  readonly at: Instant
  readonly value: number | null
  readonly step: number
}

/** Identifies a series of an indicator, by the columns of the table `series`. */
export interface NamedSeries {
  /** The id of the series. */
  readonly series_id: number
  /** The route of its values. */
  readonly kind: string
  /** The id of its indicator. */
  readonly indicator_id: number
  /** The step of the aggregation by the service; null for the native series. */
  readonly time_trunc: string | null
  /** The aggregation over geos by the service; null for none. */
  readonly geo_agg: string | null
}

/** A value with its series, geo and instant. */
export interface LocatedValue extends NamedSeries {
  readonly geo_id: number
  readonly value: number
  readonly at: Instant
}

/** Aggregates of the values of an interval; the mean is weighted by time. */
export interface Extremes {
  readonly count: number
  readonly seconds: number
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
  readonly mean: number | null
}

/** A version of a value, with the times (UTC to the millisecond) from which and until which it was current; null if it still is. */
export interface ValueVersion {
  readonly geo_id: number
  readonly at: Instant
  readonly value: number | null
  readonly step_s: number
  readonly valid_from: string
  readonly valid_to: string | null
}

/** A table of a user, in memory. Texts of `date`, `time` and `instant` are ISO 8601. */
export interface AttachedTable {
  readonly name: string
  readonly columns: readonly {
    readonly name: string
    readonly type: 'integer' | 'real' | 'text' | 'date' | 'time' | 'instant'
  }[]
  readonly rows: readonly (readonly (string | number | bigint | null)[])[]
}

/** The result of a statement: its columns with their tables, and its rows. Integers are bigints. */
export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly table: string | null; readonly type: string | null }[]
  readonly rows: Blocks<unknown[]>
}

/** The types of values in a column, as bits. `huge`: integers that a double does not represent exactly. */
export const VALUE_TYPES = { integer: 1, real: 2, text: 4, huge: 8 } as const

/** A row that refers to a missing row. */
export interface DanglingRow {
  readonly table: string
  readonly row: number | null
  readonly parent: string
}

/** Whether a database is undamaged, with its report. */
interface Integrity {
  readonly isSound: boolean
  readonly detail: string
}

/** The counts of an upsert. */
export interface UpsertResult extends UpsertCounts {
  /** The geos with more stored values in the window than the reply has. */
  readonly incompleteGeos: ReadonlySet<number>
}

/** Writes and reads values, for every reply or over many of them: fast. */
interface ValueOperations {
  /**
   * Writes values. Equal ones write nothing, and old versions of changed ones go to the history. The values of a geo are
   * adjacent, in the window and unique.
   */
  upsertObservations(
    tx: Transaction<Database>,
    seriesId: number,
    fetchId: number,
    window: Interval | null,
    observations: Observations,
  ): Promise<UpsertResult>
  /** Writes daily totals, in order of geo and day. Equal ones write nothing. */
  upsertDays(tx: Transaction<Database>, seriesId: number, days: readonly GeoDay[]): Promise<void>
  /** A checksum of the daily totals of every month. */
  computeDayChecksums(): Promise<ReadonlyMap<number, string>>
  /**
   * Streams the values of a range in order of time, now or as of a time (UTC to the millisecond). Several ranges may be read concurrently.
   */
  streamValues(
    range: SeriesRange,
    asOf: string | null,
  ): Blocks<readonly [at: Instant, value: number | null, step: number]>
  /** Returns the aggregates of every interval between two adjacent borders: now, or as of a fetch. */
  readExtremes(
    series: Pick<SeriesRange, 'seriesId' | 'geoId'>,
    borders: readonly Instant[],
    fetchId: number | null,
  ): Promise<Extremes[]>
}

/** Runs the SQL of users. */
interface UserStatements {
  /**
   * Adds tables that only this reader sees, until it is closed. Throws InputError for the name of a stored table. The database itself
   * stays read-only. Also starts a snapshot.
   */
  attachTables(tables: readonly AttachedTable[]): Awaitable<void>
  /** Runs a read-only statement of a user. Throws InputError with the message of the database. */
  query(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<QueryResult>
  /** The names of the parameters of such a statement. */
  findParameters(sql: string): readonly string[]
  /** The types of values in the columns of such a statement, over all rows: bits of `VALUE_TYPES`. */
  findValueTypes(sql: string, columns: number): Promise<number[]>
}

/** Says what is in the database, how large it is and whether it is sound. */
interface DatabaseInspection {
  /** Returns the names of all tables. */
  listTables(): Promise<string[]>
  /** Returns every row that refers to a missing row. */
  findDanglingRows(): Promise<DanglingRow[]>
  /** Checks the stored bytes, as far as the database can. */
  checkIntegrity(): Promise<Integrity>
  /** Returns the bytes of the write-ahead log. */
  measureLog(): Promise<number>
  /** Returns the bytes of the whole database. */
  measureSize(): Promise<number>
  /** Returns the number of rows of a table at the last statistics; 0 without statistics. */
  estimateRows(table: TableName): Promise<number>
}

/**
 * Operations that each database implements: Kysely cannot express them, or not fast enough, or they are about the database itself,
 * such as its size. Everything else is typed queries.
 */
export interface Engine extends ValueOperations, UserStatements, DatabaseInspection {
  /**
   * Returns the hashes of those bodies that are stored, and locks them until the transaction ends. With `keep`, no other
   * transaction deletes them; with `delete`, none keeps or deletes them.
   */
  lockReplies(
    tx: Transaction<Database>,
    hashes: readonly string[],
    purpose: 'keep' | 'delete',
  ): Promise<readonly string[]>
  /**
   * Deletes the rows of a table with the values of `owner`, except those whose values of `columns` are listed in `kept`. Returns
   * how many.
   */
  deleteOthers(
    tx: Transaction<Database>,
    table: TableName,
    owner: RowValues,
    columns: readonly string[],
    kept: readonly (readonly unknown[])[],
  ): Promise<number>
  /**
   * Finds items of some kinds by the prefixes of words in their texts, each once and the best first; without words, all items.
   * `limit`: maximum number of considered texts. Default: all.
   */
  search(text: string, kinds: readonly string[], limit?: number): Promise<SearchHit[]>
  /** Limits the page cache of this connection, in bytes. */
  limitCache(bytes: number): Awaitable<void>
  /** Fixes what is read until the database is closed. */
  beginSnapshot(): Awaitable<void>
}

/** Collects the rows of blocks in a list. */
export async function allRows<T>(blocks: Blocks<T> | Iterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const block of blocks) for (const row of block) rows.push(row)
  return rows
}

/** Waiting for a block takes as long as reading a row. */
const ROWS_PER_BLOCK = 64

/** The rows of a statement in blocks. The statement starts with the first read. */
export async function* toBlocks<T>(start: () => IterableIterator<T>): Blocks<T> {
  let block: T[] = []
  for (const row of start()) {
    if (block.push(row) < ROWS_PER_BLOCK) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
