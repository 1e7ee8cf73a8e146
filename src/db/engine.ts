import type { Kysely, Transaction } from 'kysely'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { GeoDay, Observations, RowValues } from './tables/rows.ts'
import type { Database, TableName } from './tables/schema.ts'

/** Rows that come some at a time, so that memory stays flat however many there are. */
export type Blocks<T> = AsyncIterable<readonly T[]>

/** A result that SQLite returns at once, and PostgreSQL later. */
export type Awaitable<T> = T | Promise<T>

/** What an upsert did. */
export interface UpsertCounts {
  /** Rows that were not there before, or in which only empty columns were filled. */
  readonly fresh: number
  readonly unchanged: number
  /** Rows that were there and changed. */
  readonly revised: number
}

/** Something that a search found, in one of its languages. */
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

/** A value as it is stored. */
type StoredValue = readonly [at: Instant, value: number | null, step: number, fetchId: number]

/** A value that was replaced or withdrawn. */
type SupersededValue = readonly [at: Instant, value: number | null, step: number, fetchId: number, supersededBy: number]

/** Identifies a series of an indicator, by the columns of the table `series`. */
export interface NamedSeries {
  /** The id of the series. */
  readonly series_id: number
  /** The route of its values. */
  readonly kind: string
  /** The id of its indicator. */
  readonly indicator_id: number
  /** The step by which the service grouped the values; null for the native series. */
  readonly time_trunc: string | null
  /** How the service combined geos; null where it did not. */
  readonly geo_agg: string | null
}

/** A value with its place. */
export interface PlacedValue extends NamedSeries {
  readonly geo_id: number
  readonly value: number
  readonly at: Instant
}

/** What an interval holds: how many values that are not null, how long they last, the extremes and the mean over time. */
export interface Extremes {
  readonly count: number
  readonly seconds: number
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
  readonly mean: number | null
}

/** One time that a value was replaced or withdrawn. */
export interface Revision {
  readonly at: Instant
  /** The value before. */
  readonly before: number | null
  /** The value after; null where it was withdrawn, or is not a number. */
  readonly after: number | null
  readonly withdrawn: boolean
  /** When we learned of it, UTC to the millisecond. */
  readonly revisedAt: string
}

/** One version of a value, with the instants (UTC to the millisecond) between which it was known; null while it is. */
export interface ValueVersion {
  readonly geo_id: number
  readonly at: Instant
  readonly value: number | null
  readonly step_s: number
  readonly valid_from: string
  readonly valid_to: string | null
}

/** The answer of a statement: its columns with the table that they come from, and its rows; whole numbers are bigints. */
export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly table: string | null; readonly type: string | null }[]
  readonly rows: Blocks<unknown[]>
}

/** The kinds of values that a column was seen to hold, as bits; `huge` are whole numbers that a double does not hold exactly. */
export const SEEN = { integer: 1, real: 2, text: 4, huge: 8 } as const

/** A row that refers to one that does not exist. */
export interface Dangling {
  readonly table: string
  readonly row: number | null
  readonly parent: string
}

/** Whether a database is damaged, and what it says about that. */
interface Integrity {
  readonly isSound: boolean
  readonly detail: string
}

/** The counts of an upsert, and the geos that have more stored values in the window than the answer. */
export interface Upserted extends UpsertCounts {
  readonly surplus: ReadonlySet<number>
}

/**
 * What Kysely cannot express, or not fast enough; each database implements it in its own way. Everything else is typed queries.
 * Code outside this folder tells databases apart by what they do and where they lie (`placeOf` in `address.ts`), never by the
 * name of the engine.
 */
export interface Engine {
  /**
   * Writes values; an equal one writes nothing, and a changed one's old version goes to the history. The values of a geo
   * stand together, lie in the window, and none is there twice.
   */
  upsertObservations(
    tx: Transaction<Database>,
    seriesId: number,
    fetchId: number,
    window: Interval | null,
    rows: Observations,
  ): Promise<Upserted>
  /**
   * Moves to the history what is stored inside a window for some geos of a complete answer and is not in it: the service
   * withdrew it, or serves the window in another resolution now. Answers how many rows went.
   */
  withdrawObservations(
    tx: Transaction<Database>,
    seriesId: number,
    fetchId: number,
    window: Interval,
    rows: Observations,
    surplus: ReadonlySet<number>,
  ): Promise<number>
  /** Writes the totals of days, geo by geo and in order; equal ones write nothing. */
  upsertDays(tx: Transaction<Database>, seriesId: number, days: readonly GeoDay[]): Promise<void>
  /**
   * Recomputes the totals of all days, from the values, of the series whose days are counted in a zone. Runs inside a
   * transaction.
   */
  rebuildDays(db: Kysely<Database>, zone: string): Promise<void>
  /** The local days of a series and geo (`YYYY-MM-DD`) whose totals are not those of its values, in order. Reads every value. */
  differentDays(seriesId: number, geoId: number): Promise<string[]>
  /** A checksum of the totals of the days of every month: it is the same as long as those are. */
  dayTotalsChecksums(): Promise<ReadonlyMap<number, string>>
  /** The values that are larger than a limit, whatever their sign. */
  valuesBeyond(limit: number): Promise<PlacedValue[]>
  /**
   * Answers which of these bodies are in the reply store. Until the transaction ends, no other one deletes those that are locked
   * to be kept, and none keeps or deletes those that are locked to be deleted.
   */
  lockReplies(
    tx: Transaction<Database>,
    hashes: readonly string[],
    purpose: 'keep' | 'delete',
  ): Promise<readonly string[]>
  /**
   * Deletes the rows of a table that have some given values, except those in a list, which holds the values of other columns.
   * Returns how many.
   */
  deleteOthers(
    tx: Transaction<Database>,
    table: TableName,
    same: RowValues,
    columns: readonly string[],
    kept: readonly (readonly unknown[])[],
  ): Promise<number>
  /**
   * The items of some kinds whose texts have words with these beginnings, the best first, each once; without words all items.
   * `most`: only so many of the best texts are looked at; all where it is left out.
   */
  search(text: string, kinds: readonly string[], most?: number): Promise<SearchHit[]>
  /**
   * The values of a series and geo between two instants, as they are or as they were known at an instant (UTC to
   * the millisecond), in order of time. Several may be read side by side.
   */
  values(of: SeriesRange, asOf: string | null): Blocks<readonly [at: Instant, value: number | null, step: number]>
  /** All values of an interval at once, each with its fetch, in order of time. */
  currentValues(of: SeriesRange): Promise<readonly StoredValue[]>
  /** All superseded and withdrawn values of an interval at once, in order of time. */
  supersededValues(of: SeriesRange): Promise<readonly SupersededValue[]>
  /** The values of an interval: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
  valuesThen(of: SeriesRange, then: string | 'now' | 'first'): Promise<ValueAt[]>
  /** The first values of an interval in order of time: as they are, or as they were known when a fetch of its series had been recorded. */
  knownValues(of: SeriesRange, fetchId: number | null, limit: number): Promise<ValueAt[]>
  /** The extremes and the mean of every interval between two neighbours in a list of instants: as they are, or as they were known after a fetch. */
  extremes(
    of: Pick<SeriesRange, 'seriesId' | 'geoId'>,
    borders: readonly Instant[],
    fetchId: number | null,
  ): Promise<Extremes[]>
  /** Every time that a value of an interval was replaced or withdrawn, after an instant where one is given; the latest first. */
  revisions(of: SeriesRange, after: string | null): Promise<Revision[]>
  /** The versions of values of a series that began or ended after one instant and not after another, in order of geo and time. */
  changedVersions(
    seriesId: number,
    window: Interval,
    between: { readonly from: string; readonly to: string },
  ): Blocks<ValueVersion>
  /** Runs a user's own statement, which can only read. Throws the message of the database. */
  query(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<QueryResult>
  /** The kinds of values that the columns of such a statement's answer hold, over all rows: bits of `SEEN`. */
  seen(sql: string, columns: number): Promise<number[]>
  /** Limits what this connection keeps of what it has read, in bytes. */
  limitCache(bytes: number): Awaitable<void>
  /** From now until it is closed, the database is read as it is now. */
  beginSnapshot(): Awaitable<void>
  /** The tables that there are. */
  tables(): Promise<string[]>
  /** Every row that refers to one that does not exist. */
  dangling(): Promise<Dangling[]>
  /** Whether the stored bytes are sound, as far as the database can tell. */
  integrity(): Promise<Integrity>
  /** Bytes in the log that are not folded into the database yet. */
  logBytes(): Promise<number>
  /** Bytes of the whole database. */
  bytes(): Promise<number>
  /** How many rows a table had when statistics were last made; 0 where there are none. */
  rowsAtLeast(table: TableName): Promise<number>
}

/** All rows of blocks in one list: for results that are known to be small, or needed as a whole. */
export async function allRows<T>(blocks: Blocks<T> | Iterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const block of blocks) for (const row of block) all.push(row)
  return all
}

/** Rows that are read at a time: waiting for a block costs as much as reading one row. */
const ROWS_PER_BLOCK = 64

/** The rows of a statement, which begins with the first read and ends with the last. */
export async function* inBlocks<T>(begin: () => IterableIterator<T>): Blocks<T> {
  let block: T[] = []
  for (const row of begin()) {
    if (block.push(row) < ROWS_PER_BLOCK) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}
