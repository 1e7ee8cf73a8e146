import type { Locale } from '../service/routes.ts'
import type { Service } from '../service/service.ts'
import { ENTRY_ROUTES } from './entryRoutes.ts'
import type { JobFile } from './file/jobFile.ts'
import type { ArchivesEntry, Duration, Job, Selector, SeriesEntry, Window } from './job.ts'
import { durationSeconds, END_OF_TODAY } from './moment.ts'
import type { Notify } from './notification.ts'
import { toWords } from './select.ts'

const PACE = { perSecond: 2, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null }
const LOOKBACK: Duration = { count: 2, unit: 'day' }
const SERIES_REFRESH: Duration = { count: 1, unit: 'hour' }
const LISTING_REFRESH: Duration = { count: 12, unit: 'hour' }

/** The defaults of the entries of each part of a job. */
const SERIES = {
  geoIds: [],
  timeTrunc: null,
  timeAgg: null,
  geoAgg: null,
  geoTrunc: null,
  datetime: null,
  chunk: null,
  expect: null,
  lookback: LOOKBACK,
  refresh: SERIES_REFRESH,
}
const FILTERS = { taxonomyTerms: [], vocabularies: [] }
const ARCHIVES = { ...FILTERS, date: null, dateType: null, chunk: null, lookback: LOOKBACK, refresh: LISTING_REFRESH }
const CONTENT = { ...FILTERS, taxonomyIds: [], vocabularyIds: [], order: null, sticky: null, refresh: LISTING_REFRESH }
const WIDGETS = { list: false, names: [], widgetType: null, datetime: null, refresh: LISTING_REFRESH }
const CATALOGUE = { taxonomyTerms: [], refresh: LISTING_REFRESH }

/** Seconds: the lookback of a series that was never requested with one. */
export const DEFAULT_LOOKBACK_S = durationSeconds(LOOKBACK)

/** The keys that an entry sets, and the defaults of the others. */
const withDefaults = <E extends object, D extends object>(entry: E, defaults: D) =>
  ({ ...defaults, ...entry }) as Omit<E, keyof D> & {
    [K in keyof D]: D[K] | (K extends keyof E ? Exclude<E[K], undefined> : never)
  }

type SeriesFile = NonNullable<JobFile['series']>[number]
type ArchivesFile = NonNullable<JobFile['archives'] | JobFile['archivesJson']>[number]

function toWindow(window: SeriesFile['window']): Window | null {
  if (!window) return null
  const { from, to, last } = window
  if (last === undefined) return { from: from!, to: to ?? END_OF_TODAY }
  return { from: { kind: 'relative', duration: { ...last, count: -last.count } }, to: END_OF_TODAY }
}

/** An indicator of an entry, also with geos of its own. */
type IndicatorFile = Extract<SeriesFile['indicators'], readonly unknown[]>[number]

/** The indicators of an entry by their geos: those without geos of their own first. */
function groupByGeos(indicators: SeriesFile['indicators'], geoIds: readonly number[] | undefined) {
  if (!Array.isArray(indicators)) return [{ indicators: [], geoIds }]
  const groups = Map.groupBy(indicators as readonly IndicatorFile[], (item) =>
    typeof item === 'number' ? '' : item.geoIds.join(),
  )
  return [...groups.values()].map((items) => ({
    indicators: items.map((item) => (typeof item === 'number' ? item : item.id)),
    geoIds: typeof items[0] === 'object' ? items[0].geoIds : geoIds,
  }))
}

/** The selector of `all` and `{ match, terms, exclude }`; null for numbers. */
function toSelector(indicators: SeriesFile['indicators']): Selector | null {
  if (Array.isArray(indicators)) return null
  const { match, terms = [], exclude = [] } = indicators === 'all' ? {} : indicators
  return { match: toWords(match ?? ''), terms, exclude, only: null }
}

/** Turns addresses for notifications, as a job file has them, into targets with defaults. */
export const toNotify = (entries: NonNullable<JobFile['notify']>): Notify[] =>
  [entries]
    .flat()
    .map((entry) => withDefaults(typeof entry === 'string' ? { url: entry } : entry, { style: null, on: null }))

/** Turns a well-formed job file into a job with all defaults. */
export function normalizeJob(file: JobFile, service: Service, path: string | null = null): Job {
  const { locales = [service.locales[0]], catalogue, notify = [] } = file
  const chooseLocales = (several: readonly Locale[] | undefined, single: Locale | undefined): readonly Locale[] =>
    several ?? (single ? [single] : locales)
  const series = (part: 'series' | 'offers') =>
    (file[part] ?? []).flatMap(
      ({ indicators, geoIds, window, locale, locales: several, ...entry }: SeriesFile, i): SeriesEntry[] =>
        groupByGeos(indicators, geoIds).map((group) => ({
          ...withDefaults(entry, { ...SERIES, route: ENTRY_ROUTES[part] as string }),
          path: `${part}[${i}]`,
          indicators: group.indicators,
          geoIds: group.geoIds ?? SERIES.geoIds,
          select: toSelector(indicators),
          locale: chooseLocales(several, locale)[0]!,
          window: toWindow(window),
        })),
    )
  const archives = (part: 'archives' | 'archivesJson') =>
    (file[part] ?? []).map(
      ({ window, locale, locales: several, ...entry }: ArchivesFile, i): ArchivesEntry => ({
        ...withDefaults(entry, { ...ARCHIVES, route: ENTRY_ROUTES[part] as string }),
        path: `${part}[${i}]`,
        locales: chooseLocales(several, locale),
        window: toWindow(window),
      }),
    )
  const { window, locale, locales: several, ...widgets } = file.widgets ?? {}
  const catalogueEntry = typeof catalogue === 'object' ? catalogue : {}
  return {
    name: file.name,
    file: path,
    schedule: file.schedule ?? null,
    timeZone: file.timeZone ?? service.timeZone,
    locales,
    pace: withDefaults(file.pace ?? {}, PACE),
    keep: file.keep ?? 'all',
    newestFirst: file.newestFirst ?? false,
    lake: file.lake ?? null,
    notify: toNotify(notify),
    catalogue: catalogue
      ? {
          path: 'catalogue',
          locales: chooseLocales(catalogueEntry.locales, catalogueEntry.locale),
          taxonomyTerms: catalogueEntry.taxonomyTerms ?? CATALOGUE.taxonomyTerms,
          refresh: catalogueEntry.refresh ?? CATALOGUE.refresh,
        }
      : null,
    series: [...series('series'), ...series('offers')],
    content: (file.content ?? []).map(({ kinds, locale, locales: several, ...entry }, i) => ({
      ...withDefaults(entry, CONTENT),
      path: `content[${i}]`,
      routes: kinds,
      locales: chooseLocales(several, locale),
    })),
    archives: [...archives('archives'), ...archives('archivesJson')],
    widgets: file.widgets
      ? {
          ...withDefaults(widgets, WIDGETS),
          path: 'widgets',
          locales: chooseLocales(several, locale),
          window: toWindow(window),
        }
      : null,
  }
}
