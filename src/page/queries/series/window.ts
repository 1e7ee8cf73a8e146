import type { Extremes, SeriesRange, ValueAt } from '../../../db/engine.ts'
import { GOOD_OUTCOMES } from '../../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../../db/store.ts'
import type { Instant } from '../../../util/time/instant.ts'
import { type Interval, intersect, merge } from '../../../util/time/interval.ts'
import { dayIntervalAt, type LocalDay, localDay } from '../../../util/time/localDay.ts'
import type { BandSegment, Drawn, ValueSegment } from '../../client/segments.ts'

/** A series of one geo, with the zone in which its days are counted. */
export interface GeoSeries {
  readonly seriesId: number
  readonly geoId: number
  readonly zone: string
}

/** Local days from which on the totals of days are read instead of values. */
const BY_DAYS = 180
/** Columns begin at multiples of this many seconds. */
const GRID = 300

const NO_VALUES: Extremes = { count: 0, seconds: 0, min: null, max: null, sum: null, mean: null }

const least = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b))
const most = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.max(a, b))

/** The extremes and means of two intervals joined into one. */
export function together(a: Extremes, b: Extremes): Extremes {
  if (a.count === 0 || b.count === 0) return a.count === 0 ? b : a
  const seconds = a.seconds + b.seconds
  const mean = ((a.mean ?? 0) * a.seconds + (b.mean ?? 0) * b.seconds) / seconds
  const sum = (a.sum ?? 0) + (b.sum ?? 0)
  return { count: a.count + b.count, seconds, min: least(a.min, b.min), max: most(a.max, b.max), sum, mean }
}

/** Periods without a value that a segment may contain: sending them as null is shorter than beginning another segment. */
const BRIDGED = 12

/** Values as segments of periods of equal length. */
export function segmentsOf(values: readonly ValueAt[]): ValueSegment[] {
  const segments: ValueSegment[] = []
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

/** A mean with as many digits as any picture can show. */
export const sixDigits = (mean: number | null): number | null => (mean === null ? null : Number(mean.toPrecision(6)))

/** Intervals with their extremes and mean as segments; empty ones at both ends are left out. */
function bandsOf(intervals: readonly (readonly [Interval, Extremes])[]): BandSegment[] {
  const segments: BandSegment[] = []
  for (const [{ from, to }, { count, min, max, mean }] of intervals) {
    const last = segments.at(-1)
    const follows = last?.step === to - from && last.from + last.min.length * last.step === from
    if (count === 0 && !follows) continue
    const segment = follows ? last : { from, step: to - from, min: [], max: [], mean: [] }
    segment.min.push(min)
    segment.max.push(max)
    segment.mean.push(sixDigits(mean))
    if (!follows) segments.push(segment)
  }
  return segments
}

/** The beginning of the period that reaches into an interval, where there is one; else that of the interval. */
async function beginOf({ kysely }: Reader, { seriesId, geoId, from }: SeriesRange): Promise<Instant> {
  let begin = from
  for (const table of ['observation', 'observation_revision'] as const) {
    const before = await kysely
      .selectFrom(table)
      .select(['at', 'step_s'])
      .where((of) => of.and({ series_id: seriesId, geo_id: geoId }))
      .where('at', '<', from)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (before && before.at + before.step_s > from) begin = Math.min(begin, before.at)
  }
  return begin
}

/** The local days of an interval, including those at both ends. */
export function localDays(zone: string, { from, to }: Interval): LocalDay[] {
  const [first, last] = [dayIntervalAt(zone, from).day, dayIntervalAt(zone, to - 1).day]
  return Array.from({ length: last - first + 1 }, (_, i) => localDay(zone, first + i)).filter(
    ({ seconds }) => seconds > 0,
  )
}

const dayKey = ({ month, dayOfMonth }: Pick<LocalDay, 'month' | 'dayOfMonth'>): number => month * 32 + dayOfMonth

/** The extremes and means of consecutive days, from their totals. */
async function readTotals({ kysely }: Reader, { seriesId, geoId }: GeoSeries, days: readonly LocalDay[]) {
  const rows = await kysely
    .selectFrom('_day')
    .select(['month', 'day', 'count', 'hours', 'min', 'max', 'sum', 'energy'])
    .where((of) => of.and({ series_id: seriesId, geo_id: geoId }))
    .where('month', '>=', days[0]!.month)
    .where('month', '<=', days.at(-1)!.month)
    .execute()
  const byDay = new Map(
    rows.map(({ month, day, count, hours, min, max, sum, energy }): [number, Extremes] => {
      const mean = count === 0 || hours === null ? null : energy === null ? (sum ?? 0) / count : energy / hours
      return [dayKey({ month, dayOfMonth: day }), { count, seconds: (hours ?? 0) * 3600, min, max, sum, mean }]
    }),
  )
  return days.map((day) => byDay.get(dayKey(day)) ?? NO_VALUES)
}

/** Whether a request was for a geo; null: for all. */
export const isForGeo = (geoIds: string | null, geoId: number): boolean =>
  geoIds === null || geoIds.split(',').includes(String(geoId))

/** The windows of fetches, up to one of them and after it. */
async function fetchWindows({ kysely }: Reader, { seriesId, geoId }: GeoSeries, fetchId: number) {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids', 'from_at', 'to_at'])
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .execute()
  const windows = (isAfter: boolean) =>
    merge(
      rows
        .filter(({ id, geo_ids }) => id > fetchId === isAfter && isForGeo(geo_ids, geoId))
        .map(({ from_at, to_at }) => ({ from: from_at ?? -Infinity, to: to_at ?? Infinity })),
    )
  return { before: windows(false), after: windows(true) }
}

/** Which of some days overlap any of some intervals; both are in order. */
function touched(days: readonly LocalDay[], intervals: readonly Interval[]): boolean[] {
  let i = 0
  return days.map(({ from, to }) => {
    while (i < intervals.length && intervals[i]!.to <= from) i++
    return i < intervals.length && intervals[i]!.from < to
  })
}

/** Local days of a series with their totals, current and as known after a fetch. */
interface KeptDays {
  readonly key: string
  readonly days: readonly LocalDay[]
  readonly totals: readonly Extremes[]
  readonly past: Map<number, readonly Extremes[]>
}

/** The last result: the chart and the table beside it read the same days, current and past. */
const keptResults = new WeakMap<Reader, KeptDays>()

async function keptDays(db: Reader, line: GeoSeries, range: Interval): Promise<KeptDays> {
  const key = `${line.seriesId} ${line.geoId} ${range.from} ${range.to}`
  const known = keptResults.get(db)
  if (known?.key === key) return known
  const days = localDays(line.zone, range)
  const totals = days.length === 0 ? [] : await readTotals(db, line, days)
  const found = { key, days, totals, past: new Map() }
  keptResults.set(db, found)
  return found
}

/**
 * The values of days as known after a fetch: the current totals for days that no later fetch has touched; for the others, the
 * versions are read.
 */
async function totalsThen(db: Reader, line: GeoSeries, { days, ...kept }: KeptDays, fetchId: number) {
  const totals = [...kept.totals]
  const { before, after } = await fetchWindows(db, line, fetchId)
  const [unsure, later] = [touched(days, intersect(before, after)), touched(days, after)]
  for (const [i, { from, to }] of days.entries())
    if (unsure[i]) totals[i] = (await db.engine.extremes(line, [from, to], fetchId))[0]!
    else if (later[i]) totals[i] = NO_VALUES
  return totals
}

/** The values of every local day of an interval, whole days at its ends: current, or as known after a fetch. */
export async function readDays(db: Reader, line: GeoSeries, range: Interval, fetchId: number | null) {
  const found = await keptDays(db, line, range)
  if (found.days.length === 0) return []
  const { days, past } = found
  if (fetchId !== null && !past.has(fetchId)) past.set(fetchId, await totalsThen(db, line, found, fetchId))
  const totals = fetchId === null ? found.totals : past.get(fetchId)!
  return days.map((day, i) => [day, totals[i]!] as const)
}

/** An interval by groups of local days, as many groups as a picture has columns. */
async function byDays(db: Reader, line: GeoSeries, range: Interval, columns: number, fetchId: number | null) {
  const days = await readDays(db, line, range, fetchId)
  const size = Math.ceil(days.length / columns)
  const intervals: [Interval, Extremes][] = []
  for (let i = 0; i < days.length; i += size) {
    const some = days.slice(i, i + size)
    const whole = { from: some[0]![0].from, to: some.at(-1)![0].to }
    intervals.push([whole, some.map(([, extremes]) => extremes).reduce(together)])
  }
  return bandsOf(intervals)
}

/** An interval by the columns of a picture, all equally long. */
async function byColumns(db: Reader, line: GeoSeries, range: Interval, columns: number, fetchId: number | null) {
  const { from, to } = range
  const step = GRID * Math.max(1, Math.ceil((to - from) / columns / GRID))
  const first = Math.floor(from / step) * step
  const borders = Array.from({ length: Math.ceil((to - first) / step) + 1 }, (_, i) => first + i * step)
  const found = await db.engine.extremes(line, borders, fetchId)
  return bandsOf(found.map((extremes, i) => [{ from: borders[i]!, to: borders[i + 1]! }, extremes]))
}

/**
 * What a picture with a number of columns shows of an interval: current, or as known after a fetch. Never more than two values
 * for each column.
 */
export async function readWindow(db: Reader, line: GeoSeries, range: Interval, columns: number, then: number | null) {
  return (await readWindows(db, line, range, columns, [then]))[0]!
}

/** The same for several states, in order: where one has too many values, those of later ones are not read. */
export async function readWindows(
  db: Reader,
  line: GeoSeries,
  range: Interval,
  columns: number,
  fetchIds: readonly (number | null)[],
): Promise<Drawn[]> {
  const interval = { ...line, ...range, from: await beginOf(db, { ...line, ...range }) }
  const read = range.to - range.from >= BY_DAYS * 86_400 ? byDays : byColumns
  const drawn: Drawn[] = []
  for (const fetchId of fetchIds) {
    const values =
      drawn.at(-1)?.kind === 'extremes' ? null : await db.engine.knownValues(interval, fetchId, 2 * columns + 1)
    drawn.push(
      values !== null && values.length <= 2 * columns
        ? { kind: 'values', segments: segmentsOf(values) }
        : { kind: 'extremes', segments: await read(db, line, range, columns, fetchId) },
    )
  }
  return drawn
}
