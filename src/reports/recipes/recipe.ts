import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Service } from '../../service/service.ts'
import type { WellKnownSeries } from '../../service/wellKnown.ts'

/** What recipes take from the declaration of a service for their defaults. */
export type Subjects = Pick<Service, 'wellKnown' | 'exampleTexts' | 'locales'>

/** A series that a recipe reads: the names of the parameters that choose it. */
export interface Need {
  /** The parameter with the indicator, or several separated by commas. */
  readonly of: string
  readonly geo: string
  /** The parameter that names a series in place of the indicator; without one it is always the native series. */
  readonly series?: 'series'
  /** Whether it combines values to hours: no period may be longer. */
  readonly hourly?: true
}

/** What must be held for a recipe: a statement that returns 1 when it is, and the message when it does not. */
interface Precondition {
  readonly sql: string
  /** `{name}` stands for a parameter. */
  readonly lacks: string
  readonly hint: string
}

/** A named query of analysts: SQL that both databases read; PostgreSQL has some functions of SQLite in its schema `compat`. */
export interface Recipe {
  readonly name: string
  readonly question: string
  /**
   * Its parameters with their defaults. Null: no limit, or what the question says. `from` and `to` are local days `YYYY-MM-DD`
   * or instants `YYYY-MM-DDTHH:MM:SSZ`; `to` is not included.
   */
  readonly parameters: Readonly<Record<string, string | number | null>>
  /** Values with which the documentation shows the answer, where the defaults depend on the day. */
  readonly shown?: Readonly<Record<string, string | number>>
  readonly needs: readonly Need[]
  /** Other parameters without which it answers nothing. */
  readonly required?: readonly string[]
  readonly preconditions?: readonly Precondition[]
  readonly sql: string
  /** What it means when there are no rows although all needed data is held; `answers` where that is an answer. */
  readonly nothing: { readonly says: string; readonly answers: boolean }
}

/**
 * The condition on the range that all recipes on values share: whole local days, or instants in UTC. Its first line repeats the
 * range in instants, a day longer at either end, so that only the values near the range are read.
 */
export const IN_RANGE = `at between coalesce(unixepoch(substr(:from, 1, 10)) - 86400, -100000000000) and coalesce(unixepoch(substr(:to, 1, 10)) + 172800, 100000000000)
  and (:from is null or iif(length(:from) > 10, at_utc, local_date) >= :from)
  and (:to is null or iif(length(:to) > 10, at_utc, local_date) < :to)`
/** The same for totals of local days: a day counts when it begins in the range. */
export const DAY_RANGE = `(:from is null or iif(length(:from) > 10, at >= unixepoch(:from), local_date >= :from))
  and (:to is null or iif(length(:to) > 10, at < unixepoch(:to), local_date < :to))`
export const ALWAYS = { from: null, to: null } as const

/** The parameters of a recipe about one series of the given indicator and geo. */
export const about = (series: WellKnownSeries) => ({ ...series, series: null }) as const

/** The series as it came, without the service's own aggregation. */
export const NATIVE_SERIES = `kind = '${ENTRY_ROUTES.series}' and time_trunc is null and geo_agg is null`

/** One series: the given one, else the native one of the indicator. */
const ONE = `iif(:series is null, ${NATIVE_SERIES} and indicator_id = :indicator, series_id = :series)`

/** One series and geo. */
export const ONE_GEO = `${ONE} and geo_id = :geo`
export const ONE_NEED: Need = { of: 'indicator', geo: 'geo', series: 'series' }

/**
 * The hour in which a period begins, by which values are grouped. An hour of UTC is one hour on every clock whose offset is
 * whole hours, and the hour that comes twice is two. Making a text of it took two thirds of a recipe's time.
 */
export const HOUR_NUMBER = 'at / 3600'

/** The average of combined values, weighted by time. */
export const MEAN = 'sum(value * step_s) / sum(step_s)'

/**
 * What was added up, rounded to a number of decimals. It is rounded four decimals further before: the last bits of a sum differ
 * with the order in which an engine adds, and would decide where the exact sum is half of the last decimal.
 */
export const rounded = (sum: string, decimals = 0): string => `round(round(${sum}, ${decimals + 4}), ${decimals})`

/** Only hours that are held completely: the average of a part of an hour cannot be compared or added. */
export const WHOLE_HOUR = 'having sum(step_s) >= 3600'

/** The message where there are values, but none in the range that the recipe can use. */
export const NONE_IN_RANGE = { says: 'No values are stored for this time.', answers: false } as const
/** The same where whole local days are counted. */
export const NO_DAY = {
  says: 'No local day with values begins in this time: whole days are counted.',
  answers: false,
} as const

/** What a parameter without a value means; `all` for parameters that are not listed here. */
export const UNSAID: Readonly<Record<string, string>> = {
  from: 'no limit',
  to: 'no limit',
  series: 'native series',
  at: 'start of today',
  date: 'today',
}

/** Whether a parameter has no default because the service declares none, so that the recipe answers nothing without it. */
export const isNeeded = ({ needs, required = [], parameters }: Recipe, name: string): boolean =>
  parameters[name] === null && [...required, ...needs.flatMap(({ of, geo }) => [of, geo])].includes(name)

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

/**
 * The statement of a recipe with its defaults, for tools that send every parameter as text and a missing one as an empty text.
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
