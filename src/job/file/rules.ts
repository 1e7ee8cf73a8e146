import { Cron } from 'croner'
import { routesOf, wordsFor } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { isObject, toList } from '../../util/json.ts'
import { checkZone } from '../../util/time/zone.ts'
import { ENTRY_ROUTES, PARAMETER_OF } from '../entryRoutes.ts'
import type { Moment } from '../job.ts'
import { resolveMoment } from '../moment.ts'
import { isNotifyUrl, NOTIFY_FORM } from '../notification.ts'
import { toWords } from '../select.ts'

/** A broken rule about several keys: where, and why. */
export interface RuleBreak {
  readonly path: readonly (string | number)[]
  readonly message: string
}

type KeyPath = readonly (string | number)[]
/** A part of a job file, its words, spans and moments parsed where they are legal. Others are reported elsewhere and ignored here. */
type WrittenEntry = Readonly<Record<string, unknown>>

const SUMS = 'timeTrunc needs timeAgg: without it, the service sums values, which is wrong for prices'

/** The route of an entry: the one that it names, else that of its part of the job. */
const routeOfEntry = ({ route }: WrittenEntry, [part]: KeyPath): string =>
  String(route ?? ENTRY_ROUTES[part as keyof typeof ENTRY_ROUTES])

/** What rules about an entry depend on beside it. */
interface RuleContext {
  readonly service: Service
  /** The zone of the job. */
  readonly zone: string
  /** Whether the value at a path is legal, and so parsed. */
  readonly isLegal: (path: KeyPath) => boolean
}

/** The route must be one that the service has, and must take what the entry says. */
function routeRules(
  entry: WrittenEntry,
  path: KeyPath,
  { service: { routes, name: service } }: RuleContext,
): RuleBreak[] {
  const name = routeOfEntry(entry, path)
  const route = routes[name]
  // Another name is reported as an illegal value.
  if (!route) {
    const others = ['series', 'archives'].includes(String(path[0]))
      ? routesOf(routes, path[0] as 'series' | 'archives')
      : []
    const legal = others.length > 0 ? `; expected ${others.map((other) => `route: ${other}`).join(', ')}` : ''
    return entry.route === undefined ? [{ path, message: `the service ${service} has no route ${name}${legal}` }] : []
  }
  const takes = (key: string): boolean =>
    PARAMETER_OF[key] === undefined || Object.hasOwn(route.query, PARAMETER_OF[key])
  return Object.entries(entry).flatMap(([key, value]): RuleBreak[] => {
    if (!takes(key)) {
      const legal = Object.keys(PARAMETER_OF).filter(takes)
      return [
        {
          path: [...path, key],
          message: `is not supported by route ${name}; supported: ${legal.join(', ') || 'none'}`,
        },
      ]
    }
    const { values, aliases } = wordsFor(routes, name, PARAMETER_OF[key] ?? '')
    if (values.length === 0 || values.includes(String(value)) || Object.hasOwn(aliases, String(value))) return []
    return [
      {
        path: [...path, key],
        message: `${JSON.stringify(value)} is not supported by route ${name}; expected one of: ${values.join(', ')}`,
      },
    ]
  })
}

/** Rules on one series entry. */
function seriesRules(entry: WrittenEntry, path: KeyPath, { service: { routes }, isLegal }: RuleContext): RuleBreak[] {
  const route = routeOfEntry(entry, path)
  const legal = (parameter: string): string => wordsFor(routes, route, parameter).values.join(', ')
  const breaks: RuleBreak[] = []
  const report = (key: string, message: string) => breaks.push({ path: [...path, key], message })
  if (entry.timeTrunc && !entry.timeAgg) report('timeTrunc', `${SUMS}; expected one of: ${legal('time_agg')}`)
  if (entry.timeAgg && !entry.timeTrunc) report('timeAgg', 'timeAgg needs timeTrunc')
  if (entry.geoTrunc && !entry.geoAgg) report('geoTrunc', `geoTrunc needs geoAgg; expected one of: ${legal('geo_agg')}`)
  const { indicators } = entry
  if (route !== ENTRY_ROUTES.series && indicators !== undefined && !Array.isArray(indicators))
    report('indicators', `cannot select from the catalogue, which does not list route ${route}; expected a list of ids`)
  if (isObject(indicators) && Object.keys(indicators).length === 0 && isLegal([...path, 'indicators']))
    report('indicators', 'selects nothing; set match, terms or exclude, or use `indicators: all`')
  if (isObject(indicators) && typeof indicators.match === 'string' && toWords(indicators.match).length === 0)
    report('indicators', 'match contains no word')
  const twice = (key: string, what: string) => {
    const ids = toList(entry[key])
    ids.forEach((id, i) => {
      if (ids.indexOf(id) < i) breaks.push({ path: [...path, key, i], message: `${what} ${id} is listed twice` })
    })
  }
  twice('indicators', 'indicator')
  twice('geoIds', 'geo')
  return breaks
}

/** Requires a range or one instant, not both, and at least one where the route needs it. */
const timeRules =
  (point: string, needed: boolean) =>
  (entry: WrittenEntry, path: KeyPath, context: RuleContext): RuleBreak[] => {
    const breaks: RuleBreak[] = []
    if (entry.window !== undefined && entry[point] !== undefined)
      breaks.push({ path: [...path, point], message: `${point} and window cannot be combined; keep one` })
    if (needed && entry.window === undefined && entry[point] === undefined)
      breaks.push({
        path,
        message: `window is missing (or ${point}); expected { from: 2025-01-01, to: 2025-02-01 } or { last: 7d }`,
      })
    return [...breaks, ...windowRules(entry, path, context)]
  }

/** An arbitrary instant, noon on a winter day: relative moments are compared as of then. */
const SOME_DAY = 1_763_985_600

/** `last`, or `from` with or without `to`; `from` must be before `to`, where both can be compared. */
function windowRules({ window }: WrittenEntry, path: KeyPath, { zone, isLegal }: RuleContext): RuleBreak[] {
  if (!isObject(window)) return []
  const at = (key: string, message: string): RuleBreak[] => [{ path: [...path, 'window', key], message }]
  const { from, to, last } = window
  if (last !== undefined && (from !== undefined || to !== undefined))
    return at('last', `last and ${from === undefined ? 'to' : 'from'} cannot be combined; keep one`)
  if (last === undefined && from === undefined)
    return at('from', 'is missing; expected { from: 2025-01-01, to: 2025-02-01 } or { last: 7d }')
  const moment = (key: string) => (isLegal([...path, 'window', key]) ? (window[key] as Moment | undefined) : undefined)
  const [first, second] = [moment('from'), moment('to')]
  if (!first || !second) return []
  const relative = (kind: string): boolean => kind === 'relative' || kind === 'now'
  if (relative(first.kind) !== relative(second.kind)) return []
  // Mostly two days, which can be compared without the zone; loading a zone is slow.
  if (first.kind === 'date' && second.kind === 'date' && first.date < second.date) return []
  if (resolveMoment(first, zone, SOME_DAY) < resolveMoment(second, zone, SOME_DAY)) return []
  return at('to', 'to must be later than from, because to is exclusive')
}

/** `locale` and `locales` exclude one another. */
const localeRule = (entry: WrittenEntry, path: KeyPath): RuleBreak[] =>
  entry.locale && entry.locales
    ? [{ path: [...path, 'locale'], message: 'locale and locales cannot be combined; keep one' }]
    : []

/** The message that a function throws; undefined where it does not throw. */
function errorMessage(attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function topRules(job: WrittenEntry): RuleBreak[] {
  const breaks: RuleBreak[] = []
  const { timeZone, schedule } = job
  const zone = typeof timeZone === 'string' ? errorMessage(() => checkZone(timeZone)) : undefined
  if (zone !== undefined) breaks.push({ path: ['timeZone'], message: zone })
  const cron = typeof schedule === 'string' ? errorMessage(() => new Cron(schedule, { paused: true })) : undefined
  if (cron !== undefined)
    breaks.push({ path: ['schedule'], message: `is not a cron expression: ${cron}; example: "15 21 * * *"` })
  const wanted = ['series', 'offers', 'content', 'archives', 'archivesJson', 'widgets', 'catalogue']
  if (wanted.every((part) => job[part] === undefined || job[part] === false))
    breaks.push({
      path: [],
      message: `the job selects no data; add one of: catalogue, ${wanted.slice(0, -1).join(', ')}`,
    })
  return breaks
}

/** Not every kind of content comes in every order. */
function orderRule({ order, kinds }: WrittenEntry, path: KeyPath, { service: { routes } }: RuleContext): RuleBreak[] {
  const ordersOf = (route: string): readonly unknown[] => wordsFor(routes, route, 'order').values
  const known = routesOf(routes, 'content')
  const able = known.filter((route) => ordersOf(route).includes(order))
  const unable = known.find((route) => toList(kinds).includes(route) && !able.includes(route))
  if (able.length === 0 || unable === undefined) return []
  const message = `${order} is supported only by ${able.join(', ')}; expected one of: ${ordersOf(unable).join(', ')}`
  return [{ path: [...path, 'order'], message }]
}

type Rule = (entry: WrittenEntry, path: KeyPath, context: RuleContext) => RuleBreak[]

/** The rules of the entries of each list of a job. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  series: [routeRules, seriesRules, timeRules('datetime', true), localeRule],
  offers: [routeRules, seriesRules, timeRules('datetime', true), localeRule],
  content: [orderRule, localeRule],
  archives: [routeRules, windowRules, localeRule],
  archivesJson: [routeRules, timeRules('date', true), localeRule],
}

/** Rules on widgets. */
function widgetRules(widgets: WrittenEntry, context: RuleContext): RuleBreak[] {
  const { service } = context
  const breaks = [...timeRules('datetime', false)(widgets, ['widgets'], context), ...localeRule(widgets, ['widgets'])]
  for (const [key, route] of [
    ['list', ENTRY_ROUTES.widgets],
    ['names', ENTRY_ROUTES.widget],
  ] as const)
    if (widgets[key] && !service.routes[route])
      breaks.push({ path: ['widgets', key], message: `the service ${service.name} has no route ${route}` })
  if (!widgets.list && !widgets.names)
    breaks.push({ path: ['widgets'], message: 'widgets selects no data; set list: true, or names' })
  if (widgets.widgetType && !widgets.list)
    breaks.push({ path: ['widgets', 'widgetType'], message: 'widgetType filters the list; it needs list: true' })
  return breaks
}

/** Checks addresses. Messages do not repeat them: they may be secrets. */
const notifyRules = (notify: unknown): RuleBreak[] =>
  [notify].flat().flatMap((entry, i) => {
    const at: KeyPath = Array.isArray(notify) ? ['notify', i] : ['notify']
    const [url, path] = isObject(entry) ? [entry.url, [...at, 'url']] : [entry, at]
    return typeof url !== 'string' || isNotifyUrl(url)
      ? []
      : [{ path, message: `is not a valid address; expected ${NOTIFY_FORM}` }]
  })

/** Every rule that a parsed job file breaks, each with its reason. Some of its values may be illegal. */
export function brokenRules(job: unknown, service: Service, isLegal: RuleContext['isLegal']): RuleBreak[] {
  if (!isObject(job)) return []
  const breaks = topRules(job)
  const zone = breaks.some(({ path }) => path[0] === 'timeZone') ? 'UTC' : String(job.timeZone ?? service.timeZone)
  const context = { service, zone, isLegal }
  for (const [name, rules] of Object.entries(RULES))
    toList(job[name]).forEach((entry, i) => {
      if (isObject(entry)) for (const rule of rules) breaks.push(...rule(entry, [name, i], context))
    })
  breaks.push(...notifyRules(job.notify))
  if (isObject(job.widgets)) breaks.push(...widgetRules(job.widgets, context))
  if (job.catalogue && !service.routes[ENTRY_ROUTES.catalogue])
    breaks.push({ path: ['catalogue'], message: `the service ${service.name} has no route ${ENTRY_ROUTES.catalogue}` })
  if (isObject(job.catalogue)) breaks.push(...localeRule(job.catalogue, ['catalogue']))
  return breaks
}
