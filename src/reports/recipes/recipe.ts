import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/service.ts'
import type { WellKnownSeries } from '../../service/wellKnown.ts'

/** The parts of a service that provide defaults. */
export type Subjects = Pick<Service, 'wellKnown' | 'exampleTexts' | 'locales'>

/** A series that a recipe reads, as the names of the parameters that select it. */
export interface Need {
  /** The parameter with the indicator, or several separated by commas. */
  readonly of: string
  readonly geo: string
  /** The parameter with a series id that overrides the indicator; default: the native series. */
  readonly series?: 'series'
  /** Whether the recipe groups values by hour, so that no period may be longer. */
  readonly hourly?: true
}

/** A statement that returns 1 if the data of a recipe is stored, and the message if it returns 0. */
interface Precondition {
  readonly sql: string
  /** `{name}` stands for a parameter. */
  readonly lacks: string
  readonly hint: string
}

/** A named query, in SQL for both databases; the schema `compat` of PostgreSQL has the functions of SQLite. */
export interface Recipe {
  readonly name: string
  readonly question: string
  /**
   * Parameters with their defaults; null: see `UNSAID`. `from` and `to` (exclusive) are local days `YYYY-MM-DD` or instants
   * `YYYY-MM-DDTHH:MM:SSZ`.
   */
  readonly parameters: Readonly<Record<string, string | number | null>>
  /** Values for the documentation, if the defaults depend on the current day. */
  readonly shown?: Readonly<Record<string, string | number>>
  readonly needs: readonly Need[]
  /** Other required parameters. */
  readonly required?: readonly string[]
  readonly preconditions?: readonly Precondition[]
  readonly sql: string
  /** The message for an empty result; `answers`: an empty result is a valid answer. */
  readonly nothing: { readonly says: string; readonly answers: boolean }
}

/** The condition on the range: whole local days, or instants in UTC. A day counts if it starts in the range. */
export const DAY_RANGE = `(:from is null or iif(length(:from) > 10, at >= unixepoch(:from), local_date >= :from))
  and (:to is null or iif(length(:to) > 10, at < unixepoch(:to), local_date < :to))`

/**
 * The same for values. Its first line repeats the range in instants, widened by a
 * day at both ends, so that the query reads only values near the range.
 */
export const IN_RANGE = `at between coalesce(unixepoch(substr(:from, 1, 10)) - 86400, -100000000000) and coalesce(unixepoch(substr(:to, 1, 10)) + 172800, 100000000000)
  and ${DAY_RANGE}`
/** The same for hours, which count if they lie in the range. */
export const HOURS_IN_RANGE = `${IN_RANGE}
  and (:to is null or length(:to) = 10 or at + 3600 <= unixepoch(:to))`
export const ALWAYS = { from: null, to: null } as const

/** The parameters of a recipe for one series. */
export const about = (series: WellKnownSeries) => ({ ...series, series: null }) as const

/** The native series, without aggregation by the service. */
export const NATIVE_SERIES = `kind = '${ENTRY_ROUTES.series}' and time_trunc is null and geo_agg is null`

/** The given series; default: the native one of the indicator. */
const ONE = `iif(:series is null, ${NATIVE_SERIES} and indicator_id = :indicator, series_id = :series)`

/** One series and geo. */
export const ONE_GEO = `${ONE} and geo_id = :geo`
export const ONE_NEED: Need = { of: 'indicator', geo: 'geo', series: 'series' }

/** The time-weighted average. */
export const MEAN = 'sum(value * step_s) / sum(step_s)'

/**
 * A sum rounded to a number of decimals, after rounding to four more. The last bits of a sum depend on the order of additions,
 * and would otherwise decide between two results if the exact sum lies halfway.
 */
export const rounded = (sum: string, decimals = 0): string => `round(round(${sum}, ${decimals + 4}), ${decimals})`

/** The message if no stored value is in the range. */
export const NONE_IN_RANGE = { says: 'No values are stored in this range.', answers: false } as const
/** The same for recipes that count whole local days. */
export const NO_DAY = {
  says: 'No local day with values starts in this range; the recipe counts whole days.',
  answers: false,
} as const

/** The meaning of a parameter without a value; default: `all`. */
export const UNSAID: Readonly<Record<string, string>> = {
  from: 'no limit',
  to: 'no limit',
  series: 'native series',
  locale: 'preferred language',
  at: 'today, 00:00 local time; in plain SQL, 00:00 UTC',
  date: 'today in local time; in plain SQL, in UTC',
}

/** Whether a parameter is required because the service defines no default. */
export const isNeeded = ({ needs, required = [], parameters }: Recipe, name: string): boolean =>
  parameters[name] === null && [...required, ...needs.flatMap(({ of, geo }) => [of, geo])].includes(name)

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

/**
 * The statement of a recipe with its defaults, for tools that send all parameters as text and empty ones as ''.
 */
export function withDefaults({ sql, parameters }: Pick<Recipe, 'sql' | 'parameters'>): string {
  return sql.replaceAll(/:(\w+)/g, (mark, name: string) => {
    if (!Object.hasOwn(parameters, name)) return mark
    const value = parameters[name]!
    if (value === null) return `nullif(:${name}, '')`
    const given = `coalesce(nullif(:${name}, ''), ${literal(value)})`
    return typeof value === 'number' ? `cast(${given} as numeric)` : given
  })
}
