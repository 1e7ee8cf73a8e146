import type { Generated } from 'kysely'
import { contentKinds, ROUTES } from '../../service/routes.ts'

/** The kinds of content, for descriptions. */
export const CONTENT_KIND = [...contentKinds(ROUTES).keys()].join(', ')
/** The kinds of indicators, for descriptions: each is a route of values. */
export const INDICATOR_KIND = 'indicator or offer_indicator'
/** The kinds of archives, for descriptions. */
export const ARCHIVE_KIND = 'archive or archive_json (JSON listing)'
/** The kinds of searchable texts, for descriptions. */
export const SEARCHED_KIND = `indicator, offer_indicator, archive, archive_json, ${CONTENT_KIND}`

type StorageClass = 'integer' | 'real' | 'text' | 'blob'

/** A column with its storage class and its description. */
export interface Column<T> {
  readonly store: StorageClass
  readonly isNullable: boolean
  /** Whether the database generates a missing value. */
  readonly isGenerated: boolean
  /** True if PostgreSQL stores its numbers in four bytes, not eight. */
  readonly isSmall: boolean
  readonly about: string
  /** The selected type; not set at run time. */
  readonly type?: T
}

const column =
  <T>(store: StorageClass) =>
  (about: string): Column<T> => ({ store, isNullable: false, isGenerated: false, isSmall: false, about })

export const integer = column<number>('integer')
/** The largest number of a small column. */
export const MAX_SMALL = 2 ** 31 - 1
/** Returns true if four bytes can store a number. */
export const isSmall = (number: number): boolean => Number.isInteger(number) && Math.abs(number) <= MAX_SMALL
/** A whole number from `-MAX_SMALL` to `MAX_SMALL`, in a table with a row for each value. */
export const smallInteger = (about: string): Column<number> => ({ ...integer(about), isSmall: true })
export const real = column<number>('real')
export const text = column<string>('text')
export const blob = column<Buffer>('blob')
/** 1 or 0. */
export const flag = column<0 | 1>('integer')
/** Epoch seconds, UTC: an instant at the source. */
export const instant = (about: string): Column<number> => integer(`${about} (epoch seconds, UTC)`)
/** The time of a local event: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const moment = (about: string): Column<string> => text(`${about} (UTC, ISO 8601 to the millisecond)`)
/** A text that is one of the words of `T`. */
export const word = <T extends string>(about: string): Column<T> => column<T>('text')(about)
/** A JSON text. */
export const json = column<string>('text')

/** The same column, but nullable. */
export const optional = <T>(column: Column<T>): Column<T | null> =>
  ({ ...column, isNullable: true }) as Column<T | null>

/** A primary key that SQLite numbers. */
export const rowid = (about: string): Column<Generated<number>> => ({
  store: 'integer',
  isNullable: false,
  isGenerated: true,
  isSmall: false,
  about,
})

/** The language of texts. */
export const LOCALE = { locale: text('Language, such as es') }
/** When listings in a language contained a text. */
export const LISTED_TEXT = {
  last_seen_at: optional(moment('Last seen in a complete listing in this language')),
  withdrawn_at: optional(moment('First found missing from a complete listing in this language')),
}

/** A table with its description, columns and key. */
export interface Table<C extends Record<string, Column<unknown>> = Record<string, Column<unknown>>> {
  readonly about: string
  readonly columns: C
  readonly key: readonly (keyof C & string)[]
  /** Columns whose changes alone do not change the row, such as the time when it was seen. */
  readonly silent: readonly (keyof C & string)[]
  /** Foreign keys: the columns with the key of each other table. */
  readonly references: References<keyof C & string>
  /** Whether SQLite stores the rows in the order of the key, without a rowid. */
  readonly withoutRowid: boolean
}

type References<Name extends string> = Readonly<Record<string, readonly Name[]>>

interface TableOptions<Name extends string> {
  readonly key: readonly Name[]
  readonly silent?: readonly Name[]
  readonly references?: References<Name>
  readonly withoutRowid?: boolean
}

export const table = <C extends Record<string, Column<unknown>>>(
  about: string,
  columns: C,
  { key, silent = [], references = {}, withoutRowid = false }: TableOptions<keyof C & string>,
): Table<C> => ({ about, columns, key, silent, references, withoutRowid })

/** Some columns of a table, for a view that shows them. */
export const pick = <C extends Record<string, Column<unknown>>, K extends keyof C>(
  { columns }: Table<C>,
  ...names: readonly K[]
): Pick<C, K> => Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<C, K>

/** The row type of a table or view. */
export type RowOf<T> = T extends { readonly columns: infer C }
  ? { [K in keyof C]: C[K] extends Column<infer V> ? V : never }
  : never
