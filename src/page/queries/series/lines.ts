import type { Extremes } from '../../../db/engine.ts'
import { readKnownValues } from '../../../db/queries/values.ts'
import type { Reader } from '../../../db/store.ts'
import type { Measure } from '../../../db/tables/sql/expressions.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { localClock, localDate, offsetAt } from '../../../util/time/zone.ts'
import type { Drawn } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import type { ChartState } from '../intervals.ts'
import { PERIOD_UNITS, type PeriodUnit, periodBorders } from '../periods.ts'
import { readWithdrawn, type WithdrawnValue } from '../withdrawn.ts'
import { type ChartLine, type ChartQuery, moveByShift, type NamedLine, readChoices, type Shift } from './seriesQuery.ts'
import {
  drawnSummary,
  joinBands,
  type Line,
  NO_VALUES,
  readWindow,
  type Summary,
  sixDigits,
  summarize,
} from './window.ts'

/** Columns of the picture in a page. Its script requests as many as it has; a published page has none. */
const USUAL_COLUMNS = 300
const STATIC_COLUMNS = 720
const MAX_COLUMNS = 1_000

/** The number of columns of the requested picture. */
const chartColumns = ({ query, isLive }: Pick<PageRequest, 'query' | 'isLive'>): number => {
  const columns = Number(query.get('px')) || (isLive ? USUAL_COLUMNS : STATIC_COLUMNS)
  return Math.min(MAX_COLUMNS, Math.max(50, Math.round(columns)))
}

/** A line beside the first one; `line`: what it draws. */
export interface ComparedLine {
  readonly name: string
  /** The unit of the axis, and that of single values. */
  readonly unit: string | null
  readonly valueUnit: string | null
  readonly drawn: Drawn
  /** Its name in addresses; null if it is not another series. */
  readonly path: string | null
  readonly line: ChartLine & { readonly fetchId: number | null; readonly shift?: Shift }
}

/** A line with its intervals that are not final, at the times at which it is drawn. */
export interface ComparedLineWithStates extends ComparedLine {
  readonly open: readonly ChartState[]
}

/** The difference between the first line and another one of its unit. */
export interface Difference {
  readonly name: string
  readonly unit: string | null
  /** The place of the other line among the compared ones. */
  readonly of: number
  readonly drawn: Drawn
  /** The mean, the mean size and the root of the mean square, weighted by time; null without common periods. */
  readonly bias: number | null
  readonly mae: number | null
  readonly rmse: number | null
  /** The seconds that both lines cover. */
  readonly seconds: number
  /** The local day of now, if the range has a part of it. */
  readonly unfinished: readonly [from: number, to: number] | null
}

/** The most days or weeks by which a range is summarized: their table is a page of the browser. */
const MAX_PERIODS = 4_000

/** The unit of the address by which a range is summarized; undefined if there is none, or if it has too many periods. */
export function chosenUnit(request: Pick<PageRequest, 'query' | 'isLive'>, { from, to }: Interval) {
  const { by } = readChoices(request.query)
  if (by === 'hour') return (to - from) / HOUR > 2 * chartColumns(request) ? undefined : by
  const days = (to - from) / DAY
  return (by === 'day' && days > MAX_PERIODS) || (by === 'week' && days > 7 * MAX_PERIODS) ? undefined : by
}

/** The unit of drawn values and of their extremes. */
export const unitOfExtremes = ({ isPerHour, unit }: Pick<NamedLine, 'isPerHour' | 'unit'>): string | null =>
  isPerHour && unit !== null ? `${unit}/h` : unit

/** The unit in which a line is drawn: energies per hour, unless they are summed by a chosen unit. */
export const drawnUnit = (
  request: Pick<PageRequest, 'query' | 'isLive'>,
  line: Pick<NamedLine, 'isPerHour' | 'unit'>,
  range: Interval,
): string | null => (chosenUnit(request, range) === undefined ? unitOfExtremes(line) : line.unit)

/** Draws a line: its values or columns, or by the unit of the address. */
export async function drawLine(
  request: PageRequest,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
  columns = chartColumns(request),
  kind: Drawn['kind'] = 'values',
): Promise<Drawn> {
  const by = chosenUnit(request, range)
  const drawn =
    by === undefined
      ? await readWindow(request.store, line, range, columns, fetchId, kind)
      : drawRows(await byUnit(request.store, line, range, by, fetchId), line.measure)
  // Only a difference needs to know how much of a period has values.
  if (readChoices(request.query).difference) return drawn
  return { ...drawn, segments: drawn.segments.map(({ seconds, ...segment }) => segment) }
}

/**
 * Draws versions of a line, current or as known after fetches, all with values or all with columns: a version may have so few values
 * that they would fit alone.
 */
export async function drawVersions(
  request: PageRequest,
  line: MeasuredLine,
  range: Interval,
  fetchIds: readonly (number | null)[],
  columns = chartColumns(request),
): Promise<Drawn[]> {
  const versions: Drawn[] = []
  for (const fetchId of fetchIds) versions.push(await drawLine(request, line, range, fetchId, columns))
  if (versions.every(({ kind }) => kind === versions[0]!.kind)) return versions
  for (const [i, { kind }] of versions.entries())
    if (kind === 'values') versions[i] = await drawLine(request, line, range, fetchIds[i]!, columns, 'extremes')
  return versions
}

/** Draws summaries. A sum of energy has no extremes of its own. */
function drawRows(rows: readonly ChartTableRow[], measure: Measure | null = null): Drawn {
  const periods = measure === 'energy' ? rows.map((row) => ({ ...row, min: row.mean, max: row.mean })) : rows
  return { kind: 'extremes', segments: joinBands(periods.map((period) => [period, period])) }
}

/** A row of the table beside a chart. */
export interface ChartTableRow extends Interval, Omit<Extremes, 'sum'> {
  /** The withdrawal of a single value. */
  readonly withdrawn?: WithdrawnValue
  /** MWh; only for a period with several values of power. */
  readonly energy?: number | null
  /** The mean as known at a past moment, and the seconds with values then. */
  readonly before?: number | null
  readonly secondsBefore?: number
  /** The means of the compared series, if any, and their seconds with values. */
  readonly compared?: readonly (number | null)[]
  readonly comparedSeconds?: readonly number[]
}

/** A difference without the digits that doubles do not have. */
export const withoutNoise = (difference: number): number => Number(difference.toFixed(9)) + 0

export const subtract = (value: number | null | undefined, other: number | null | undefined): number | null =>
  typeof value === 'number' && typeof other === 'number' ? withoutNoise(value - other) : null

/** The change of a mean since a past moment; null if the two means cover different hours. */
export const revisedBy = ({ mean, before, seconds, secondsBefore }: ChartTableRow): number | null =>
  seconds === secondsBefore ? subtract(mean, before) : null

/** The difference between a row, current or as known then, and one of the compared series, if they cover the same hours. */
export function differenceTo({ compared, comparedSeconds, ...row }: ChartTableRow, i: number, isThen: boolean) {
  const [own, seconds] = isThen ? [row.before, row.secondsBefore] : [row.mean, row.seconds]
  return seconds === comparedSeconds?.[i] ? subtract(own, compared?.[i]) : null
}

/** The most single values that are listed. */
const MAX_SINGLE = 100
/** A series; if it measures power or energy, its summaries have the energy. */
export type MeasuredLine = Line & { readonly measure?: Measure | null }
/** The longest interval of each step of the table, in days. */
// Weeks are shown only on request.
const LONGEST = { hour: 3, day: 62, week: 0, month: 5 * 366, year: Number.POSITIVE_INFINITY }

/** The number that stands for a period: the sum of energies, whose periods may differ; else the mean. */
const mainNumber = ({ mean, sum }: Extremes, measure: Measure | null = null): number | null =>
  measure === 'energy' ? sum : mean

/** The row of a period: its extremes as they are drawn, its energy as a sum. */
function summaryRow([{ from, to }, extremes]: Summary, line: MeasuredLine): ChartTableRow {
  const { measure } = line
  const { count, seconds, min, max } = drawnSummary(line, extremes)
  const row = { from, to, count, seconds, min, max, mean: mainNumber(extremes, measure) }
  if (measure !== 'power') return row
  return { ...row, energy: row.mean === null ? null : (row.mean * seconds) / 3600 }
}

/** Draws the means of local days, or their energies. */
export async function drawDays(
  db: Reader,
  line: MeasuredLine,
  range: Interval,
  fetchId: number | null,
): Promise<Drawn> {
  const days = await summarize(db, line, periodBorders(line.zone, range, 'day'), fetchId, 'days')
  return { kind: 'extremes', segments: joinBands(days.map(([period, day]) => [period, drawnSummary(line, day)])) }
}

/** Summarizes a range by local periods: current, or as known after a fetch. */
async function byUnit(db: Reader, line: MeasuredLine, range: Interval, unit: PeriodUnit, fetchId: number | null) {
  const borders = periodBorders(line.zone, range, unit)
  const summaries = await summarize(db, line, borders, fetchId, unit === 'hour' ? 'values' : 'days')
  return summaries.map((summary) => summaryRow(summary, line))
}

/** Reads single values: current, or as known after a fetch; undefined if there are too many. */
async function singleValues(db: Reader, line: Line, range: Interval, fetchId: number | null) {
  const values = await readKnownValues(db.kysely, { ...line, ...range }, fetchId, MAX_SINGLE + 1)
  if (values.length > MAX_SINGLE) return undefined
  return values.map(({ at, value, step }): ChartTableRow => {
    const count = value === null ? 0 : 1
    return { from: at, to: at + step, count, seconds: count * step, min: value, max: value, mean: value }
  })
}

/** Reads the table of a range, by a unit on request: current values, those known at a moment, and those of compared series. */
export async function readRows(
  request: PageRequest,
  { dataset: line, range, asOf }: ChartQuery,
  compared: readonly ComparedLine[],
) {
  const { store: db } = request
  const by = chosenUnit(request, range)
  const fetchId = asOf?.fetchId ?? null
  const others = compared.map(({ line }) => line)
  const few = by ? undefined : await singleValues(db, line, range, null)
  const fewThen = few && fetchId !== null ? await singleValues(db, line, range, fetchId) : []
  const days = (range.to - range.from) / 86_400
  const unit = by ?? PERIOD_UNITS.find((name) => days <= LONGEST[name])!
  const isSingle = few !== undefined && fewThen !== undefined
  const now = isSingle ? few : await byUnit(db, line, range, unit, null)
  const summariesThen = isSingle || fetchId === null ? [] : await byUnit(db, line, range, unit, fetchId)
  const then = isSingle ? fewThen : summariesThen
  const current = new Set(now.map(({ from }) => from))
  const listed = isSingle ? (await readWithdrawn(db, line.seriesId, [line.geoId], range)).slice(0, MAX_SINGLE) : []
  const lost = new Map([...then, ...listed].filter(({ from }) => !current.has(from)).map((row) => [row.from, row.to]))
  const withdrawals = new Map(listed.map((value) => [value.from, value]))
  const withdrawn = [...lost].map(([from, to]): ChartTableRow => {
    const value = withdrawals.get(from)
    return { ...summaryRow([{ from, to }, NO_VALUES], line), ...(value && { withdrawn: value }) }
  })
  const before = new Map(then.map((row) => [row.from, row]))
  const beside: ((at: number) => ChartTableRow | undefined)[] = []
  for (const other of others) {
    const { shift, zone } = other
    const moved = (at: number): number => (shift ? moveByShift(zone, at, shift) : at)
    // Another series may have shorter periods: its means over those of the first one.
    const periods = now.flatMap(({ from, to }) => [moved(from), moved(from) + to - from])
    const borders = [...new Set(periods)].sort((a, b) => a - b)
    const theirs = isSingle
      ? (await summarize(db, other, borders, other.fetchId, 'values')).map((each) => summaryRow(each, other))
      : await byUnit(db, other, { from: moved(range.from), to: moved(range.to) }, unit, other.fetchId)
    const byFrom = new Map(theirs.map((row) => [row.from, row]))
    // As in the chart, nothing stands beside a time that clocks skipped or repeated.
    const isThere = (at: number): boolean => !shift || moveByShift(zone, moved(at), shift, 1) === at
    beside.push((at) => (isThere(at) ? byFrom.get(moved(at)) : undefined))
  }
  const rows = [...now, ...withdrawn].map((row) => ({
    ...row,
    ...(fetchId !== null && {
      before: before.get(row.from)?.mean ?? null,
      secondsBefore: before.get(row.from)?.seconds ?? 0,
    }),
    ...(others.length > 0 && {
      compared: beside.map((rowAt) => rowAt(row.from)?.mean ?? null),
      comparedSeconds: beside.map((rowAt) => rowAt(row.from)?.seconds ?? 0),
    }),
  }))
  return { level: isSingle ? ('values' as const) : unit, rows: rows.sort((a, b) => a.from - b.from) }
}

/** The most days that are shown: a leap year. */
const MAX_CARPET_DAYS = 366

/** The place of an hour on the clock: twice its number, plus one if the clocks repeat it. */
function clockPlace(zone: string, at: number): number {
  const [hour, before] = [at, at - HOUR].map((begin) => localClock(zone, begin).slice(0, 13)) as [string, string]
  return 2 * Number(hour.slice(11)) + Number(hour === before && offsetAt(zone, at - HOUR) > offsetAt(zone, at))
}

/** Reads the mean of every hour, or its energy: null without a value, false if the day has no such hour. Null if there are too many days. */
export async function readCarpet(db: Reader, line: MeasuredLine, range: Interval, fetchId: number | null) {
  const { zone } = line
  if ((range.to - range.from) / DAY > MAX_CARPET_DAYS) return null
  const borders = periodBorders(zone, range, 'day')
  const days = borders.slice(0, -1)
  const hours = days.flatMap((from, day) =>
    Array.from({ length: Math.ceil((borders[day + 1]! - from) / HOUR) }, (_, i) => {
      const at = from + i * HOUR
      return { day, at, key: clockPlace(zone, at) }
    }),
  )
  const extremes = await db.engine.readExtremes(line, [...hours.map(({ at }) => at), borders.at(-1)!], fetchId)
  const everyDay = Array.from({ length: 24 }, (_, hour) => 2 * hour)
  const keys = [...new Set([...everyDay, ...hours.map(({ key }) => key)])].sort((a, b) => a - b)
  const cells: (number | null | false)[][] = days.map(() => keys.map(() => false))
  for (const [i, { day, key }] of hours.entries())
    cells[day]![keys.indexOf(key)] = sixDigits(mainNumber(extremes[i]!, line.measure))
  return {
    slots: keys.map((key) => ({ hour: key >> 1, again: key % 2 === 1 })),
    days: days.map((from, day) => ({ date: localDate(zone, from), hours: cells[day]! })),
  }
}
