import type { Locale } from '../service/routes.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { LocalDate } from '../util/time/zone.ts'
import type { Expectation } from './expectation.ts'
import type { Notify } from './notification.ts'

/** The units of time in a job. */
const SPAN_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
export interface Duration {
  readonly count: number
  readonly unit: (typeof SPAN_UNITS)[number]
}

/** A bound of a window: now, a local day, a local time, an instant, or a duration from the start of today. */
export type Moment =
  | { readonly kind: 'now' }
  | { readonly kind: 'date'; readonly date: LocalDate }
  | { readonly kind: 'local'; readonly date: LocalDate; readonly second: number }
  | { readonly kind: 'instant'; readonly at: Instant }
  | { readonly kind: 'relative'; readonly duration: Duration }

/** A selected range; `to` is exclusive. */
export interface Window {
  readonly from: Moment
  readonly to: Moment
}

interface Entry {
  /** The path of the entry in the job file: `series[0]`. */
  readonly path: string
  /** Values that may still be revised are fetched again if their last fetch is older than this. */
  readonly refresh: Duration
}

/** Selects indicators by their catalogue entries. */
export interface Selector {
  /** Each starts a word of a name or short name, ignoring case and accents. */
  readonly match: readonly string[]
  /** Only indicators with one of these terms; empty for all. */
  readonly terms: readonly string[]
  /** Excluded ids. */
  readonly exclude: readonly number[]
  /** The ids of `--only`; null without it. */
  readonly only: readonly number[] | null
}

/** Indicators that are requested in the same way. An entry of a job file whose indicators have geos of their own is several of these. */
export interface SeriesEntry extends Entry {
  /** The route of its requests, and the kind of its series. */
  readonly route: string
  /** Empty until `select` is resolved. */
  readonly indicators: readonly number[]
  /** A selection by the catalogue; null for ids. */
  readonly select: Selector | null
  /** Empty for all. */
  readonly geoIds: readonly number[]
  /** Aggregation by the service, in the words of the route; null for none. */
  readonly timeTrunc: string | null
  readonly timeAgg: string | null
  readonly geoAgg: string | null
  readonly geoTrunc: string | null
  /** The language of the names in the reply. */
  readonly locale: Locale
  /** Null only with `datetime`. */
  readonly window: Window | null
  /** One instant instead of a window. */
  readonly datetime: Moment | null
  /** What the job expects of the periods of its series; null: their stored values decide. */
  readonly expect: Expectation | null
  /** The age up to which values may be revised, so that they are fetched again. */
  readonly lookback: Duration
  /** The largest window of one request; null: chosen by the number of geos and earlier responses. */
  readonly chunk: Duration | null
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
  /** One day instead of a window, if the route supports it. */
  readonly date: Moment | null
  /** The date to which the window refers, if the route supports it. */
  readonly dateType: string | null
  readonly lookback: Duration
  readonly chunk: Duration | null
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

/** Limits of calls; null for none. */
export interface Pace {
  /** Maximum calls per second. */
  readonly perSecond: number
  /** Maximum concurrent calls. */
  readonly concurrency: number
  /** Maximum calls per minute. */
  readonly callsPerMinute: number | null
  /** Maximum calls per hour. */
  readonly callsPerHour: number | null
  /** Maximum calls per day. */
  readonly callsPerDay: number | null
}

/** What to do with a reply that has invalid rows: quarantine those, or store it without loading it and end the run. */
export type OnReject = 'quarantine' | 'fail'

/** The range of the user: `narrow` cuts the windows of a job down to it, `replace` replaces them by it. */
export interface UserRange {
  readonly interval: Interval
  readonly how: 'narrow' | 'replace'
}

/** A normalized job, with defaults and without aliases; every value is legal. */
export interface Job {
  /** The name of the job. */
  readonly name: string
  /** The path of its file; null if it was not read from a file. */
  readonly file: string | null
  /** The whole job, if `--only` reduced it to some indicators. */
  readonly fullJob?: Job
  /** Ids of `--only` that only a selector can select, and the selectors of all jobs of the command. */
  readonly unmatched?: { readonly ids: readonly number[]; readonly selectors: readonly Selector[] }
  /** A cron expression in `timeZone`, or null. */
  readonly schedule: string | null
  /** The IANA time zone of local days and of the schedule. */
  readonly timeZone: string
  /** Languages of texts, in order of preference. */
  readonly locales: readonly Locale[]
  /** Limits on calls. */
  readonly pace: Pace
  /** Which response bodies to keep. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Whether to fetch the latest windows first. */
  readonly newestFirst: boolean
  /** The folder or bucket of the lake, which is updated after each run; null for none. */
  readonly lake: string | null
  /** The addresses for notifications. */
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
