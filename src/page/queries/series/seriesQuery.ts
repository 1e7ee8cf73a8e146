import { prepareQuery } from '../../../db/prepared.ts'
import { GOOD_OUTCOMES } from '../../../db/queries/fetchOutcomes.ts'
import { readEndOfValues, readGeos, readMeasure } from '../../../db/queries/seriesLookup.ts'
import type { Reader } from '../../../db/store.ts'
import { isSmall } from '../../../db/tables/declare.ts'
import { ENTRY_ROUTES } from '../../../job/entryRoutes.ts'
import { InputError } from '../../../util/errors.ts'
import { parseNumbers } from '../../../util/json.ts'
import { DAY, formatMillis, formatUtc, HOUR, type Instant, parseInstant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { addLocal, addUnits, atLocal, floorTo, formatLocal } from '../../../util/time/zone.ts'
import { AddressError, badTime, choiceIn, NotFound, numberIn, type PageRequest, wholeNumber } from '../../page.ts'
import { indicatorNames, type LocaleRequest, namedGeos, seriesUnits } from '../names.ts'
import { lastDays, PERIOD_UNITS, type PeriodUnit, periodAt, SPANS } from '../periods.ts'
import { findSeriesByPath, seriesPath } from '../seriesPaths.ts'
import type { Line } from './window.ts'

/** Reads the geos that jobs select by their ids. They may have no values. */
async function selectedGeos({ kysely }: Reader, seriesId: number): Promise<number[]> {
  const rows = kysely.selectFrom('_duty').select('geo_ids').distinct().where('series_id', '=', seriesId)
  return (await rows.execute()).flatMap(({ geo_ids }) => parseNumbers(geo_ids || null) ?? [])
}

/** Reads the end of the last period of a series and geo, and its length in seconds; null without a value. */
async function readEnd({ kysely }: Reader, { seriesId, geoId }: Pick<Line, 'seriesId' | 'geoId'>) {
  const row = await kysely
    .selectFrom('series_geo')
    .select(['last_at', 'step_s'])
    .where((eb) => eb.and({ series_id: seriesId, geo_id: geoId }))
    .executeTakeFirst()
  const { last_at: last = null, step_s: step = null } = row ?? {}
  return { end: last === null ? null : last + (step ?? 0), step }
}

/** A series does not have a geo. */
export class UnknownGeo extends NotFound {
  /** The geos that the series has. */
  readonly geos: Awaited<ReturnType<typeof namedGeos>>

  constructor(name: string, geo: string | number, geos: UnknownGeo['geos']) {
    super(`series ${name} geo ${geo}`, `${name}:${geo}`)
    this.geos = geos
  }
}

/** Reads a line, a series of one geo: the named geo, else a main one of the service, else the first. */
export async function readNamedLine(
  request: LocaleRequest & Pick<PageRequest, 'service'>,
  name: string | undefined,
  geo: string | null,
) {
  const { store, service } = request
  const series = await findSeriesByPath(request, name)
  const path = seriesPath(series)
  const geoIds = [...(await readGeos(store.kysely, series.id)), ...(await selectedGeos(store, series.id))]
  const ids = [...new Set(geoIds)].sort((a, b) => a - b)
  const geoId = geo ? Number(geo) : (service.mainGeos.find((id) => ids.includes(id)) ?? ids[0] ?? 0)
  if (!isSmall(geoId) || (geo && ids.length > 0 && !ids.includes(geoId)))
    throw new UnknownGeo(path, geo ?? geoId, await namedGeos(request, ids))
  const line = { seriesId: series.id, geoId }
  const measure = await readMeasure(store, series.id)
  const { end, step } = await readEnd(store, line)
  const geos = await namedGeos(request, ids)
  const key = `${series.kind} ${series.indicator_id}`
  return {
    ...line,
    zone: series.time_zone,
    /** Its name in addresses: `600`. */
    path,
    kind: series.kind,
    indicator: series.indicator_id,
    name: (await indicatorNames(request, [series.indicator_id])).get(key) ?? key,
    unit: (await seriesUnits(request, [series.id])).get(series.id) ?? null,
    /** How its energy is computed; null for other quantities. */
    measure,
    isPerHour: measure === 'energy' && step !== null && step <= HOUR,
    /** Null for a native series. */
    trunc: series.time_trunc,
    agg: series.time_agg,
    geoAgg: series.geo_agg,
    geoTrunc: series.geo_trunc,
    geo: geos.find(({ id }) => id === geoId) ?? { id: geoId, name: null },
    geos,
    /** The first and the last instant with a value, if any. */
    first: await readEndOfValues(store, line, 'first'),
    last: await readEndOfValues(store, line, 'last'),
    /** The end of the last period with a value, if any. */
    end,
  }
}

export type NamedLine = Awaited<ReturnType<typeof readNamedLine>>

/** The value of a series at an instant, or the last one before. */
export const latestValue = prepareQuery((db, key: { series: number; geo: number; now: number }) =>
  db
    .selectFrom('observation')
    .select(['at', 'value', 'step_s'])
    .where((eb) => eb.and({ series_id: key.series, geo_id: key.geo }))
    .where('at', '<=', key.now)
    .where('value', 'is not', null)
    .orderBy('at', 'desc')
    .limit(1),
)

/** Repairs a time of an address, whose plus sign may have become a space. */
const withPlus = (text: string): string => text.replace(/ (?=\d\d:\d\d$)/, '+')
const instantIn = (text: string): Instant => parseInstant(withPlus(text))

/** Finds the state of a series at a moment. Numbers of fetches are in order even if a clock was set back. */
export async function findAsOf({ kysely }: Reader, seriesId: number, moment: string) {
  const last = await kysely
    .selectFrom('_fetch')
    .select(['id', 'finished_at'])
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('finished_at', '<=', moment)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { moment, fetchId: last?.id ?? 0, fetchedAt: last?.finished_at ?? null }
}

/** The local days that are shown by default, up to the last one with a value. */
const USUAL_DAYS = 30
/** The longest range: a century. */
const MAX_RANGE_S = 100 * 366 * 86_400
const MOST_DAYS = 36_600

const BORDER_HINT = 'Use a local day (2025-10-01) or an instant with its offset (2025-10-01T12:00:00+02:00).'

/** A local time without its offset, as a form sends it. */
const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)$/

/** Reads an instant from an address: a local day, a local time, or an instant with its offset; not a number for anything else. */
export function timeIn(zone: string, text: string): Instant {
  const [, day = text, hour, minute] = LOCAL_TIME.exec(text) ?? []
  return atLocal(zone, day, hour ? Number(hour) * HOUR + Number(minute) * 60 : 0) ?? instantIn(text)
}

/** Reads an instant from a parameter of an address. */
function parseBorder(zone: string, name: string, text: string): Instant {
  const at = timeIn(zone, text)
  if (Number.isNaN(at)) throw badTime(name, text, BORDER_HINT)
  return at
}

/** Parses a moment of an address, to the millisecond. A local day is its beginning, as for `--as-of`. */
function parseMoment(zone: string, name: string, text: string): string {
  if (Number.isNaN(instantIn(text))) return formatMillis(parseBorder(zone, name, text) * 1000)
  return formatMillis(Date.parse(withPlus(text)))
}

/** Reads the moment of an address; null for now. */
function readMoment(zone: string, query: URLSearchParams): string | null {
  const text = query.get('asof') || 'now'
  return text === 'now' ? null : parseMoment(zone, 'asof', text)
}

/** Reads the moments of an address whose versions are compared, in order; undefined without any. */
export function requestedVintages(zone: string, query: URLSearchParams): string[] | undefined {
  const texts = query.getAll('vintages').flatMap((text) => text.split(',').filter(Boolean))
  if (texts.length === 0) return undefined
  return [...new Set(texts.map((text) => parseMoment(zone, 'vintages', text.trim())))].sort()
}

/** A border of a range for an address: a local day, if it is its beginning. */
function borderText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  return floorTo(zone, at, 'day') === at ? local.slice(0, 10) : local
}

/** The borders of a range for an address. */
export const rangeQuery = (zone: string, { from, to }: Interval) => ({
  from: borderText(zone, from),
  to: borderText(zone, to),
})

/** The number of days of an address that shows the last ones, such as `last=7`; null if it names a range or a day. */
function requestedDays(query: URLSearchParams): number | null {
  const text = query.get('last')
  if (!text || ['from', 'to', 'day'].some((name) => query.get(name))) return null
  const days = wholeNumber(text)
  if (days !== null && days >= 1 && days <= MOST_DAYS) return days
  throw new AddressError(`last=${JSON.stringify(text)} is not a number of days.`, {
    hint: `Use a whole number from 1 to ${MOST_DAYS}.`,
    code: 'bad-range',
    cause: { name: 'last', text, legal: `1 … ${MOST_DAYS}` },
  })
}

/** The last instant that is shown: that of a value, but not of the future, to which prices reach. */
export const lastShown = ({ last }: Pick<NamedLine, 'last'>, now: Instant): Instant => Math.min(last ?? now, now)

/** Reads the range of an address: its borders, its local `day`, or its `last` days. */
function requestedRange(line: NamedLine, query: URLSearchParams, now: Instant): Interval {
  const { zone, last } = line
  const first = query.get('from')
  const end = query.get('to')
  const day = query.get('day')
  const days = requestedDays(query)
  if (days !== null) return lastDays(zone, now, days)
  if (day && !first && !end) return periodAt(zone, parseBorder(zone, 'day', day), 'day')
  const findEnd = (): Instant => {
    if (end) return parseBorder(zone, 'to', end)
    if (first) return addUnits(zone, floorTo(zone, parseBorder(zone, 'from', first), 'day'), 'day', USUAL_DAYS)
    return addUnits(zone, floorTo(zone, last ?? now, 'day'), 'day', 1)
  }
  const to = findEnd()
  const from = first ? parseBorder(zone, 'from', first) : addUnits(zone, floorTo(zone, to, 'day'), 'day', -USUAL_DAYS)
  if (from >= to)
    throw new InputError('The range ends before it starts.', {
      hint: `${BORDER_HINT} to= is the first instant after it.`,
      code: 'bad-range',
    })
  if (to - from > MAX_RANGE_S)
    throw new InputError('The range is longer than a century.', { hint: BORDER_HINT, code: 'bad-range' })
  return { from, to }
}

/** The previous and the next range: calendar spans, or as many local days, or as long a time; and the spans around its middle. */
export function neighbouringRanges(zone: string, range: Interval, last: Instant) {
  const { from, to } = range
  const middle = from <= last && last < to ? last : Math.floor((from + to) / 2)
  const span = SPANS.find((name) => {
    const whole = periodAt(zone, from, name)
    return whole.from === from && whole.to === to
  })
  const isDays = [from, to].every((at) => floorTo(zone, at, 'day') === at)
  const days = Math.round((to - from) / DAY)
  const move = (at: Instant, by: number): Instant =>
    isDays ? addUnits(zone, at, 'day', by * days) : at + by * (to - from)
  const moved = (by: 1 | -1): Interval =>
    span ? periodAt(zone, from, span, by) : { from: move(from, by), to: move(to, by) }
  return {
    previous: moved(-1),
    next: moved(1),
    spans: SPANS.map((name) => [name, periodAt(zone, middle, name)] as const),
  }
}

/** A request for a range of a series, current or as of a moment. */
export interface ChartQuery {
  readonly line: NamedLine
  readonly range: Interval
  /** The number of days of a range that ends with the last ones; null for a fixed range. */
  readonly days: number | null
  /** The moment (UTC, to the millisecond) and the last fetch recorded by then, 0 before the first. */
  readonly asOf: Awaited<ReturnType<typeof findAsOf>> | null
}

/** Reads the range and the moment of an address. */
export async function readRangeAndMoment(request: PageRequest, line: NamedLine): Promise<ChartQuery> {
  const { store, query, now } = request
  const range = requestedRange(line, query, now)
  const moment = readMoment(line.zone, query)
  return {
    line,
    range,
    days: requestedDays(query),
    asOf: moment === null ? null : await findAsOf(store, line.seriesId, moment),
  }
}

/** The days of an address that its range or day replaces; null if they are the same days, or if it has none. */
export function replacedDays(
  zone: string,
  { range, days }: Pick<ChartQuery, 'range' | 'days'>,
  query: URLSearchParams,
  now: Instant,
): string | null {
  const text = query.get('last')
  if (!text || days !== null) return null
  const { from, to } = lastDays(zone, now, wholeNumber(text) ?? 0)
  return from === range.from && to === range.to ? null : text
}

/** Reads the series, the range and the moment of an address. Throws if one of its choices is not legal. */
export async function readChartQuery(request: PageRequest): Promise<ChartQuery> {
  const { params, query } = request
  checkChoices(query)
  return readRangeAndMoment(request, await readNamedLine(request, params.id, params.geo ?? query.get('geo')))
}

/** How far back a line of the same series may lie, in local time. 52 weeks keep the weekdays. */
export const SHIFTS = { day: ['day', 1], week: ['day', 7], weeks: ['day', 364], year: ['year', 1] } as const
export type Shift = keyof typeof SHIFTS

/** The choices of an address about the lines of a chart. */
export const readChoices = (query: URLSearchParams) => ({
  shift: (Object.keys(SHIFTS) as Shift[]).find((name) => name === query.get('shift')),
  difference: query.get('difference') === '1' ? 1 : undefined,
  by: PERIOD_UNITS.find((name) => name === query.get('by')),
})

/** Throws if an address has a choice about the lines of a chart that is not legal. */
export function checkChoices(query: URLSearchParams): void {
  choiceIn(query, 'shift', Object.keys(SHIFTS))
  choiceIn(query, 'by', PERIOD_UNITS)
  choiceIn(query, 'difference', ['1'])
  numberIn(query, 'px')
}

/** An instant moved back in local time, or forth with a `sign` of 1. */
export const moveByShift = (zone: string, at: number, shift: Shift, sign: 1 | -1 = -1): number => {
  const [unit, count] = SHIFTS[shift]
  return addLocal(zone, at, unit, sign * count)
}

/** The fields that identify a line of a chart in SQL and in commands. */
export type ChartLine = Pick<
  NamedLine,
  'seriesId' | 'geoId' | 'zone' | 'kind' | 'indicator' | 'trunc' | 'geoAgg' | 'measure' | 'isPerHour'
>

/** The views of summaries, each with its column of the period. Weeks have the days, and years the months. */
const SUMMARIES = {
  hour: ['observations_hourly', 'at_local'],
  day: ['observations_daily', 'local_date'],
  week: ['observations_daily', 'local_date'],
  month: ['observations_monthly', 'local_month'],
  year: ['observations_monthly', 'local_month'],
} as const

/** The SQL statement for the values of all lines of a chart, or for their summaries; past ones have only values. */
export function selectStatement(
  { range, asOf: past }: Pick<ChartQuery, 'range' | 'asOf'>,
  lines: readonly ChartLine[],
  by?: PeriodUnit,
): string {
  const summary = by === undefined || past ? null : SUMMARIES[by]
  const { to } = range
  const from = summary ? periodAt(lines[0]!.zone, range.from, by!).from : range.from
  const values = past ? ['observation_history', 'at_local', 'value, valid_from'] : ['observations', 'at_local', 'value']
  const [view, ...columns] = summary ? [...summary, 'count, avg, sum, min, max'] : values
  const isOne = lines.length === 1
  const places = lines.map(({ seriesId, geoId }) => `series_id = ${seriesId} and geo_id = ${geoId}`)
  return `select ${isOne ? '' : 'indicator_id, geo_id, '}${columns.join(', ')}
from ${view}
where ${isOne ? places[0] : `(${places.join('\n    or ')})`}
  and at >= unixepoch('${formatUtc(from)}') and at < unixepoch('${formatUtc(to)}')${
    past ? `\n  and valid_from <= '${past.moment}' and (valid_to is null or valid_to > '${past.moment}')` : ''
  }
  order by ${isOne ? '' : 'series_id, geo_id, '}at`
}

/** The SQL statement for all versions of the values of a line. */
export const versionsStatement = ({ from, to }: Interval, { seriesId, geoId }: ChartLine): string =>
  `select at_local, value, valid_from, valid_to
from observation_history
where series_id = ${seriesId} and geo_id = ${geoId}
  and at >= unixepoch('${formatUtc(from)}') and at < unixepoch('${formatUtc(to)}')
  order by at, valid_from`

/** The command that draws a line; null for a grouped series, which only SQL can select. */
export function showCommand({ range, asOf: past }: Pick<ChartQuery, 'range' | 'asOf'>, line: ChartLine): string | null {
  if (line.trunc !== null || line.geoAgg !== null) return null
  const { kind, indicator, geoId, zone } = line
  const { from, to } = rangeQuery(zone, range)
  const which = `${indicator}${kind === ENTRY_ROUTES.series ? '' : ` --kind ${kind}`}`
  return `show ${which} --geo ${geoId} --from ${from} --to ${to}${past ? ` --as-of ${past.moment}` : ''}`
}
