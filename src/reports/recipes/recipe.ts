import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/service.ts'
import type { WellKnownSeries } from '../../service/wellKnown.ts'
import type { NeededColumn } from '../ownTables/readOwnTable.ts'

/** The parts of a service that provide defaults. */
export type RecipeDefaults = Pick<Service, 'wellKnown'>

/** A series that a recipe reads, as the names of the parameters that select it. */
export interface Need {
  /** The parameter with the indicator, or several separated by commas. */
  readonly indicator: string
  readonly geo: string
  /** The parameter with a series id that overrides the indicator; default: the native series. */
  readonly series?: 'series'
  /** Whether the recipe groups values by hour, so that no period may be longer. */
  readonly hourly?: true
}

/** How the result of a recipe is drawn, by the names of its columns. */
export interface RecipeChart {
  readonly kind: 'line' | 'bars'
  /** The column of the horizontal axis. */
  readonly x: string
  /** The columns of the lines or bars. */
  readonly y: readonly string[]
  /** A column whose values are lines of their own, each of the first column of `y`. */
  readonly by?: string
  /** The column with the unit of `y`. */
  readonly unit?: string
}

/** What a parameter is, so that a form can offer values. */
export type ParameterType = 'day' | 'instant' | 'indicator' | 'indicators' | 'geo' | 'number' | 'text'

/** A named query, in SQL for both databases; the schema `compat` of PostgreSQL has the functions of SQLite. */
export interface Recipe {
  readonly name: string
  readonly question: string
  /**
   * Parameters with their defaults; null means all, or what the statement says. `from` and `to` (exclusive) are local days `YYYY-MM-DD` or instants
   * `YYYY-MM-DDTHH:MM:SSZ`.
   */
  readonly parameters: Readonly<Record<string, string | number | null>>
  /** Values for the documentation, if the defaults depend on the current day. */
  readonly shown?: Readonly<Record<string, string | number>>
  readonly needs: readonly Need[]
  /** The table that the user must attach, with its columns. */
  readonly ownTable?: { readonly name: string; readonly columns: readonly NeededColumn[] }
  /** Its chart on the page; null if its rows have no numbers to draw. */
  readonly chart: RecipeChart | null
  readonly sql: string
  /** The message for an empty result, and whether that is a valid result. */
  readonly empty: { readonly message: string; readonly isResult: boolean }
}

/** The condition for days in the range, which is local days or instants in UTC. A day counts if it starts in the range. */
export const DAY_RANGE = `(:from is null or iif(length(:from) > 10, at >= unixepoch(:from), local_date >= :from))
  and (:to is null or iif(length(:to) > 10, at < unixepoch(:to), local_date < :to))`

/** The condition for values in the range or within a day of it, as instants, to read only those. */
export const NEAR_RANGE = `at between coalesce(unixepoch(substr(:from, 1, 10)) - 86400, -100000000000) and coalesce(unixepoch(substr(:to, 1, 10)) + 172800, 100000000000)`

/** The condition for values in the range. */
export const IN_RANGE = `${NEAR_RANGE}
  and ${DAY_RANGE}`
/** The condition for hours that lie in the range. */
export const HOURS_IN_RANGE = `${IN_RANGE}
  and (:to is null or length(:to) = 10 or at + 3600 <= unixepoch(:to))`
/** The condition for months that overlap the range. */
export const MONTHS_IN_RANGE = `(:from is null or local_month >= substr(:from, 1, 7)) and (:to is null or local_month || '-01' < :to)`
export const ANY_RANGE = { from: null, to: null } as const

/** The parameters of a recipe for one series. */
export const seriesParameters = (series: WellKnownSeries) => ({ ...series, series: null }) as const

/** The native series, without aggregation by the service. */
export const NATIVE_SERIES = `kind = '${ENTRY_ROUTES.series}' and time_trunc is null and geo_agg is null`

/** A geo of the given series; default: of the native series of the indicator. */
export const SERIES_AND_GEO = `iif(:series is null, ${NATIVE_SERIES} and indicator_id = :indicator, series_id = :series) and geo_id = :geo`
export const SERIES_NEED: Need = { indicator: 'indicator', geo: 'geo', series: 'series' }

/** The time-weighted average. */
export const WEIGHTED_MEAN = 'sum(value * step_s) / sum(step_s)'

/** Rounds a sum after rounding it to four more decimals: its last bits depend on the order of additions, and could tip it at a half. */
export const rounded = (sum: string, decimals = 0): string => `round(round(${sum}, ${decimals + 4}), ${decimals})`

/** The message if no stored value is in the range. */
export const NONE_IN_RANGE = { message: 'No values are stored in this range.', isResult: false }

/** Whether a parameter is required because the service defines no default. */
export const isNeeded = ({ needs, parameters }: Recipe, name: string): boolean =>
  parameters[name] === null && needs.some(({ indicator, geo }) => indicator === name || geo === name)

/** The names of parameters that are times. */
const TIMES: Readonly<Record<string, ParameterType>> = { from: 'day', to: 'day', at: 'instant' }

/** The type of a parameter, which follows from its name and from the series that the recipe needs. */
export function parameterType({ needs, parameters }: Recipe, name: string): ParameterType {
  const isNumber = typeof parameters[name] === 'number'
  if (name === 'geo' || needs.some(({ geo }) => geo === name)) return 'geo'
  if (name === 'indicator' || (isNumber && needs.some(({ indicator }) => indicator === name))) return 'indicator'
  if (needs.some(({ indicator }) => indicator === name)) return 'indicators'
  return TIMES[name] ?? (isNumber || name === 'series' ? 'number' : 'text')
}
