import type { Coverage } from '../../judge/stored.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Period, Periods } from '../../util/time/periods.ts'

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
  /** The first and the last value of each timeline, including those of the reply. */
  readonly ends: readonly { readonly geo: Geo; readonly at: Instant }[]
}

/** The reply to one request of a series. */
export interface SeriesReply {
  /** Null for a reply about one instant. */
  readonly window: Interval | null
  /** `[ALL_GEOS]` if the request had no filter by geo. */
  readonly geos: readonly Geo[]
  /** The geos with values in the reply. */
  readonly present: ReadonlySet<Geo>
  /** A period of one of its values. */
  readonly period: Period | undefined
  /** Geos whose first values are in this reply. */
  readonly newGeos: readonly Geo[]
  /** Whether values could not be read: it has open rejects, or sums over several resolutions. */
  readonly hasUnreadValues: boolean
  /** Geo and instant of each dismissed reject about values; null if unknown. */
  readonly dismissed: readonly ({ readonly geo: Geo; readonly at: Instant } | null)[]
  /** The days of which it lacks too many stored values to withdraw them (M6), by geo. */
  readonly unverifiedDays: ReadonlyMap<Geo, readonly Interval[]>
  readonly fetchedAt: Instant
}

/** The stored rows of a series near a window, read before coverage is written. */
export interface StoredCoverage {
  readonly coverage: readonly Coverage[]
  /** Known geos without rows in the reply that have stored values in the window. */
  readonly omittedGeos: ReadonlySet<Geo>
}

/** Rows to remove, then rows to insert. */
export interface CoverageChange {
  readonly remove: readonly Coverage[]
  readonly insert: readonly Coverage[]
  /** The geos of the request that the reply says nothing about in the whole window. */
  readonly unverified: ReadonlySet<Geo>
}
