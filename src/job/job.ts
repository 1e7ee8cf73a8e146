import type { Locale } from '../service/routes.ts'
import type { Instant } from '../util/time/instant.ts'
import type { LocalDate } from '../util/time/zone.ts'
import type { Notify } from './notification.ts'

/** The units of time in a job. */
const SPAN_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
export interface Span {
  readonly count: number
  readonly unit: (typeof SPAN_UNITS)[number]
}

/** An end of a window: now, the start of a local day, a time of a local day, an instant, or a span from the start of today. */
export type Moment =
  | { readonly kind: 'now' }
  | { readonly kind: 'date'; readonly date: LocalDate }
  | { readonly kind: 'local'; readonly date: LocalDate; readonly second: number }
  | { readonly kind: 'instant'; readonly at: Instant }
  | { readonly kind: 'relative'; readonly span: Span }

/** A wanted range: half-open, `to` excluded. */
export interface Window {
  readonly from: Moment
  readonly to: Moment
}

interface Entry {
  /** The path of the entry in the job file: `series[0]`. */
  readonly path: string
  /** Values that may still be revised are requested again when their last fetch is older than this. */
  readonly refresh: Span
}

/** Selects indicators by their catalogue entries instead of by number. */
export interface Selector {
  /** Words that all occur in a name or short name, at the beginning of a word; case and accents do not matter. */
  readonly match: readonly string[]
  /** Only those that the catalogue files under one of these terms; empty for all. */
  readonly terms: readonly string[]
  /** Numbers that are left out. */
  readonly exclude: readonly number[]
  /** Only these, where the user selected some with `--only`; null for no such limit. */
  readonly only: readonly number[] | null
}

/** Several indicators that are requested in the same way. */
export interface SeriesEntry extends Entry {
  /** The route of its requests, and the kind of its series. */
  readonly route: string
  /** Empty while `select` is not resolved. */
  readonly indicators: readonly number[]
  /** A selection by the catalogue; null where indicators are named by number. */
  readonly select: Selector | null
  /** Empty: every geo that the service has. */
  readonly geoIds: readonly number[]
  /** How the service groups, in the words of the route; null where it does not. */
  readonly timeTrunc: string | null
  readonly timeAgg: string | null
  readonly geoAgg: string | null
  readonly geoTrunc: string | null
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

/** Editorial content of some routes. */
export interface ContentEntry extends Entry, Terms {
  readonly routes: readonly string[]
  readonly taxonomyIds: readonly (string | number)[]
  readonly vocabularyIds: readonly (string | number)[]
  readonly order: string | null
  readonly sticky: boolean | null
}

/** Archive listings of one route. */
export interface ArchivesEntry extends Entry, Terms {
  readonly route: string
  readonly window: Window | null
  /** One day in place of a window, where the route takes it. */
  readonly date: Moment | null
  /** Which date the window is about, where the route takes it. */
  readonly dateType: string | null
  readonly lookback: Span
  readonly chunk: Span | null
}

/** The list of widgets, single widgets, or both. */
export interface WidgetsEntry extends Entry {
  readonly locales: readonly Locale[]
  readonly list: boolean
  readonly names: readonly (string | number)[]
  readonly widgetType: string | null
  readonly window: Window | null
  readonly datetime: Moment | null
}

/** How fast the service is called, and the most calls within a span; null for no limit. */
export interface Pace {
  /** Most calls in a second. */
  readonly perSecond: number
  /** Most calls at once. */
  readonly concurrency: number
  /** Most calls in a minute. */
  readonly callsPerMinute: number | null
  /** Most calls in an hour. */
  readonly callsPerHour: number | null
  /** Most calls in a day. */
  readonly callsPerDay: number | null
}

/** A normalized job: every default applied, every alias resolved, every value legal. */
export interface Job {
  /** The name of the job. */
  readonly name: string
  /** The path of its file as it was given; null if it was not read from a file. */
  readonly file: string | null
  /** The job before `--only` reduced it to some indicators; absent if it is whole. */
  readonly whole?: Job
  /** A cron expression in `timeZone`, or null. */
  readonly schedule: string | null
  /** The IANA time zone of local days and of the schedule. */
  readonly timeZone: string
  /** Languages of texts, in order of preference. */
  readonly locales: readonly Locale[]
  /** Limits on calls. */
  readonly pace: Pace
  /** Which reply bodies stay in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Whether the latest windows of all series are requested first. */
  readonly newestFirst: boolean
  /** The folder of the lake that is updated after each run, relative to the working directory; null for none. */
  readonly lake: string | null
  /** Who is notified of runs. */
  readonly notify: readonly Notify[]
  /** Which catalogue to fetch; null for none. */
  readonly catalogue: CatalogueEntry | null
  /** Which series to fetch. */
  readonly series: readonly SeriesEntry[]
  /** Which texts to fetch. */
  readonly content: readonly ContentEntry[]
  /** Which archives to list. */
  readonly archives: readonly ArchivesEntry[]
  /** Which widgets to fetch; null for none. */
  readonly widgets: WidgetsEntry | null
}
