import { prepareQuery } from '../db/prepared.ts'
import { currentValues } from '../db/queries/values.ts'
import { type GeoDay, geoRanges, type Observations } from '../db/tables/rows.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { createCalendar, type DayNumber, dayIntervalAt, dayNumber, localDay, toCivil } from '../util/time/localDay.ts'
import { type DayValues, sumTotals } from './dayTotals.ts'
import type { SeriesTransaction } from './storedSeries.ts'

/** The stored values of a day. */
async function readDay({ tx, seriesId, zone }: SeriesTransaction, geoId: number, day: DayNumber): Promise<DayValues> {
  const { from, to } = localDay(zone, day)
  const inside = await currentValues.all(tx, { seriesId, geoId, from, to })
  const rows = inside.filter(({ at }) => dayIntervalAt(zone, at).day === day)
  return {
    at: rows.map(({ at }) => at),
    values: rows.map(({ value }) => value),
    steps: rows.map(({ step_s }) => step_s),
  }
}

/** The days of a geo in a window that have totals. */
async function readStoredDays(
  { tx, seriesId, zone }: SeriesTransaction,
  geoId: number,
  { from, to }: Interval,
): Promise<DayNumber[]> {
  const first = toCivil(dayIntervalAt(zone, from).day)
  const last = toCivil(dayIntervalAt(zone, to - 1).day)
  const rows = await tx
    .selectFrom('_day')
    .select(['month', 'day'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where((eb) => eb(eb.refTuple('month', 'day'), '>=', eb.tuple(first.month, first.dayOfMonth)))
    .where((eb) => eb(eb.refTuple('month', 'day'), '<=', eb.tuple(last.month, last.dayOfMonth)))
    .execute()
  return rows.map(({ month, day }) => dayNumber({ month, dayOfMonth: day }))
}

const deleteDay = prepareQuery((db, parameters: { seriesId: number; geoId: number; month: number; day: number }) =>
  db
    .deleteFrom('_day')
    .where('series_id', '=', parameters.seriesId)
    .where('geo_id', '=', parameters.geoId)
    .where('month', '=', parameters.month)
    .where('day', '=', parameters.day),
)

/** Computes the totals of a day from the stored values; null if it has no values, and no totals any more. */
async function recomputeDay(series: SeriesTransaction, geoId: number, day: DayNumber): Promise<GeoDay | null> {
  const { tx, engine, seriesId, zone } = series
  const values = await readDay(series, geoId, day)
  const whole = localDay(zone, day)
  if (values.at.length === 0) {
    await deleteDay.run(tx, { seriesId, geoId, month: whole.month, day: whole.dayOfMonth })
    return null
  }
  const totals: GeoDay = [geoId, whole, sumTotals(values, 0, values.at.length, whole, zone)]
  await engine.upsertDays(tx, seriesId, [totals])
  return totals
}

/** Days that are read at once. */
const DAYS_AT_ONCE = 64

/** Computes the totals of days, in ascending order, from the stored values of a geo. */
export async function recomputeDays(
  { tx, engine, seriesId, zone }: SeriesTransaction,
  geoId: number,
  days: readonly DayNumber[],
): Promise<void> {
  const calendar = createCalendar(zone)
  for (let first = 0, end = 0; first < days.length; first = end) {
    while (end < days.length && days[end]! < days[first]! + DAYS_AT_ONCE) end++
    const requested = new Set(days.slice(first, end))
    const range = { from: localDay(zone, days[first]!).from, to: localDay(zone, days[end - 1]!).to }
    const rows = await currentValues.all(tx, { seriesId, geoId, ...range })
    const byDay = Map.groupBy(rows, ({ at }) => calendar.dayIntervalAt(at).day)
    const totals = [...byDay].flatMap(([day, inDay]): GeoDay[] => {
      if (!requested.has(day)) return []
      const timeline = {
        at: inDay.map(({ at }) => at),
        values: inDay.map(({ value }) => value),
        steps: inDay.map(({ step_s }) => step_s),
      }
      const whole = localDay(zone, day)
      return [[geoId, whole, sumTotals(timeline, 0, inDay.length, whole, zone)]]
    })
    await engine.upsertDays(
      tx,
      seriesId,
      totals.sort(([, a], [, b]) => a.day - b.day),
    )
  }
}

/** The values that a reply changed. */
export interface ChangedValues {
  readonly observations: Observations
  /** The window of a reply without rejects; null for other replies. */
  readonly window: Interval | null
  /** Whether nothing else is stored of its geos in the window. A day that a reply lacks keeps its values while the reply is not believed about it. */
  readonly isComplete: boolean
  /** Whether stored values were withdrawn. */
  readonly hasWithdrawn: boolean
}

/**
 * The index after the last value before `to`, at most `end`. Most values follow their step, so that the index can be computed and
 * need not be searched.
 */
function findDayEnd({ at, steps }: Observations, begin: number, end: number, to: Instant): number {
  let dayEnd = begin + 1
  if (typeof steps === 'number') {
    const guess = Math.min(end, begin + Math.max(1, Math.ceil((to - at[begin]!) / steps)))
    if (at[guess - 1]! < to) dayEnd = guess
  }
  while (dayEnd < end && at[dayEnd]! < to) dayEnd++
  return dayEnd
}

/**
 * Updates the totals of the days of a reply: from its rows if its window contains the whole day, else from the stored values. Returns
 * the days that have values.
 */
export async function writeDays(
  series: SeriesTransaction,
  { observations, window, isComplete, hasWithdrawn }: ChangedValues,
): Promise<GeoDay[]> {
  const { tx, engine, seriesId, zone } = series
  const { at } = observations
  // Guessed steps do not replace stored ones, so the totals also depend on stored values.
  const wholeWindow = observations.isStepGuessed || !isComplete ? null : window
  const calendar = createCalendar(zone)
  const days: GeoDay[] = []
  const toRecompute: (readonly [geoId: number, day: DayNumber])[] = []
  for (const { geoId, first, end } of geoRanges(observations)) {
    const firstOfGeo = days.length
    const otherDays = new Set<DayNumber>()
    for (let begin = first, dayEnd = first; begin < end; begin = dayEnd) {
      const whole = calendar.dayAt(at[begin]!)
      do dayEnd = findDayEnd(observations, dayEnd, end, calendar.dayIntervalAt(at[dayEnd]!).to)
      while (dayEnd < end && calendar.dayIntervalAt(at[dayEnd]!).day === whole.day)
      // If the clocks go back over midnight, a day comes twice.
      const isNext = days.length === firstOfGeo || whole.day > days.at(-1)![1].day
      if (wholeWindow && whole.from >= wholeWindow.from && whole.to <= wholeWindow.to && isNext)
        days.push([geoId, whole, sumTotals(observations, begin, dayEnd, whole, zone)])
      else otherDays.add(whole.day)
    }
    if (hasWithdrawn && window) {
      const summed = new Set(days.slice(firstOfGeo).map(([, { day }]) => day))
      for (const day of await readStoredDays(series, geoId, window)) if (!summed.has(day)) otherDays.add(day)
    }
    for (const day of otherDays) toRecompute.push([geoId, day])
  }
  // Writes the days of all geos at once, because a statement costs as much as several days.
  await engine.upsertDays(tx, seriesId, days)
  for (const [geoId, day] of toRecompute) {
    const recomputed = await recomputeDay(series, geoId, day)
    if (recomputed) days.push(recomputed)
  }
  return days
}
