import type { Absence, Coverage } from '../../job/plannerState.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Periods } from '../../util/time/periods.ts'

/* What the rules of coverage read and write. */

/** A geo; `ALL_GEOS` stands for all of them, and a geo's own row goes before the row of all. */
export type Geo = number

/** Values of one geo in order of time. */
export interface Values {
  readonly at: readonly Instant[]
  /** Seconds of every period, or of each. */
  readonly steps: number | readonly number[]
}

/** What is known of a series, whatever the reply. */
export interface Series {
  /** Geos that ever had values, those of the reply included. */
  readonly knownGeos: readonly Geo[]
  /** Its periods, if they are longer than an hour and known. */
  readonly periods: Periods | null
  /** The longest lookback that it was ever requested with, this request included, in seconds. */
  readonly longestLookback: number
  readonly timeZone: string
}

/** The reply to one request. */
export interface SeriesReply {
  /** Null for a reply about one instant, which covers nothing. */
  readonly window: Interval | null
  /** `[ALL_GEOS]` if the request was not filtered by geo. */
  readonly geos: readonly Geo[]
  readonly rows: ReadonlyMap<Geo, Values>
  /** Whether the steps are only guessed from distances between values. */
  readonly stepsGuessed: boolean
  /** Geos that have their first values in this reply. */
  readonly newGeos: readonly Geo[]
  /** Whether values of it were not read: rejects that are not dismissed, or sums over several resolutions. */
  readonly isIncomplete: boolean
  /** The place of each dismissed reject about values; null if it is unknown. */
  readonly dismissed: readonly ({ readonly geo: Geo; readonly at: Instant } | null)[]
  readonly fetchedAt: Instant
  /** Periods that end before this are past revision. */
  readonly settledBefore: Instant
}

/** What is stored of the series near the window, read before coverage is written. */
export interface StoredCoverage {
  /** Where `coverage` and `absences` were read; at least the window. */
  readonly reach: Interval
  readonly coverage: readonly Coverage[]
  readonly absences: readonly Absence[]
  /** The values of the window: those of the reply, or, if rejects of it are dismissed, all that are stored. */
  readonly values: ReadonlyMap<Geo, Values>
  /** Known geos with stored values in the window; only of geos without rows in the reply. */
  readonly valuesInWindow: ReadonlySet<Geo>
  /** The stored values next to the window, up to 16 a side; empty if no rule needs them. */
  readonly near: ReadonlyMap<Geo, { readonly before: Values; readonly after: Values }>
  /** Windows of replies with rejects, dismissed or not. */
  readonly rejectedWindows: readonly Interval[]
}

export interface RowChanges<T> {
  readonly remove: readonly T[]
  readonly insert: readonly T[]
}

/** Rows to remove, then rows to insert. */
export interface Change {
  readonly coverage: RowChanges<Coverage>
  readonly absences: RowChanges<Absence>
}
