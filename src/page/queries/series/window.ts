import type { Extremes, SeriesRange, ValueAt } from '../../../db/engine.ts'
import { GOOD_OUTCOMES } from '../../../db/queries/fetchOutcomes.ts'
import { readKnownValues } from '../../../db/queries/values.ts'
import type { Reader } from '../../../db/store.ts'
import { DAY, HOUR, type Instant } from '../../../util/time/instant.ts'
import { type Interval, intersect, merge, overlaps } from '../../../util/time/interval.ts'
import { dayIntervalAt, type LocalDay, localDay } from '../../../util/time/localDay.ts'
import type { LineData, Segment } from '../../client/segments.ts'
import { periodBorders } from '../periods.ts'

/** A series of one geo, with the zone in which its days are counted. */
export interface Line {
  readonly seriesId: number
  readonly geoId: number
  readonly zone: string
  /** Whether its values are energies of at most an hour, which are drawn per hour: a shorter period does not mean less energy. */
  readonly isPerHour?: boolean
}

/** From this many local days on, the totals of days are read instead of values. */
const BY_DAYS = 180
/** Lengths of columns in seconds; longer ones have whole days. They begin at multiples of their length. */
const COLUMN_LENGTHS = [300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR]

/** The summary of a period without values. */
export const NO_VALUES: Extremes = { count: 0, seconds: 0, min: null, max: null, sum: null, mean: null }

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)
const most = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

/** Joins the extremes and means of two intervals. */
export function joinExtremes(a: Extremes, b: Extremes): Extremes {
  if (a.count === 0 || b.count === 0) return a.count === 0 ? b : a
  const seconds = a.seconds + b.seconds
  const mean = ((a.mean ?? 0) * a.seconds + (b.mean ?? 0) * b.seconds) / seconds
  const sum = (a.sum ?? 0) + (b.sum ?? 0)
  return { count: a.count + b.count, seconds, min: least(a.min, b.min), max: most(a.max, b.max), sum, mean }
}

/** The summary of energies per hour. It is exact for periods of one length. */
function perHour(summary: Extremes): Extremes {
  const { count, seconds, min, max, sum } = summary
  if (count === 0 || seconds === 0) return summary
  const scale = (value: number | null, factor: number) => (value === null ? null : value * factor)
  const periodsAnHour = (HOUR * count) / seconds
  const mean = scale(sum, HOUR / seconds)
  return { ...summary, min: scale(min, periodsAnHour), max: scale(max, periodsAnHour), mean }
}

/** The summary of a period as it is drawn. */
export const drawnSummary = ({ isPerHour }: Line, summary: Extremes): Extremes =>
  isPerHour ? perHour(summary) : summary

/** A value as it is drawn. */
export const drawnValue = ({ isPerHour }: Line, { value, step }: ValueAt): number | null =>
  isPerHour && value !== null ? (value * HOUR) / step : value

/** Reads where the step of a series changes within an interval: the instants with the new steps, in seconds. */
export const readStepChanges = ({ kysely }: Reader, seriesId: number, { from, to }: Interval) =>
  kysely
    .selectFrom('_resolution')
    .select(['from_at', 'step_s'])
    .where('series_id', '=', seriesId)
    .where('from_at', '>', from)
    .where('from_at', '<', to)
    .orderBy('from_at')
    .execute()

/** Adds the changes of the step to borders of energies, so that each period between them has values of one step. */
export async function splitAtChanges(db: Reader, line: Line, borders: readonly Instant[]): Promise<readonly Instant[]> {
  const { seriesId, isPerHour } = line
  if (!isPerHour) return borders
  const changes = await readStepChanges(db, seriesId, { from: borders[0]!, to: borders.at(-1)! })
  return [...new Set([...borders, ...changes.map(({ from_at }) => from_at)])].sort((a, b) => a - b)
}

/** Periods without a value that a segment may contain; null is shorter than another segment. */
const BRIDGED = 12

/** Joins values into segments of periods of equal length. */
export function joinValues(values: readonly ValueAt[]): Segment[] {
  const segments: Segment[] = []
  for (const { at, value, step } of values) {
    const last = segments.at(-1)
    const missing = last ? (at - last.from) / last.step - last.values.length : 0
    if (last?.step === step && Number.isInteger(missing) && missing >= 0 && missing <= BRIDGED) {
      for (let i = 0; i < missing; i++) last.values.push(null)
      last.values.push(value)
    } else segments.push({ from: at, step, values: [value] })
  }
  return segments
}

/** A mean with enough digits for any picture. */
export const sixDigits = (mean: number | null): number | null => (mean === null ? null : Number(mean.toPrecision(6)))

/** Joins intervals with their extremes into segments without empty ends. */
export function joinBands(
  intervals: readonly (readonly [Interval, Pick<Extremes, 'count' | 'seconds' | 'min' | 'max' | 'mean'>])[],
) {
  const segments: Required<Segment>[] = []
  for (const [{ from, to }, { count, seconds, min, max, mean }] of intervals) {
    const last = segments.at(-1)
    const follows = last?.step === to - from && last.from + last.values.length * last.step === from
    if (count === 0 && !follows) continue
    const segment = follows ? last : { from, step: to - from, values: [], min: [], max: [], seconds: [] }
    segment.values.push(sixDigits(mean))
    segment.min.push(min)
    segment.max.push(max)
    segment.seconds.push(seconds)
    if (!follows) segments.push(segment)
  }
  return segments
}

/** The beginning of the period that reaches into an interval, if any; else that of the interval. */
async function findBegin({ kysely }: Reader, { seriesId, geoId, from }: SeriesRange): Promise<Instant> {
  let begin = from
  for (const table of ['observation', 'observation_revision'] as const) {
    const before = await kysely
      .selectFrom(table)
      .select(['at', 'step_s'])
      .where((eb) => eb.and({ series_id: seriesId, geo_id: geoId }))
      .where('at', '<', from)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (before && before.at + before.step_s > from) begin = Math.min(begin, before.at)
  }
  return begin
}

/** The local days of an interval, including those at both ends. */
function localDays(zone: string, { from, to }: Interval): LocalDay[] {
  const first = dayIntervalAt(zone, from).day
  const last = dayIntervalAt(zone, to - 1).day
  return Array.from({ length: last - first + 1 }, (_, i) => localDay(zone, first + i)).filter(
    ({ seconds }) => seconds > 0,
  )
}

const dayKey = ({ month, dayOfMonth }: Pick<LocalDay, 'month' | 'dayOfMonth'>): number => month * 32 + dayOfMonth

/** Reads the totals of consecutive days. */
async function readTotals({ kysely }: Reader, { seriesId, geoId }: Line, days: readonly LocalDay[]) {
  if (days.length === 0) return []
  const rows = await kysely
    .selectFrom('_day')
    .select(['month', 'day', 'count', 'hours', 'min', 'max', 'sum', 'energy'])
    .where((eb) => eb.and({ series_id: seriesId, geo_id: geoId }))
    .where('month', '>=', days[0]!.month)
    .where('month', '<=', days.at(-1)!.month)
    .execute()
  const byDay = new Map(
    rows.map(({ month, day, count, hours, min, max, sum, energy }): [number, Extremes] => {
      const hasValues = count > 0 && hours !== null
      const average = hasValues && energy !== null ? energy / hours : (sum ?? 0) / count
      const mean = hasValues ? average : null
      return [dayKey({ month, dayOfMonth: day }), { count, seconds: (hours ?? 0) * 3600, min, max, sum, mean }]
    }),
  )
  return days.map((day) => [day, byDay.get(dayKey(day)) ?? NO_VALUES] as const)
}

type StoredDays = Awaited<ReturnType<typeof readTotals>>

/** Whether a request included a geo; null: all geos. */
export const includesGeo = (geoIds: string | null, geoId: number): boolean =>
  geoIds === null || geoIds.split(',').includes(String(geoId))

/** Reads totals as known after a fetch: versions only for days that a later fetch may have changed. */
async function readTotalsThen(db: Reader, line: Line, range: Interval, fetchId: number) {
  const rows = await db.kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids', 'from_at', 'to_at'])
    .where('series_id', '=', line.seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .execute()
  const windows = (isAfter: boolean) =>
    rows
      .filter(({ id, geo_ids }) => id > fetchId === isAfter && includesGeo(geo_ids, line.geoId))
      .map(({ from_at, to_at }) => ({ from: from_at ?? -Infinity, to: to_at ?? Infinity }))
  const before = merge(windows(false))
  const after = merge(windows(true))
  const both = intersect(before, after)
  const totals: [LocalDay, Extremes][] = []
  for (const [day, current] of await readDays(db, line, range, null)) {
    const isIn = (windows: readonly Interval[]): boolean => windows.some((window) => overlaps(window, day))
    const then = isIn(both) ? (await db.engine.readExtremes(line, [day.from, day.to], fetchId))[0]! : null
    totals.push([day, then ?? (isIn(after) ? NO_VALUES : current)])
  }
  return totals
}

/** Totals of a snapshot: the chart and the table beside it read the same days. */
const caches = new WeakMap<Reader, Map<string, Promise<StoredDays>>>()

/** Reads the values of every local day of an interval, whole days at its ends: current, or as known after a fetch. */
export function readDays(db: Reader, line: Line, range: Interval, fetchId: number | null): Promise<StoredDays> {
  const cache = caches.get(db) ?? new Map<string, Promise<StoredDays>>()
  caches.set(db, cache)
  const key = [line.seriesId, line.geoId, range.from, range.to, fetchId].join()
  const totals =
    cache.get(key) ??
    (fetchId === null ? readTotals(db, line, localDays(line.zone, range)) : readTotalsThen(db, line, range, fetchId))
  cache.set(key, totals)
  return totals
}

/** A period with the summary of its values. */
export type Summary = readonly [Interval, Extremes]

/** Summarizes the periods between borders: current, or as known after a fetch. Borders of local days need only totals of days. */
export async function summarize(
  db: Reader,
  line: Line,
  borders: readonly Instant[],
  fetchId: number | null,
  by: 'days' | 'values',
): Promise<Summary[]> {
  const periods = borders.slice(1).map((to, i) => ({ from: borders[i]!, to }))
  if (by === 'values') {
    const extremes = await db.engine.readExtremes(line, borders, fetchId)
    return periods.map((period, i) => [period, extremes[i]!])
  }
  const days = await readDays(db, line, { from: borders[0]!, to: borders.at(-1)! }, fetchId)
  let next = 0
  return periods.map((period) => {
    const begin = next
    while (next < days.length && days[next]![0].from < period.to) next++
    return [period, days.slice(begin, next).reduce((sum, [, day]) => joinExtremes(sum, day), NO_VALUES)]
  })
}

/** The borders of groups of local days, one for each column of a picture. */
function dayBorders(zone: string, range: Interval, columns: number): Instant[] {
  const borders = periodBorders(zone, range, 'day')
  const size = Math.ceil((borders.length - 1) / columns)
  return borders.filter((_, i) => i % size === 0 || i === borders.length - 1)
}

/** The borders of the columns of a picture, all equally long. */
function columnBorders({ from, to }: Interval, columns: number): Instant[] {
  const shortest = (to - from) / columns
  const step = COLUMN_LENGTHS.find((length) => length >= shortest) ?? DAY * Math.ceil(shortest / DAY)
  const first = Math.floor(from / step) * step
  return Array.from({ length: Math.ceil((to - first) / step) + 1 }, (_, i) => first + i * step)
}

/**
 * Reads the line of a picture: current, or as known after a fetch, with at most two values for each column. `kind`: whether the columns
 * are summarized although their values are few.
 */
export async function readWindow(
  db: Reader,
  line: Line,
  range: Interval,
  columns: number,
  fetchId: number | null,
  kind: LineData['kind'] = 'values',
): Promise<LineData> {
  if (kind === 'values') {
    const interval = { ...line, ...range, from: await findBegin(db, { ...line, ...range }) }
    const values = await readKnownValues(db.kysely, interval, fetchId, 2 * columns + 1)
    if (values.length <= 2 * columns) {
      const drawn = values.map((each) => ({ ...each, value: drawnValue(line, each) }))
      return { kind, segments: joinValues(drawn) }
    }
  }
  const isLong = range.to - range.from >= BY_DAYS * DAY
  const equal = isLong ? dayBorders(line.zone, range, columns) : columnBorders(range, columns)
  // The total of a day cannot be divided.
  const borders = isLong ? equal : await splitAtChanges(db, line, equal)
  const summaries = await summarize(db, line, borders, fetchId, isLong ? 'days' : 'values')
  return {
    kind: 'extremes',
    segments: joinBands(summaries.map(([period, summary]) => [period, drawnSummary(line, summary)])),
  }
}
