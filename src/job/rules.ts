import { Cron } from 'croner'
import { checkZone } from '../base/zone.ts'
import type { JobFile } from './file.ts'
import { parseMoment, resolveMoment } from './moment.ts'

/** Something wrong that no single value shows: where, and why. */
export interface RuleBreak {
  readonly path: readonly (string | number)[]
  readonly message: string
}

type Path = readonly (string | number)[]
type Entry = Readonly<Record<string, unknown>>

const SUMS =
  'timeTrunc needs timeAgg: without it the service would sum, and hourly prices of 15-minute data would come out four times too high; legal: sum, average'

/** Rules on one series entry. */
function seriesRules(entry: Entry, path: Path): RuleBreak[] {
  const breaks: RuleBreak[] = []
  const say = (key: string, message: string) => breaks.push({ path: [...path, key], message })
  if (entry.timeTrunc && !entry.timeAgg) say('timeTrunc', SUMS)
  if (entry.timeAgg && !entry.timeTrunc) say('timeAgg', 'timeAgg needs timeTrunc, the step to group by')
  if (entry.geoTrunc && !entry.geoAgg) say('geoTrunc', 'geoTrunc needs geoAgg; legal: sum, average')
  const ids = entry.indicators as readonly number[]
  ids.forEach((id, i) => {
    if (ids.indexOf(id) < i)
      breaks.push({ path: [...path, 'indicators', i], message: `indicator ${id} is listed twice` })
  })
  return breaks
}

/** A range or one instant, not both, and at least one where it is needed. */
function timeRules(entry: Entry, path: Path, point: string, needed: boolean): RuleBreak[] {
  const breaks: RuleBreak[] = []
  if (entry.window && entry[point])
    breaks.push({ path: [...path, point], message: `${point} and window exclude one another; keep one` })
  if (needed && !entry.window && !entry[point])
    breaks.push({
      path,
      message: `window is missing (or ${point}); legal: { from: 2025-01-01, to: 2025-02-01 }, { last: 7d }`,
    })
  return [...breaks, ...orderRule(entry, path)]
}

/** Where both ends are fixed, the first must come first. */
function orderRule(entry: Entry, path: Path): RuleBreak[] {
  const window = entry.window as { from?: string; to?: string } | undefined
  const [from, to] = [window?.from, window?.to].map((text) => (text === undefined ? undefined : parseMoment(text)))
  if (!from || !to || from.kind !== 'date' || to.kind !== 'date') return []
  if (resolveMoment(from, 'UTC', 0) < resolveMoment(to, 'UTC', 0)) return []
  return [{ path: [...path, 'window', 'to'], message: 'to must come after from; the day it names is not included' }]
}

/** locale is another word for locales. */
const localeRule = (entry: Entry, path: Path): RuleBreak[] =>
  entry.locale && entry.locales
    ? [{ path: [...path, 'locale'], message: 'locale and locales say the same; keep one' }]
    : []

function topRules(job: JobFile): RuleBreak[] {
  const breaks: RuleBreak[] = []
  if (job.timeZone !== undefined)
    try {
      checkZone(job.timeZone)
    } catch (error) {
      breaks.push({ path: ['timeZone'], message: `${(error as Error).message} Legal: a name such as Europe/Madrid` })
    }
  if (job.schedule !== undefined)
    try {
      new Cron(job.schedule, { paused: true })
    } catch (error) {
      breaks.push({
        path: ['schedule'],
        message: `is no cron expression: ${(error as Error).message}; legal: "15 21 * * *"`,
      })
    }
  const wanted = [
    job.series,
    job.offers,
    job.content,
    job.archives,
    job.archivesJson,
    job.widgets,
    job.catalogue || undefined,
  ]
  if (wanted.every((part) => part === undefined))
    breaks.push({
      path: [],
      message: 'the job asks for nothing; legal: catalogue, series, offers, content, archives, archivesJson, widgets',
    })
  return breaks
}

/** Every rule that a well-formed job file breaks, each with its reason. */
export function brokenRules(job: JobFile): RuleBreak[] {
  const breaks = topRules(job)
  const each = (
    name: 'series' | 'offers' | 'content' | 'archives' | 'archivesJson',
    rules: (entry: Entry, path: Path) => RuleBreak[],
  ) =>
    (job[name] ?? []).forEach((entry, i) => {
      breaks.push(...rules(entry, [name, i]), ...localeRule(entry, [name, i]))
    })
  each('series', (entry, path) => [...seriesRules(entry, path), ...timeRules(entry, path, 'datetime', true)])
  each('offers', (entry, path) => [...seriesRules(entry, path), ...timeRules(entry, path, 'datetime', true)])
  each('archives', orderRule)
  each('archivesJson', (entry, path) => timeRules(entry, path, 'date', true))
  each('content', (entry, path) =>
    entry.order === 'expires' && (entry.kinds as string[]).some((kind) => kind !== 'news')
      ? [{ path: [...path, 'order'], message: 'expires is an order of news only; legal: published, updated, created' }]
      : [],
  )
  if (job.widgets) {
    const { widgets } = job
    breaks.push(...timeRules(widgets, ['widgets'], 'datetime', false), ...localeRule(widgets, ['widgets']))
    if (!widgets.list && !widgets.names)
      breaks.push({ path: ['widgets'], message: 'widgets asks for nothing; legal: list: true, names' })
    if (widgets.widgetType && !widgets.list)
      breaks.push({ path: ['widgets', 'widgetType'], message: 'widgetType filters the list; it needs list: true' })
  }
  if (typeof job.catalogue === 'object') breaks.push(...localeRule(job.catalogue, ['catalogue']))
  return breaks
}
