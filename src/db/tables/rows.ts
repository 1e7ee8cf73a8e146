import type { LocalDay } from '../../util/time/localDay.ts'
import type { TableName } from './schema.ts'

/** Values of a series by column, ordered by geo and instant, without duplicates: the form that is fastest to write. */
export interface Observations {
  readonly geoIds: readonly number[]
  readonly at: readonly number[]
  readonly values: readonly (number | null)[]
  /** Seconds of every period, or of each if they differ. */
  readonly steps: number | readonly number[]
  /** Whether the steps are estimates, which do not revise stored steps. */
  readonly isStepGuessed?: boolean
}

/** The values of a geo in a response: from index `first` to `end` (exclusive). */
export interface GeoRange {
  readonly geoId: number
  readonly first: number
  readonly end: number
}

/** Finds the values of each geo, which are adjacent, by binary search. */
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

/** Rows of a table, which update stored rows. */
export interface TableRows {
  readonly table: TableName
  readonly rows: readonly RowValues[]
  /** Whether a stored row that came with a listing keeps its values. Then these rows only replace its NULLs. */
  readonly keepsListed?: boolean
  /** The language of the response, for rows that all languages share: the first language of the service takes precedence, others replace NULLs. */
  readonly locale?: string
}

/** All rows of some owners: stored rows that are not among them are deleted. */
export interface OwnedRows {
  readonly table: TableName
  /** The columns that identify the owner. */
  readonly owner: readonly string[]
  readonly owners: readonly RowValues[]
  readonly rows: readonly RowValues[]
  /** The language of the response, as in `TableRows`. */
  readonly locale?: string
}

/** The items of a listing, so that missing ones can be marked. */
export interface Listing {
  readonly item: 'indicator' | 'content' | 'widget'
  readonly text: 'indicator_text' | 'content_text' | 'widget_text'
  /** The kind of the listed items; null if the table has no kinds. */
  readonly kind: string | null
  readonly locale: string
  readonly ids: readonly number[]
  /** Whether the listing was complete and unfiltered. */
  readonly isComplete: boolean
}

/** The key of a value within its series. */
export interface ObservationKey {
  readonly geoId: number
  readonly at: number
}

/** A part of a reply that could not be parsed. */
export interface Reject {
  /** JSON path. */
  readonly path: string
  readonly reason: string
  readonly fragment: unknown
  /** The observation of the reject, if known. */
  readonly observation?: ObservationKey | undefined
}

/** Whether a reject of a series concerns its values, not only another field. */
export const isAboutValues = ({ path }: Pick<Reject, 'path'>): boolean => /\.values(\[\d+\])?$/.test(path)

/** The rows of a reply, without the columns that only the loader knows (fetch_id, first_seen_at). */
export interface Rows {
  readonly observations: Observations | null
  readonly tables: readonly TableRows[]
  readonly owned: readonly OwnedRows[]
  readonly listing: Listing | null
  /** The first rejects, each with its fragment. */
  readonly rejects: readonly Reject[]
  /** The number of all rejects. */
  readonly rejected: number
  /** The declared resolution in seconds; null without one. */
  readonly stepS: number | null
  /** The id of that resolution at the service. */
  readonly resolutionId: number | null
  readonly sourceUpdatedAt: string | null
  /** The number of ignored rows outside the requested window. */
  readonly outside: number
  /** Whether the response is valid and has no rows. */
  readonly isEmpty: boolean
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
  isEmpty: false,
}

/** The totals of a series and geo in a local day: a row of `_day` without its key. */
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
  /** The finest step that the day holds, its offset, and the number of values off its periods; null if it holds none. */
  readonly step: number | null
  readonly offset: number | null
  readonly strays: number | null
}

/** A local day of a geo with its totals. */
export type GeoDay = readonly [geoId: number, day: LocalDay, totals: DayTotals]
