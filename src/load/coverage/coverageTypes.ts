import type { Absence, Coverage } from '../../job/plannerState.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Periods } from '../../util/time/periods.ts'
import type { GeoValues } from './geoValues.ts'

/* Input and output of the rules of coverage (docs/decisions/001-coverage.md). */

/** A geo, or `ALL_GEOS`. The row of a geo takes precedence over that of all geos. */
export type Geo = number

/** The properties of a series that do not depend on the reply. */
export interface Series {
  /** Geos that ever had values, including those of the reply. */
  readonly knownGeos: readonly Geo[]
  /** Its periods; null if they are not longer than an hour, or not known. */
  readonly periods: Periods | null
  /** Seconds. The longest lookback of its requests, including this one. */
  readonly longestLookback: number
  readonly timeZone: string
}

/** The reply to one request of a series. */
export interface SeriesReply {
  /** Null for a reply about one instant. */
  readonly window: Interval | null
  /** `[ALL_GEOS]` if the request had no filter by geo. */
  readonly geos: readonly Geo[]
  readonly values: ReadonlyMap<Geo, GeoValues>
  /** Whether the steps are guessed from distances between values. */
  readonly isStepGuessed: boolean
  /** Geos whose first values are in this reply. */
  readonly newGeos: readonly Geo[]
  /** Whether values could not be read: it has open rejects, or sums over several resolutions. */
  readonly hasUnreadValues: boolean
  /** Geo and instant of each dismissed reject about values; null if unknown. */
  readonly dismissed: readonly ({ readonly geo: Geo; readonly at: Instant } | null)[]
  readonly fetchedAt: Instant
  /** Periods that end before this are settled. */
  readonly settledBefore: Instant
}

/** The stored rows of a series near a window, read before coverage is written. */
export interface StoredCoverage {
  /** The interval of `coverage` and `absences`; at least the window. */
  readonly reach: Interval
  readonly coverage: readonly Coverage[]
  readonly absences: readonly Absence[]
  /** The values of the reply; if it has dismissed rejects, all stored values of the window. */
  readonly values: ReadonlyMap<Geo, GeoValues>
  /** Known geos without rows in the reply that have stored values in the window. */
  readonly omittedGeos: ReadonlySet<Geo>
  /** Up to 16 stored values on each side of the window; empty if no rule needs them. */
  readonly near: ReadonlyMap<Geo, { readonly before: GeoValues; readonly after: GeoValues }>
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
