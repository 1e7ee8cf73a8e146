import type { Transaction } from 'kysely'
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
  /** Every row that points to one that is not there. */
  dangling(): Promise<Dangling[]>
  /** What is wrong with the file, in the words of the database; null where it is sound. */
  damage(): Promise<string | null>
  /** Bytes of the whole database. */
  bytes(): Promise<number>
  /** How many rows a table had when statistics were last made; 0 where there are none. */
  rowsAtLeast(table: TableName): Promise<number>
}
