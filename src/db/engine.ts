import type { Transaction } from 'kysely'
import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Day } from '../tables/dayTotals.ts'
import type { Observations } from '../tables/rows.ts'
import type { Database, TableName } from '../tables/schema.ts'

/** What an upsert did. */
export interface Written {
  /** Rows that were not there before, or of which only what was open was filled. */
  readonly fresh: number
  readonly unchanged: number
  /** Rows that were there and changed. */
  readonly revised: number
}

/** Something that a search found, in one of its languages. */
export interface Found {
  readonly kind: string
  readonly id: number
  readonly name: string | null
  /** Its short name or summary. */
  readonly more: string | null
  readonly locale: string
}

/** A stretch of one series and geo. */
export interface Stretch extends Interval {
  readonly seriesId: number
  readonly geoId: number
}

/** A value with the length of its period in seconds. */
export interface ValueAt {
  readonly at: Instant
  readonly value: number | null
  readonly step: number
}

/** One time that a value was replaced or withdrawn. */
export interface Revision {
  readonly at: Instant
  /** What was said before. */
  readonly before: number | null
  /** What is said since; null where it was withdrawn, or has no number. */
  readonly after: number | null
  readonly withdrawn: boolean
  /** When we learned of it, UTC to the millisecond. */
  readonly revisedAt: string
}

/** One version of a value, with the instants (UTC to the millisecond) between which it was known; null while it is. */
export interface Version {
  readonly geo_id: number
  readonly at: Instant
  readonly value: number | null
  readonly step_s: number
  readonly valid_from: string
  readonly valid_to: string | null
}

/** The answer of a statement: its columns with the table that they come from, and its rows one by one; whole numbers are bigints. */
export interface Answer {
  readonly columns: readonly { readonly name: string; readonly table: string | null; readonly type: string | null }[]
  readonly rows: IterableIterator<unknown[]>
}

/** What a column was seen to hold, as bits; `huge` are whole numbers that are not exact as doubles. */
export const SEEN = { integer: 1, real: 2, text: 4, huge: 8 } as const

/** A row that points to one that is not there. */
export interface Dangling {
  readonly table: string
  readonly row: number | null
  readonly parent: string
}

/** What an upsert of values did, and the geos of which more is held in the window than the answer has. */
export interface Upserted extends Written {
  readonly surplus: ReadonlySet<number>
}

/**
 * What Kysely cannot say, or not fast enough: each database has its own. Everything else is typed queries, and nothing
 * outside of this folder knows which database it is.
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
  /** Writes the totals of days of one geo, in order; equal ones write nothing. */
  upsertDays(tx: Transaction<Database>, seriesId: number, geoId: number, days: readonly Day[]): Promise<void>
  /** Takes over tables, row for row, from another database of the same schema. */
  takeTables(file: string, tables: readonly TableName[]): Promise<void>
  /** Takes over when rows were first seen in another database of the same schema, where that was earlier; each table with its key. */
  takeFirstSeen(file: string, tables: Readonly<Record<string, readonly string[]>>): Promise<void>
  /** The texts of some kinds that have words that begin so, the best first, each item once; without words all of them. */
  search(text: string, kinds: readonly string[]): Promise<Found[]>
  /**
   * The values of a series and geo between two instants one by one, as they are or as they were known at an instant (UTC to
   * the millisecond), in order of time. Several may be read side by side.
   */
  values(of: Stretch, asOf: string | null): IterableIterator<readonly [at: Instant, value: number | null, step: number]>
  /** The values of a stretch: as they are, as they were known at an instant (UTC to the millisecond), or as each was first. */
  valuesThen(of: Stretch, then: string | 'now' | 'first'): Promise<ValueAt[]>
  /** Every time that a value of a stretch was replaced or withdrawn, after an instant where one is given; the latest first. */
  revisions(of: Stretch, after: string | null): Promise<Revision[]>
  /** One by one the versions of values of a series that began or ended after one instant and not after another, in order of geo and time. */
  changedVersions(
    seriesId: number,
    window: Interval,
    between: { readonly from: string; readonly to: string },
  ): IterableIterator<Version>
  /** A statement of somebody's own, which only reads. Throws what the database says of it. */
  ask(sql: string, parameters?: Readonly<Record<string, unknown>>): Answer
  /** What the columns of the answer of such a statement hold, from the first row to the last: bits of `SEEN`. */
  seen(sql: string, columns: number): number[]
  /** From now on, until it is closed, the database is read as it is now. */
  freeze(): void
  /** Makes a copy that is open a product, and writes it into a file. */
  finishCopy(file: string, bookkeeping: boolean): Promise<void>
  /** The tables that there are. */
  tables(): Promise<string[]>
  /** Every row that points to one that is not there. */
  dangling(): Promise<Dangling[]>
  /** What is wrong with the file, in the words of the database; null where it is sound. */
  damage(): Promise<string | null>
  /** Bytes of the whole database. */
  bytes(): Promise<number>
  /** How many rows a table had when statistics were last made; 0 where there are none. */
  rowsAtLeast(table: TableName): Promise<number>
}
