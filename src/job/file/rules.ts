import { Cron } from 'croner'
import { routesOf, wordsFor } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { isObject, toList } from '../../util/json.ts'
import { checkZone, formatLocal } from '../../util/time/zone.ts'
import { ENTRY_ROUTES, PARAMETER_OF } from '../entryRoutes.ts'
import { contradictsGrouping, type Expectation } from '../expectation.ts'
import type { Moment } from '../job.ts'
import { END_OF_TODAY, resolveMoment } from '../moment.ts'
import { isNotifyUrl, NOTIFY_FORM } from '../notification.ts'
import { isReservedName, RESERVED_NAMES } from '../reservedNames.ts'
import { toWords } from '../select.ts'

type KeyPath = readonly (string | number)[]
/** A part of a job file, with words, durations and moments parsed if they are legal. Illegal ones are reported elsewhere. */
type WrittenEntry = Readonly<Record<string, unknown>>

/** The context of rules about an entry. */
export interface RuleContext {
  readonly service: Service
  /** The time zone of the job. */
  readonly zone: string
  /** Whether the value at a path is legal, and so parsed. */
  readonly isLegal: (path: KeyPath) => boolean
  /** Reports a broken rule at a path. */
  readonly report: (path: KeyPath, message: string) => void
}

type Rule = (entry: WrittenEntry, path: KeyPath, context: RuleContext) => void

const SUMS = 'timeTrunc needs timeAgg: without it, the service sums values, which is wrong for prices'

/** The route of an entry: its own, or that of its part of the job. */
const entryRoute = ({ route }: WrittenEntry, [part]: KeyPath): string =>
  String(route ?? ENTRY_ROUTES[part as keyof typeof ENTRY_ROUTES])

/** The service must have the route, and the route must support the keys and words of the entry. */
const routeRule: Rule = (entry, path, { service, report }) => {
  const { routes } = service
  const name = entryRoute(entry, path)
  const route = routes[name]
  if (!route) {
    // Another name is reported as an illegal value.
    if (entry.route !== undefined) return
    const [part] = path
    const legal =
      part === 'series' || part === 'archives' ? routesOf(routes, part).map((other) => `route: ${other}`) : []
    const expected = legal.length > 0 ? `; expected ${legal.join(', ')}` : ''
    return report(path, `the service ${service.name} has no route ${name}${expected}`)
  }
  const isSupported = (key: string): boolean =>
    PARAMETER_OF[key] === undefined || Object.hasOwn(route.query, PARAMETER_OF[key])
  for (const [key, value] of Object.entries(entry)) {
    const { values, aliases } = wordsFor(routes, name, PARAMETER_OF[key] ?? '')
    if (!isSupported(key)) {
      const supported = Object.keys(PARAMETER_OF).filter(isSupported).join(', ') || 'none'
      report([...path, key], `is not supported by route ${name}; supported: ${supported}`)
    } else if (values.length > 0 && !values.includes(String(value)) && !Object.hasOwn(aliases, String(value))) {
      const expected = `expected one of: ${values.join(', ')}`
      report([...path, key], `${JSON.stringify(value)} is not supported by route ${name}; ${expected}`)
    }
  }
}

const seriesRule: Rule = (entry, path, { service: { routes }, isLegal, report }) => {
  const route = entryRoute(entry, path)
  const legal = (parameter: string): string => wordsFor(routes, route, parameter).values.join(', ')
  const reportKey = (key: string, message: string): void => report([...path, key], message)
  if (entry.timeTrunc && !entry.timeAgg) reportKey('timeTrunc', `${SUMS}; expected one of: ${legal('time_agg')}`)
  if (entry.timeAgg && !entry.timeTrunc) reportKey('timeAgg', 'timeAgg needs timeTrunc')
  if (entry.geoTrunc && !entry.geoAgg)
    reportKey('geoTrunc', `geoTrunc needs geoAgg; expected one of: ${legal('geo_agg')}`)
  const { indicators } = entry
  if (route !== ENTRY_ROUTES.series && indicators !== undefined && !Array.isArray(indicators))
    reportKey(
      'indicators',
      `cannot select from the catalogue, which does not list route ${route}; expected a list of ids`,
    )
  if (isObject(indicators)) {
    if (Object.keys(indicators).length === 0 && isLegal([...path, 'indicators']))
      reportKey('indicators', 'selects nothing; set match, terms or exclude, or use `indicators: all`')
    if (typeof indicators.match === 'string' && toWords(indicators.match).length === 0)
      reportKey('indicators', 'match contains no word')
  }
  const reportRepeated = (list: unknown, at: KeyPath, noun: string, hint = ''): void => {
    const items = toList(list).map(indicatorId)
    for (const [i, id] of items.entries())
      if (items.indexOf(id) < i) report([...at, i], `${noun} ${id} is listed twice${hint}`)
  }
  const owners = toList(indicators).flatMap((item, i) =>
    isObject(item) ? [{ item, at: [...path, 'indicators', i] }] : [],
  )
  reportRepeated(indicators, [...path, 'indicators'], 'indicator', owners.length > 0 ? '; list all its geos once' : '')
  reportRepeated(entry.geoIds, [...path, 'geoIds'], 'geo')
  for (const { item, at } of owners) {
    reportRepeated(item.geoIds, [...at, 'geoIds'], 'geo')
    if (routes[route] && !Object.hasOwn(routes[route].query, PARAMETER_OF.geoIds!))
      report([...at, 'geoIds'], `is not supported by route ${route}`)
  }
}

/** The id of an indicator that may have geos of its own. */
const indicatorId = (item: unknown): unknown => (isObject(item) ? item.id : item)

/** A series has one cadence, and one that the service groups has the step of its groups. */
const expectRule: Rule = ({ expect, timeTrunc, datetime }, path, { isLegal, report }) => {
  if (expect === undefined || !isLegal([...path, 'expect'])) return
  const expected = expect as Expectation
  if (datetime !== undefined) report([...path, 'expect'], 'expect needs a window: an instant has one period; remove it')
  if (typeof timeTrunc === 'string' && contradictsGrouping(expected, timeTrunc))
    report([...path, 'expect'], `${expected} contradicts timeTrunc: ${timeTrunc}; remove it, or expect irregular`)
}

/** Refuses a window together with an instant, and requires one of them if `isRequired`. */
const timeRule =
  (instant: string, isRequired: boolean): Rule =>
  (entry, path, context) => {
    if (entry.window !== undefined && entry[instant] !== undefined)
      context.report([...path, instant], `${instant} and window cannot be combined; keep one`)
    if (isRequired && entry.window === undefined && entry[instant] === undefined)
      context.report(
        path,
        `window is missing (or ${instant}); expected { from: 2025-01-01, to: 2025-02-01 } or { last: 7d }`,
      )
    windowRule(entry, path, context)
  }

/** Any instant: noon on a winter day. Relative moments are compared as of then. */
const SAMPLE_NOW = 1_763_985_600

/** A window is `last`, or `from` with or without `to`, which must be later. */
const windowRule: Rule = ({ window }, path, { zone, isLegal, report }) => {
  if (!isObject(window)) return
  const reportKey = (key: string, message: string): void => report([...path, 'window', key], message)
  const { from, to, last } = window
  if (last !== undefined && (from !== undefined || to !== undefined))
    return reportKey('last', `last and ${from === undefined ? 'to' : 'from'} cannot be combined; keep one`)
  if (last === undefined && from === undefined)
    return reportKey('from', 'is missing; expected { from: 2025-01-01, to: 2025-02-01 } or { last: 7d }')
  const moment = (key: string) => (isLegal([...path, 'window', key]) ? (window[key] as Moment | undefined) : undefined)
  const first = moment('from')
  const second = to === undefined ? END_OF_TODAY : moment('to')
  if (!first || !second) return
  const isRelative = ({ kind }: Moment): boolean => kind === 'relative' || kind === 'now'
  if (isRelative(first) !== isRelative(second)) return
  // Most windows are two days, which can be compared without a zone; loading a zone is slow.
  if (first.kind === 'date' && second.kind === 'date' && first.date < second.date) return
  const start = resolveMoment(first, zone, SAMPLE_NOW)
  const end = resolveMoment(second, zone, SAMPLE_NOW)
  if (start < end) return
  if (to === undefined) return reportKey('from', 'is not before the end of today, the default of to; set to')
  // Local times that a clock change skips are moved, so the written ones may be in order.
  const resolved = isRelative(first) ? '' : `: ${formatLocal(zone, start)} to ${formatLocal(zone, end)}`
  reportKey('to', `to must be later than from, because to is exclusive${resolved}`)
}

const localeRule: Rule = (entry, path, { report }) => {
  if (entry.locale && entry.locales) report([...path, 'locale'], 'locale and locales cannot be combined; keep one')
}

/** A series has no texts of its own: one language is that of its requests. */
const oneLocaleRule: Rule = ({ locales }, path, { report }) => {
  if (toList(locales).length > 1)
    report([...path, 'locales'], 'values are requested in one language; keep one. `catalogue` fetches names in several')
}

/** Not every kind of content supports every order. */
const orderRule: Rule = ({ order, kinds }, path, { service: { routes }, report }) => {
  const orders = (route: string): readonly unknown[] => wordsFor(routes, route, 'order').values
  const contents = routesOf(routes, 'content')
  const able = contents.filter((route) => orders(route).includes(order))
  const unable = contents.find((route) => toList(kinds).includes(route) && !able.includes(route))
  if (able.length === 0 || unable === undefined) return
  const expected = `expected one of: ${orders(unable).join(', ')}`
  report([...path, 'order'], `${order} is supported only by ${able.join(', ')}; ${expected}`)
}

/** The rules of the entries of each list of a job. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  series: [routeRule, seriesRule, timeRule('datetime', true), expectRule, localeRule, oneLocaleRule],
  offers: [routeRule, seriesRule, timeRule('datetime', true), expectRule, localeRule, oneLocaleRule],
  content: [orderRule, localeRule],
  archives: [routeRule, windowRule, localeRule],
  archivesJson: [routeRule, timeRule('date', true), localeRule],
}

/** The message of the error that a function throws; undefined if it throws none. */
function errorMessage(attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const PARTS = ['series', 'offers', 'content', 'archives', 'archivesJson', 'widgets', 'catalogue']

/** Checks the rules of a parsed job file, of which some values may be illegal. */
export function checkRules(
  job: unknown,
  service: Service,
  { isLegal, report }: Pick<RuleContext, 'isLegal' | 'report'>,
): void {
  if (!isObject(job)) return
  const { name, timeZone, schedule, widgets, catalogue } = job
  if (typeof name === 'string' && isReservedName(name))
    report(
      ['name'],
      `${JSON.stringify(name)} is reserved for the program's own runs, as are ${RESERVED_NAMES.join(', ')}; choose another name`,
    )
  const zoneError = typeof timeZone === 'string' ? errorMessage(() => checkZone(timeZone)) : undefined
  if (zoneError !== undefined) report(['timeZone'], zoneError)
  const cronError = typeof schedule === 'string' ? errorMessage(() => new Cron(schedule, { paused: true })) : undefined
  if (cronError !== undefined) report(['schedule'], `is not a cron expression: ${cronError}; example: "15 21 * * *"`)
  if (PARTS.every((part) => job[part] === undefined || job[part] === false))
    report([], `the job selects no data; add one of: catalogue, ${PARTS.slice(0, -1).join(', ')}`)
  const zone = zoneError === undefined ? String(timeZone ?? service.timeZone) : 'UTC'
  const context = { service, zone, isLegal, report }
  for (const [part, rules] of Object.entries(RULES))
    for (const [i, entry] of toList(job[part]).entries())
      if (isObject(entry)) for (const rule of rules) rule(entry, [part, i], context)
  checkExpectations(job, report)
  checkNotify(job.notify, report)
  const requireRoute = (path: KeyPath, route: string): void => {
    if (!service.routes[route]) report(path, `the service ${service.name} has no route ${route}`)
  }
  if (isObject(widgets)) {
    timeRule('datetime', false)(widgets, ['widgets'], context)
    localeRule(widgets, ['widgets'], context)
    if (widgets.list) requireRoute(['widgets', 'list'], ENTRY_ROUTES.widgets)
    if (widgets.names) requireRoute(['widgets', 'names'], ENTRY_ROUTES.widget)
    if (!widgets.list && !widgets.names) report(['widgets'], 'widgets selects no data; set list: true, or names')
    if (widgets.widgetType && !widgets.list)
      report(['widgets', 'widgetType'], 'widgetType filters the list; it needs list: true')
  }
  if (catalogue) requireRoute(['catalogue'], ENTRY_ROUTES.catalogue)
  if (isObject(catalogue)) localeRule(catalogue, ['catalogue'], context)
}

/** Entries of one indicator must not expect different things of it. */
function checkExpectations(job: WrittenEntry, report: RuleContext['report']): void {
  for (const part of ['series', 'offers']) {
    const first = new Map<string, { readonly expect: unknown; readonly path: string }>()
    for (const [i, entry] of toList(job[part]).entries()) {
      if (!isObject(entry) || entry.expect === undefined) continue
      const group = [entry.route, entry.timeTrunc, entry.timeAgg, entry.geoAgg, entry.geoTrunc].join()
      for (const id of toList(entry.indicators).map(indicatorId)) {
        const key = `${id} ${group}`
        const other = first.get(key)
        if (other === undefined) first.set(key, { expect: entry.expect, path: `${part}[${i}]` })
        else if (other.expect !== entry.expect)
          report(
            [part, i, 'expect'],
            `${entry.expect} contradicts ${other.path}, which expects ${other.expect} of indicator ${id}; keep one`,
          )
      }
    }
  }
}

/** Checks addresses. Messages do not repeat them: they may be secrets. */
function checkNotify(notify: unknown, report: RuleContext['report']): void {
  for (const [i, entry] of [notify].flat().entries()) {
    const at: KeyPath = Array.isArray(notify) ? ['notify', i] : ['notify']
    const [url, path] = isObject(entry) ? [entry.url, [...at, 'url']] : [entry, at]
    if (typeof url === 'string' && !isNotifyUrl(url)) report(path, `is not a valid address; expected ${NOTIFY_FORM}`)
  }
}
