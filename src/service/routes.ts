import {
  type Choice,
  choice,
  type DateForm,
  flag,
  id,
  idOrName,
  instant,
  list,
  type ParameterKind,
  type ValueOf,
} from './kinds.ts'
import type { Size } from './windowSizes.ts'

/** The languages of the texts of the specification's service, the preferred one first. */
export const LOCALES = ['es', 'en'] as const
/** A language of a service, as a tag: `es`, `pt-BR`. */
export type Locale = string

/** Steps of aggregations over time, shortest first. */
export const TIME_TRUNCS = ['five_minutes', 'ten_minutes', 'fifteen_minutes', 'hour', 'day', 'month', 'year'] as const
/** Aggregations. By default the service sums. */
const AGGREGATIONS = ['sum', 'average'] as const
/** Levels of aggregations over geos. */
export const GEO_LEVELS = [
  'country',
  'electric_system',
  'autonomous_community',
  'province',
  'electric_subsystem',
  'town',
  'drainage_basin',
] as const

const locale = choice(LOCALES)
const aggregation = choice(AGGREGATIONS, { avg: 'average' })
const range = (form: DateForm) => ({ start_date: instant(form), end_date: instant(form) })
const dates = (form: DateForm) => ({ datetime: instant(form), ...range(form) })
const terms = { taxonomy_terms: list, vocabularies: list }
const contentQuery = { locale, ...terms, taxonomy_ids: list, vocabulary_ids: list, sticky: flag }
const order = choice(['published', 'updated', 'created'])
const language = choice(['es'])

/** The shapes of responses. Routes with the same shape share a transform. */
const SHAPES = ['catalogue', 'series', 'content', 'archives', 'widgets'] as const
export type Shape = (typeof SHAPES)[number]
/** The versions of the interface. */
const VERSIONS = [1, 2] as const

/** One route of a service. */
export interface Route {
  /** The path, with its slots in braces. */
  readonly path: string
  /** The version that the Accept header requests. */
  readonly version: (typeof VERSIONS)[number]
  /** The expected shape of the response. */
  readonly shape: Shape
  /** The key of the data in the response. */
  readonly root: string
  readonly slots: Readonly<Record<string, ParameterKind>>
  readonly query: Readonly<Record<string, ParameterKind>>
  /** The kind of its items in the database, for content and archives. Default: the name of the route. */
  readonly item?: string
  /** Whether the response depends on the day, so that a range is requested day by day. */
  readonly isByDay?: boolean
  /** The first window of a series route. Default: by the number of geos. */
  readonly window?: Size
  /** One sentence for help and documentation. */
  readonly about: string
}

const CONTENT_ROUTE = {
  version: 1,
  shape: 'content',
  root: 'contents',
  slots: { language },
  query: { ...contentQuery, order },
} as const

/**
 * The whole service: a route is a row. Request building, validation, the types of a call, the emulator's router
 * and the documentation all come from here. Source: the service's specification, "Endpoints" and "Versioning".
 */
export const ROUTES = {
  indicators: {
    path: '/indicators',
    version: 1,
    shape: 'catalogue',
    root: 'indicators',
    slots: {},
    query: { locale, taxonomy_terms: list },
    about: 'The catalogue of indicators.',
  },
  indicator: {
    path: '/indicators/{id}',
    version: 1,
    shape: 'series',
    root: 'indicator',
    slots: { id },
    query: {
      locale,
      ...dates('utc'),
      time_agg: aggregation,
      time_trunc: choice(TIME_TRUNCS),
      geo_agg: aggregation,
      geo_ids: list,
      geo_trunc: choice(GEO_LEVELS),
    },
    about: 'The values of one indicator.',
  },
  offer_indicator: {
    path: '/offer_indicators/{id}',
    version: 1,
    shape: 'series',
    root: 'indicator',
    slots: { id },
    query: { locale, ...dates('utc') },
    window: { unit: 'day', count: 3 },
    about: 'The values of one offer indicator.',
  },
  documentations: {
    ...CONTENT_ROUTE,
    path: '/{language}/documentations',
    item: 'documentation',
    about: 'Documentations.',
  },
  static_pages: { ...CONTENT_ROUTE, path: '/{language}/static_pages', item: 'static_page', about: 'Static pages.' },
  glossaries: { ...CONTENT_ROUTE, path: '/{language}/glossaries', item: 'glossary', about: 'Glossary entries.' },
  news: {
    ...CONTENT_ROUTE,
    path: '/{language}/news',
    item: 'news',
    query: { ...contentQuery, order: choice(['published', 'updated', 'created', 'expires']) },
    about: 'News items.',
  },
  archives: {
    path: '/archives',
    version: 1,
    shape: 'archives',
    root: 'archives',
    item: 'archive',
    isByDay: true,
    slots: {},
    query: {
      locale,
      ...terms,
      ...range('offset'),
      date_type: choice(['datos', 'publicacion']),
    },
    about: 'The archives of a range of days.',
  },
  archives_json: {
    path: '/archives_json',
    version: 1,
    shape: 'archives',
    root: 'archives',
    item: 'archive_json',
    slots: {},
    query: {
      locale,
      ...terms,
      ...range('offset'),
      date: instant('offset'),
    },
    about: 'The archives that exist as JSON.',
  },
  widgets: {
    path: '/widgets',
    version: 1,
    shape: 'widgets',
    root: 'widgets',
    slots: {},
    query: { locale, ...dates('spaced'), widget_type: choice(['offer', 'widget']) },
    about: 'The list of widgets.',
  },
  widget: {
    path: '/widgets/{id}',
    version: 2,
    shape: 'widgets',
    root: 'widget',
    slots: { id: idOrName },
    query: { locale, ...dates('spaced') },
    about: 'One widget, by number or by name.',
  },
} as const satisfies Record<string, Route>

/** The name of a route. */
export type RouteName = keyof typeof ROUTES
/** The route that shows whether the service can be reached: a short listing. */
export const PROBE: RouteName = 'widgets'
export const ROUTE_NAMES = Object.keys(ROUTES) as RouteName[]
/** A route without literal types, for code that treats all routes alike. */
export const routeOf = (name: RouteName): Route => ROUTES[name]

type Simplify<T> = { [K in keyof T]: T[K] }

/** The parameters of a route: required path slots and optional query parameters, with their legal values. */
export type Params<R extends RouteName> = Simplify<
  { readonly [S in keyof (typeof ROUTES)[R]['slots']]: ValueOf<(typeof ROUTES)[R]['slots'][S]> } & {
    readonly [P in keyof (typeof ROUTES)[R]['query']]?: ValueOf<(typeof ROUTES)[R]['query'][P]>
  }
>

/** The parameters of a call of any route, by name. */
export type AnyParams = Readonly<Record<string, ValueOf<ParameterKind> | undefined>>

/** The parameters of a call, typed for a route of the specification. Others are checked when the request is built. */
export type ParamsOf<R extends string> = R extends RouteName ? Params<R> : AnyParams

/** The words of a query parameter; none if the route does not have it. */
export function wordsFor(routes: Readonly<Record<string, Route>>, route: string, parameter: string): Choice<string> {
  const kind = routes[route]?.query[parameter]
  return kind?.kind === 'choice' ? kind : choice([])
}

/** A route of editorial content. */
export type ContentRoute = {
  [R in RouteName]: (typeof ROUTES)[R]['shape'] extends 'content' ? R : never
}[RouteName]

/** The routes of a shape that a service has, by name. */
export const routesOf = (routes: Readonly<Record<string, Route>>, shape: Shape): string[] =>
  Object.keys(routes).filter((name) => routes[name]!.shape === shape)

export const CONTENT_ROUTES = routesOf(ROUTES, 'content') as ContentRoute[]

/** The kind of the items of a route in the database. */
export const itemKind = (routes: Readonly<Record<string, Route>>, name: string): string => routes[name]!.item ?? name
/** The kinds of content of a service, each with its route. */
export const contentKinds = (routes: Readonly<Record<string, Route>>): ReadonlyMap<string, string> =>
  new Map(routesOf(routes, 'content').map((name) => [itemKind(routes, name), name]))
