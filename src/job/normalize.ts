import type { Locale } from '../service/routes.ts'
import type { Service } from '../service/service.ts'
import { ENTRY_ROUTES } from './entryRoutes.ts'
import type { JobFile } from './file/jobFile.ts'
import type { ArchivesEntry, Job, Moment, Selector, SeriesEntry, WidgetsEntry, Window } from './job.ts'
import { spanSeconds } from './moment.ts'
import { toWords } from './select.ts'

/** The defaults of a job. The default zone and language are those of the service. */
const JOB_DEFAULTS = {
  pace: { perSecond: 2, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null },
  keep: 'all',
  lookback: { count: 2, unit: 'day' },
  refresh: { count: 1, unit: 'hour' },
  listingRefresh: { count: 12, unit: 'hour' },
} as const

/** Seconds: the lookback of a series that was never requested with one. */
export const DEFAULT_LOOKBACK = spanSeconds(JOB_DEFAULTS.lookback)

/** The end of windows that name none. */
const END_OF_TODAY: Moment = { kind: 'relative', span: { count: 1, unit: 'day' } }

function windowOrNull(window: NonNullable<JobFile['archives']>[number]['window'] | undefined): Window | null {
  if (!window) return null
  const { from, to, last } = window
  if (last !== undefined) {
    const span = { ...last, count: -last.count }
    return { from: { kind: 'relative', span }, to: END_OF_TODAY }
  }
  return { from: from!, to: to ?? END_OF_TODAY }
}

/** The selector of `all` and `{ match, terms, exclude }`; null for numbers. */
function toSelector(indicators: NonNullable<JobFile['series']>[number]['indicators']): Selector | null {
  if (Array.isArray(indicators)) return null
  const { match, terms = [], exclude = [] } = indicators === 'all' ? {} : indicators
  return { match: toWords(match ?? ''), terms, exclude, only: null }
}

interface LocaleKeys {
  readonly locales?: readonly Locale[] | undefined
  readonly locale?: Locale | undefined
}

/** Turns a well-formed job file into a job: every default applied. */
export function normalizeJob(file: JobFile, service: Service, path: string | null = null): Job {
  const locales: readonly Locale[] = file.locales ?? [service.locales[0]]
  const localesOf = (entry: LocaleKeys): readonly Locale[] => entry.locales ?? (entry.locale ? [entry.locale] : locales)
  type SeriesFile = NonNullable<JobFile['series']>[number]
  const series = (entry: SeriesFile, path: string, route: string): SeriesEntry => ({
    path,
    route: entry.route ?? route,
    indicators: Array.isArray(entry.indicators) ? entry.indicators : [],
    select: toSelector(entry.indicators),
    geoIds: entry.geoIds ?? [],
    timeTrunc: entry.timeTrunc ?? null,
    timeAgg: entry.timeAgg ?? null,
    geoAgg: entry.geoAgg ?? null,
    geoTrunc: entry.geoTrunc ?? null,
    locale: localesOf(entry)[0]!,
    window: windowOrNull(entry.window),
    datetime: entry.datetime ?? null,
    lookback: entry.lookback ?? JOB_DEFAULTS.lookback,
    refresh: entry.refresh ?? JOB_DEFAULTS.refresh,
    chunk: entry.chunk ?? null,
  })
  type ArchiveFile = Omit<NonNullable<JobFile['archivesJson']>[number], 'date'> & {
    readonly route?: string | undefined
    readonly date?: Moment | undefined
    readonly dateType?: ArchivesEntry['dateType'] | undefined
  }
  const archives = (entry: ArchiveFile, path: string, route: string): ArchivesEntry => ({
    path,
    route: entry.route ?? route,
    locales: localesOf(entry),
    taxonomyTerms: entry.taxonomyTerms ?? [],
    vocabularies: entry.vocabularies ?? [],
    window: windowOrNull(entry.window),
    date: entry.date ?? null,
    dateType: entry.dateType ?? null,
    lookback: entry.lookback ?? JOB_DEFAULTS.lookback,
    refresh: entry.refresh ?? JOB_DEFAULTS.listingRefresh,
    chunk: entry.chunk ?? null,
  })
  const widgets = (entry: NonNullable<JobFile['widgets']>): WidgetsEntry => ({
    path: 'widgets',
    locales: localesOf(entry),
    list: entry.list ?? false,
    names: entry.names ?? [],
    widgetType: entry.widgetType ?? null,
    window: windowOrNull(entry.window),
    datetime: entry.datetime ?? null,
    refresh: entry.refresh ?? JOB_DEFAULTS.listingRefresh,
  })
  const catalogue = typeof file.catalogue === 'object' ? file.catalogue : {}
  return {
    name: file.name,
    file: path,
    schedule: file.schedule ?? null,
    timeZone: file.timeZone ?? service.timeZone,
    locales,
    pace: {
      ...JOB_DEFAULTS.pace,
      ...Object.fromEntries(Object.entries(file.pace ?? {}).filter(([, value]) => value !== undefined)),
    },
    keep: file.keep ?? JOB_DEFAULTS.keep,
    newestFirst: file.newestFirst ?? false,
    lake: file.lake ?? null,
    notify: [file.notify ?? []]
      .flat()
      .map((entry) =>
        typeof entry === 'string'
          ? { url: entry, style: null, on: null }
          : { url: entry.url, style: entry.style ?? null, on: entry.on ?? null },
      ),
    catalogue: file.catalogue
      ? {
          path: 'catalogue',
          locales: localesOf(catalogue),
          taxonomyTerms: catalogue.taxonomyTerms ?? [],
          refresh: catalogue.refresh ?? JOB_DEFAULTS.listingRefresh,
        }
      : null,
    series: [
      ...(file.series ?? []).map((entry, i) => series(entry, `series[${i}]`, ENTRY_ROUTES.series)),
      ...(file.offers ?? []).map((entry, i) => series(entry, `offers[${i}]`, ENTRY_ROUTES.offers)),
    ],
    content: (file.content ?? []).map((entry, i) => ({
      path: `content[${i}]`,
      routes: entry.kinds,
      locales: localesOf(entry),
      taxonomyTerms: entry.taxonomyTerms ?? [],
      vocabularies: entry.vocabularies ?? [],
      taxonomyIds: entry.taxonomyIds ?? [],
      vocabularyIds: entry.vocabularyIds ?? [],
      order: entry.order ?? null,
      sticky: entry.sticky ?? null,
      refresh: entry.refresh ?? JOB_DEFAULTS.listingRefresh,
    })),
    archives: [
      ...(file.archives ?? []).map((entry, i) => archives(entry, `archives[${i}]`, ENTRY_ROUTES.archives)),
      ...(file.archivesJson ?? []).map((entry, i) => archives(entry, `archivesJson[${i}]`, ENTRY_ROUTES.archivesJson)),
    ],
    widgets: file.widgets ? widgets(file.widgets) : null,
  }
}
