import type { TableName } from './schema.ts'

/** Values of one series by column, ordered by geo, then instant, each pair once: the form in which they are written fastest. */
export interface Observations {
  readonly geoIds: readonly number[]
  readonly at: readonly number[]
  readonly values: readonly (number | null)[]
  /** Seconds of every period, or of each where they differ. */
  readonly steps: number | readonly number[]
  /** Whether nothing but distances that follow no step, or nothing at all, tells how long they are: it revises nothing. */
  readonly guessed?: boolean
}

export type RowValues = Readonly<Record<string, string | number | null>>

/**
 * Rows of one table. A row that is there already is updated with the columns that it has, unless it is to be `kept`;
 * where a listing has told it better, only what that leaves open is filled (`unlisted`).
 */
export interface TableRows {
  readonly table: TableName
  readonly rows: readonly RowValues[]
  readonly when?: 'kept' | 'unlisted'
  /** The language of what came, for rows that are shared by all: the first language of the service holds, whichever came last; others fill what it leaves open. */
  readonly locale?: string
}

/** The whole set of rows that belong to some owners: what is not in it any more goes. */
export interface OwnedRows {
  readonly table: TableName
  /** The columns that name the owner. */
  readonly owner: readonly string[]
  readonly owners: readonly RowValues[]
  readonly rows: readonly RowValues[]
  /** The language of what came, as for rows that are shared by all. */
  readonly locale?: string
}

/** Which items a listing held, so that those it no longer holds can be marked. */
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

/** A value of a geo at an instant. */
export interface Place {
  readonly geoId: number
  readonly at: number
}

/** Something that could not be understood. */
export interface Reject {
  /** JSON path. */
  readonly path: string
  readonly reason: string
  readonly fragment: unknown
  /** The value that it would be, where that is told. */
  readonly place?: Place | undefined
}

/** What a reply becomes. Columns that only the loader knows (fetch_id, first_seen_at) are left out. */
export interface Rows {
  readonly observations: Observations | null
  readonly tables: readonly TableRows[]
  readonly owned: readonly OwnedRows[]
  readonly listing: Listing | null
  /** The first of what could not be understood, with what stood there. */
  readonly rejects: readonly Reject[]
  /** How much could not be understood in all. */
  readonly rejected: number
  /** The resolution that the answer claims, in seconds; null where it has none. */
  readonly stepS: number | null
  /** The number under which it claims it. */
  readonly resolutionId: number | null
  readonly sourceUpdatedAt: string | null
  /** Rows outside the window that was requested, left out. */
  readonly outside: number
  /** Well-formed, and nothing in it. */
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
