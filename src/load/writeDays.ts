import type { Transaction } from 'kysely'
import type { Engine } from '../db/engine.ts'
import { prepareQuery } from '../db/prepared.ts'
import { currentValues } from '../db/queries/values.ts'
import { type DayTotals, type GeoDay, geoRanges, type Observations } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import { evenStep, findDayStep } from '../util/time/dayStep.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import {
  createCalendar,
  type DayNumber,
  dayIntervalAt,
  dayNumber,
  type LocalDay,
  localDay,
  toCivil,
} from '../util/time/localDay.ts'

/** The stored values of a day. */
async function readDay(
  tx: Transaction<Database>,
  zone: string,
  seriesId: number,
  geoId: number,
  day: DayNumber,
): Promise<DayValues> {
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
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  zone: string,
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
async function recomputeDay(
  tx: Transaction<Database>,
  engine: Engine,
  zone: string,
  seriesId: number,
  geoId: number,
  day: DayNumber,
): Promise<GeoDay | null> {
  const values = await readDay(tx, zone, seriesId, geoId, day)
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
  tx: Transaction<Database>,
  engine: Engine,
  zone: string,
  { seriesId, geoId }: { readonly seriesId: number; readonly geoId: number },
  days: readonly DayNumber[],
): Promise<void> {
  const calendar = createCalendar(zone)
  for (let first = 0, end = 0; first < days.length; first = end) {
    while (end < days.length && days[end]! < days[first]! + DAYS_AT_ONCE) end++
    const wanted = new Set(days.slice(first, end))
    const range = { from: localDay(zone, days[first]!).from, to: localDay(zone, days[end - 1]!).to }
    const rows = await currentValues.all(tx, { seriesId, geoId, ...range })
    const byDay = Map.groupBy(rows, ({ at }) => calendar.dayIntervalAt(at).day)
    const totals = [...byDay].flatMap(([day, inDay]): GeoDay[] => {
      if (!wanted.has(day)) return []
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
  readonly seriesId: number
  /** The zone in which the days of the series are counted. */
  readonly zone: string
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
  tx: Transaction<Database>,
  engine: Engine,
  { seriesId, zone, observations, window, isComplete, hasWithdrawn }: ChangedValues,
): Promise<GeoDay[]> {
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
      // Where the clocks go back over midnight, a day comes twice.
      const isNext = days.length === firstOfGeo || whole.day > days.at(-1)![1].day
      if (wholeWindow && whole.from >= wholeWindow.from && whole.to <= wholeWindow.to && isNext)
        days.push([geoId, whole, sumTotals(observations, begin, dayEnd, whole, zone)])
      else otherDays.add(whole.day)
    }
    if (hasWithdrawn && window) {
      const summed = new Set(days.slice(firstOfGeo).map(([, { day }]) => day))
      for (const day of await readStoredDays(tx, seriesId, geoId, zone, window))
        if (!summed.has(day)) otherDays.add(day)
    }
    for (const day of otherDays) toRecompute.push([geoId, day])
  }
  // Of all geos at once: a statement costs as much as several days.
  await engine.upsertDays(tx, seriesId, days)
  for (const [geoId, day] of toRecompute) {
    const recomputed = await recomputeDay(tx, engine, zone, seriesId, geoId, day)
    if (recomputed) days.push(recomputed)
  }
  return days
}

/** Values side by side with their instants and the length of their periods. */
interface DayValues {
  readonly at: readonly number[]
  readonly values: readonly (number | null)[]
  /** Seconds of every period, or of each where they differ. */
  readonly steps: number | readonly number[]
}

/** Value times hours, added up. */
function sumEnergy({ values }: DayValues, steps: readonly number[], first: number, end: number): number {
  let sum = 0
  let compensation = 0
  for (let i = first; i < end; i++) {
    const value = (values[i] ?? 0) * steps[i]!
    const added = sum + value
    compensation += roundingError(sum, value, added)
    sum = added
  }
  return applyCompensation(sum, compensation) / 3600
}

/** The rounding error of one addition. Sums are compensated as SQLite does it (Neumaier's variant of Kahan and Babuška), so that both agree. */
const roundingError = (sum: number, value: number, added: number): number =>
  Math.abs(sum) > Math.abs(value) ? sum - added + value : value - added + sum
const applyCompensation = (sum: number, compensation: number): number =>
  Number.isFinite(compensation) ? sum + compensation : sum

/** Lengths of periods in seconds: the total of those with a value, whether they are all equal, and the shortest of all. */
function periodLengths({ values, steps }: DayValues, first: number, end: number, count: number) {
  if (typeof steps === 'number') return { seconds: count * steps, isEven: true, shortest: steps }
  let seconds = 0
  let shortest = Number.POSITIVE_INFINITY
  let longest = 0
  for (let i = first; i < end; i++) {
    const step = steps[i]!
    if (step < shortest) shortest = step
    if (values[i] === null) continue
    if (step > longest) longest = step
    seconds += step
  }
  return { seconds, isEven: seconds === count * longest, shortest }
}

/** The totals of a local day, whose values are those with index `first` up to (not including) `end`, in order of time. */
function sumTotals(timeline: DayValues, first: number, end: number, day: LocalDay, zone: string): DayTotals {
  const { at, values, steps } = timeline
  let count = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let firstAt = 0
  let lastAt = 0
  let sum = 0
  let compensation = 0
  /** The distance of the first two values, if all others have it. */
  let distance: number | null = null
  let isEvenlySpaced = true
  for (let i = first; i < end; i++) {
    const value = values[i]!
    if (value === null) continue
    if (count++ === 0) firstAt = at[i]!
    else {
      distance ??= at[i]! - lastAt
      if (at[i]! - lastAt !== distance) isEvenlySpaced = false
    }
    lastAt = at[i]!
    if (value < min) min = value
    if (value > max) max = value
    const added = sum + value
    compensation += roundingError(sum, value, added)
    sum = added
  }
  const { seconds, isEven, shortest } = periodLengths(timeline, first, end, count)
  const missing = shortest < day.seconds ? Math.max(0, Math.round((day.seconds - seconds) / shortest)) : 0
  if (count === 0) return { ...NO_TOTALS, missing }
  const even = isEvenlySpaced && distance !== null ? evenStep(zone, day, firstAt, count, distance) : null
  return {
    count,
    hours: seconds / 3600,
    min,
    max,
    missing,
    sum: applyCompensation(sum, compensation),
    energy: isEven || typeof steps === 'number' ? null : sumEnergy(timeline, steps, first, end),
    firstS: firstAt - day.from,
    lastS: day.to - lastAt,
    ...(even ?? findDayStep(zone, day, listInstants(timeline, first, end))),
  }
}

/** The totals of a day that has only NULLs. */
const NO_TOTALS: DayTotals = {
  count: 0,
  hours: null,
  min: null,
  max: null,
  sum: null,
  energy: null,
  firstS: null,
  lastS: null,
  missing: 0,
  step: null,
  offset: null,
  strays: null,
}

/** The instants of a day with a value. */
function listInstants({ at, values }: DayValues, first: number, end: number): Instant[] {
  const instants: Instant[] = []
  for (let i = first; i < end; i++) if (values[i] !== null) instants.push(at[i]!)
  return instants
}
