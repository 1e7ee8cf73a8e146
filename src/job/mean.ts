import { type Locale, ROUTES } from '../api/routes.ts'
import type { JobFile } from './file.ts'
import type { ArchivesEntry, Job, Moment, SeriesEntry, Span, WidgetsEntry, Window } from './job.ts'
import { parseMoment, parseSpan } from './moment.ts'

/** What a job means where it says nothing. */
export const DEFAULTS = {
  timeZone: 'Europe/Madrid',
  locales: ['es'],
  pace: { perSecond: 2, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null },
  keep: 'all',
  lookback: '2d',
  refresh: '1h',
  listingRefresh: '12h',
} as const

const span = (text: string | undefined, otherwise: string): Span => parseSpan(text ?? otherwise)!
const spanOrNull = (text: string | undefined): Span | null => (text === undefined ? null : parseSpan(text)!)
const momentOrNull = (text: string | undefined): Moment | null => (text === undefined ? null : parseMoment(text)!)
const END_OF_TODAY: Moment = { kind: 'relative', span: { count: 1, unit: 'day' } }

function windowOrNull(window: { from: string; to?: string | undefined } | { last: string } | undefined): Window | null {
  if (!window) return null
  if ('last' in window) {
    const { count, unit } = parseSpan(window.last)!
    return { from: { kind: 'relative', span: { count: -count, unit } }, to: END_OF_TODAY }
  }
  return { from: parseMoment(window.from)!, to: window.to === undefined ? END_OF_TODAY : parseMoment(window.to)! }
}

interface Spoken {
  readonly locales?: readonly Locale[] | undefined
  readonly locale?: Locale | undefined
}

/** Turns a well-formed job file into a job: every default applied, every alias resolved. */
export function meanJob(file: JobFile): Job {
  const locales: readonly Locale[] = file.locales ?? DEFAULTS.locales
  const localesOf = (entry: Spoken): readonly Locale[] => entry.locales ?? (entry.locale ? [entry.locale] : locales)
  const { aliases } = ROUTES.indicator.query.time_agg
  const aggregation = (word: string | undefined): 'sum' | 'average' | null =>
    word === undefined ? null : ((aliases[word] ?? word) as 'sum' | 'average')
  type SeriesFile = NonNullable<JobFile['series']>[number]
  const series = (entry: SeriesFile, where: string, kind: SeriesEntry['kind']): SeriesEntry => ({
    where,
    kind,
    indicators: entry.indicators,
    geoIds: entry.geoIds ?? [],
    timeTrunc: entry.timeTrunc ?? null,
    timeAgg: aggregation(entry.timeAgg),
    geoAgg: aggregation(entry.geoAgg),
    geoTrunc: entry.geoTrunc ?? null,
    locale: localesOf(entry)[0]!,
    window: windowOrNull(entry.window),
    datetime: momentOrNull(entry.datetime),
    lookback: span(entry.lookback, DEFAULTS.lookback),
    refresh: span(entry.refresh, DEFAULTS.refresh),
    chunk: spanOrNull(entry.chunk),
  })
  type ArchiveFile = Omit<NonNullable<JobFile['archivesJson']>[number], 'date'> & {
    readonly date?: string | undefined
    readonly dateType?: ArchivesEntry['dateType'] | undefined
  }
  const archives = (entry: ArchiveFile, where: string, route: ArchivesEntry['route']): ArchivesEntry => ({
    where,
    route,
    locales: localesOf(entry),
    taxonomyTerms: entry.taxonomyTerms ?? [],
    vocabularies: entry.vocabularies ?? [],
    window: windowOrNull(entry.window),
    date: momentOrNull(entry.date),
    dateType: entry.dateType ?? null,
    lookback: span(entry.lookback, DEFAULTS.lookback),
    refresh: span(entry.refresh, DEFAULTS.listingRefresh),
    chunk: spanOrNull(entry.chunk),
  })
  const widgets = (entry: NonNullable<JobFile['widgets']>): WidgetsEntry => ({
    where: 'widgets',
    locales: localesOf(entry),
    list: entry.list ?? false,
    names: entry.names ?? [],
    widgetType: entry.widgetType ?? null,
    window: windowOrNull(entry.window),
    datetime: momentOrNull(entry.datetime),
    refresh: span(entry.refresh, DEFAULTS.listingRefresh),
  })
  const catalogue = typeof file.catalogue === 'object' ? file.catalogue : {}
  return {
    name: file.name,
    schedule: file.schedule ?? null,
    timeZone: file.timeZone ?? DEFAULTS.timeZone,
    locales,
    pace: {
      ...DEFAULTS.pace,
      ...Object.fromEntries(Object.entries(file.pace ?? {}).filter(([, value]) => value !== undefined)),
    },
    keep: file.keep ?? DEFAULTS.keep,
    catalogue: file.catalogue
      ? {
          where: 'catalogue',
          locales: localesOf(catalogue),
          taxonomyTerms: catalogue.taxonomyTerms ?? [],
          refresh: span(catalogue.refresh, DEFAULTS.listingRefresh),
        }
      : null,
    series: [
      ...(file.series ?? []).map((entry, i) => series(entry, `series[${i}]`, 'indicator')),
      ...(file.offers ?? []).map((entry, i) => series(entry, `offers[${i}]`, 'offer_indicator')),
    ],
    content: (file.content ?? []).map((entry, i) => ({
      where: `content[${i}]`,
      kinds: entry.kinds,
      locales: localesOf(entry),
      taxonomyTerms: entry.taxonomyTerms ?? [],
      vocabularies: entry.vocabularies ?? [],
      taxonomyIds: entry.taxonomyIds ?? [],
      vocabularyIds: entry.vocabularyIds ?? [],
      order: entry.order ?? null,
      sticky: entry.sticky ?? null,
      refresh: span(entry.refresh, DEFAULTS.listingRefresh),
    })),
    archives: [
      ...(file.archives ?? []).map((entry, i) => archives(entry, `archives[${i}]`, 'archives')),
      ...(file.archivesJson ?? []).map((entry, i) => archives(entry, `archivesJson[${i}]`, 'archives_json')),
    ],
    widgets: file.widgets ? widgets(file.widgets) : null,
  }
}
