import type { Instant } from '../base/instant.ts'
import type { LocalDate } from '../base/zone.ts'
import type { Choice } from '../services/kinds.ts'
import type { ContentRoute, Locale, ROUTES } from '../services/routes.ts'
import type { Notify } from './notify.ts'

/** The legal words of a query parameter of a route, from the registry. */
type Words<R extends keyof typeof ROUTES, P extends keyof (typeof ROUTES)[R]['query']> =
  (typeof ROUTES)[R]['query'][P] extends Choice<infer V> ? V : never

/** Calendar units in which a job speaks of time. */
export const SPAN_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
export interface Span {
  readonly count: number
  readonly unit: (typeof SPAN_UNITS)[number]
}

/** A point of a window: now, a local day's first instant, a clock time of a local day, an instant, or so many units from the start of today. */
export type Moment =
  | { readonly kind: 'now' }
  | { readonly kind: 'date'; readonly date: LocalDate }
  | { readonly kind: 'local'; readonly date: LocalDate; readonly second: number }
  | { readonly kind: 'instant'; readonly at: Instant }
  | { readonly kind: 'relative'; readonly span: Span }

/** What is wanted of a range: half-open, `to` excluded. */
export interface Window {
  readonly from: Moment
  readonly to: Moment
}

interface Entry {
  /** Where in the job file the entry stands: `series[0]`. */
  readonly where: string
  /** What may still change is requested again when it was last fetched longer ago than this. */
  readonly refresh: Span
}

/** Indicators that are named by what the catalogue says of them, in place of their numbers. */
export interface Selector {
  /** Words that all occur in a name or short name, at the beginning of a word; case and accents do not matter. */
  readonly match: readonly string[]
  /** Only those that the catalogue files under one of these terms; empty for all. */
  readonly terms: readonly string[]
  /** Numbers that are left out. */
  readonly exclude: readonly number[]
  /** Nothing but these, where the user narrowed the job to some; null for no such limit. */
  readonly only: readonly number[] | null
}

/** Several indicators with the same question. */
export interface SeriesEntry extends Entry {
  readonly kind: 'indicator' | 'offer_indicator'
  /** Empty while `select` is not resolved. */
  readonly indicators: readonly number[]
  /** Indicators by what the catalogue says of them; null when they are named by number. */
  readonly select: Selector | null
  /** Empty: every geo that the service has. */
  readonly geoIds: readonly number[]
  readonly timeTrunc: Words<'indicator', 'time_trunc'> | null
  readonly timeAgg: Words<'indicator', 'time_agg'> | null
  readonly geoAgg: Words<'indicator', 'geo_agg'> | null
  readonly geoTrunc: Words<'indicator', 'geo_trunc'> | null
  /** The language of the names in the answer. */
  readonly locale: Locale
  /** Null only when `datetime` is given. */
  readonly window: Window | null
  /** One instant in place of a window. */
  readonly datetime: Moment | null
  /** Windows that end later than this before now may still be revised, and are requested again. */
  readonly lookback: Span
  /** The largest window of one request; null: chosen from the number of geos and what was learned. */
  readonly chunk: Span | null
}

/** The catalogue of indicators. */
export interface CatalogueEntry extends Entry {
  readonly locales: readonly Locale[]
  readonly taxonomyTerms: readonly string[]
}

interface Terms {
  readonly locales: readonly Locale[]
  readonly taxonomyTerms: readonly string[]
  readonly vocabularies: readonly string[]
}

/** Editorial content of some kinds. */
export interface ContentEntry extends Entry, Terms {
  readonly kinds: readonly ContentRoute[]
  readonly taxonomyIds: readonly (string | number)[]
  readonly vocabularyIds: readonly (string | number)[]
  readonly order: Words<'news', 'order'> | null
  readonly sticky: boolean | null
}

/** Archive listings, of either route. */
export interface ArchivesEntry extends Entry, Terms {
  readonly route: 'archives' | 'archives_json'
  readonly window: Window | null
  /** `archives_json` only: one day in place of a window. */
  readonly date: Moment | null
  /** `archives` only. */
  readonly dateType: Words<'archives', 'date_type'> | null
  readonly lookback: Span
  readonly chunk: Span | null
}

/** The list of widgets, single widgets, or both. */
export interface WidgetsEntry extends Entry {
  readonly locales: readonly Locale[]
  readonly list: boolean
  readonly names: readonly (string | number)[]
  readonly widgetType: Words<'widgets', 'widget_type'> | null
  readonly window: Window | null
  readonly datetime: Moment | null
}

/** How fast the service is called, and how often within a span; null: no limit but the others. */
export interface Pace {
  readonly perSecond: number
  readonly concurrency: number
  readonly callsPerMinute: number | null
  readonly callsPerHour: number | null
  readonly callsPerDay: number | null
}

/** A job as it is meant: every default applied, every alias resolved, every value legal. */
export interface Job {
  readonly name: string
  /** A cron expression in `timeZone`, or null. */
  readonly schedule: string | null
  readonly timeZone: string
  readonly locales: readonly Locale[]
  readonly pace: Pace
  /** Which reply bodies stay in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Whether the latest windows of all series are requested first. */
  readonly newestFirst: boolean
  /** The folder of the lake that is brought up to date after each run, seen from the working directory; null for none. */
  readonly lake: string | null
  /** Who is told what became of a run. */
  readonly notify: readonly Notify[]
  readonly catalogue: CatalogueEntry | null
  readonly series: readonly SeriesEntry[]
  readonly content: readonly ContentEntry[]
  readonly archives: readonly ArchivesEntry[]
  readonly widgets: WidgetsEntry | null
}
