import type { LocalDay } from '../../util/time/localDay.ts'
import type { TableName } from './schema.ts'

/** Values of one series by column, ordered by geo, then instant, each pair once: the form in which they are written fastest. */
export interface Observations {
  readonly geoIds: readonly number[]
  readonly at: readonly number[]
  readonly values: readonly (number | null)[]
  /** Seconds of every period, or of each where they differ. */
  readonly steps: number | readonly number[]
  /** Whether the steps are only guessed, from irregular distances or from nothing: they do not revise stored steps. */
  readonly guessed?: boolean
}

/** The values of one geo in an answer: from index `first` up to `end`. */
export interface GeoRange {
  readonly geoId: number
  readonly first: number
  readonly end: number
}

/** Where the values of each geo are in an answer. They stand together, so that their end is found by halving. */
export function geoRanges({ geoIds }: Pick<Observations, 'geoIds'>): GeoRange[] {
  const ranges: GeoRange[] = []
  const { length } = geoIds
  for (let first = 0; first < length; ) {
    const geoId = geoIds[first]!
    let last = first
    let end = length
    while (end - last > 1) {
      const middle = (last + end) >> 1
      if (geoIds[middle] === geoId) last = middle
      else end = middle
    }
    ranges.push({ geoId, first, end })
    first = end
  }
  return ranges
}

export type RowValues = Readonly<Record<string, string | number | null>>

/**
 * Rows of one table. A stored row is updated with the columns that the new one has, unless `when` is `kept`; where a listing
 * has described it better, only columns that are null are filled (`unlisted`).
 */
export interface TableRows {
  readonly table: TableName
  readonly rows: readonly RowValues[]
  readonly when?: 'kept' | 'unlisted'
  /** The language of the answer, for rows that all languages share: values in the first language of the service win, others fill what is null. */
  readonly locale?: string
}

/** All rows that belong to some owners: rows that are not among them any more are deleted. */
export interface OwnedRows {
  readonly table: TableName
  /** The columns that name the owner. */
  readonly owner: readonly string[]
  readonly owners: readonly RowValues[]
  readonly rows: readonly RowValues[]
  /** The language of the answer, as in `TableRows`. */
  readonly locale?: string
}

/** The items that a listing had, so that those it no longer has can be marked. */
export interface Listing {
  readonly item: 'indicator' | 'content' | 'widget'
  readonly text: 'indicator_text' | 'content_text' | 'widget_text'
  /** The kind of items that the listing is about; null where the table has no kinds. */
  readonly kind: string | null
  readonly locale: string
  readonly ids: readonly number[]
  /** Whether the listing was whole and unfiltered. */
  readonly complete: boolean
}

/** The key of a value within its series. */
export interface ObservationKey {
  readonly geoId: number
  readonly at: number
}

/** A part of a reply that could not be understood. */
export interface Reject {
  /** JSON path. */
  readonly path: string
  readonly reason: string
  readonly fragment: unknown
  /** The observation that it would have been, where that is known. */
  readonly observation?: ObservationKey | undefined
}

/** Whether a reject of a series is about its values. Any other is about a field beside them, without which they are complete. */
export const isAboutValues = ({ path }: Pick<Reject, 'path'>): boolean => /\.values(\[\d+\])?$/.test(path)

/** The rows of a reply. Columns that only the loader knows (fetch_id, first_seen_at) are left out. */
export interface Rows {
  readonly observations: Observations | null
  readonly tables: readonly TableRows[]
  readonly owned: readonly OwnedRows[]
  readonly listing: Listing | null
  /** The first parts that could not be understood, each with its fragment. */
  readonly rejects: readonly Reject[]
  /** How many parts could not be understood in all. */
  readonly rejected: number
  /** The resolution that the answer states, in seconds; null where it states none. */
  readonly stepS: number | null
  /** The id of that resolution, as the service numbers them. */
  readonly resolutionId: number | null
  readonly sourceUpdatedAt: string | null
  /** How many rows outside the requested window were left out. */
  readonly outside: number
  /** Whether the answer is well-formed and has no rows. */
  readonly empty: boolean
}

export const NO_ROWS: Rows = {
  observations: null,
  tables: [],
  owned: [],
  listing: null,
  rejects: [],
  rejected: 0,
  stepS: null,
  resolutionId: null,
  sourceUpdatedAt: null,
  outside: 0,
  empty: false,
}

/** Totals of the values of one series and geo in one local day: a row of `_day` without its key. */
export interface DayTotals {
  readonly count: number
  readonly hours: number | null
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
  readonly energy: number | null
  readonly firstS: number | null
  readonly lastS: number | null
  readonly missing: number
}

/** A local day of a geo with its totals. */
export type GeoDay = readonly [geoId: number, day: LocalDay, totals: DayTotals]
