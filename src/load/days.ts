import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import {
  type Civil,
  civilOf,
  createCalendar,
  type DayNumber,
  dayNumber,
  type LocalDay,
  localDay,
  stretchAt,
} from '../base/localDay.ts'
import type { Store } from '../db/open.ts'
import type { Observations } from '../tables/rows.ts'
import { type DayTotals, type Timeline, totalsOf } from './dayTotals.ts'

/** Days a statement. */
const BATCH = 32

/** The upsert of so many days that have as many values, equally spread: what they share is bound once. */
const UPSERTS = Array.from({ length: BATCH + 1 }, (_, days) =>
  days === 0
    ? ''
    : `with common (series_id, geo_id, count, hours, energy, first_s, last_s, missing) as (values (?, ?, ?, ?, ?, ?, ?, ?))
   insert into _day (series_id, geo_id, month, day, count, hours, min, max, sum, energy, first_s, last_s, missing)
   select c.series_id, c.geo_id, v.column1, v.column2, c.count, c.hours, v.column3, v.column4, v.column5, c.energy, c.first_s,
     c.last_s, c.missing
   from common c cross join (values ${Array.from({ length: days }, () => '(?, ?, ?, ?, ?)')}) v where true
   on conflict (series_id, geo_id, month, day) do update
   set count = excluded.count, hours = excluded.hours, min = excluded.min, max = excluded.max, sum = excluded.sum,
     energy = excluded.energy, first_s = excluded.first_s, last_s = excluded.last_s, missing = excluded.missing
   where count <> excluded.count or sum is not excluded.sum or min is not excluded.min or max is not excluded.max
     or hours is not excluded.hours or energy is not excluded.energy or first_s is not excluded.first_s
     or last_s is not excluded.last_s or missing <> excluded.missing`,
)

/** Whether two days differ in nothing but their values. */
const isAlike = (a: DayTotals, b: DayTotals): boolean =>
  a.count === b.count &&
  a.hours === b.hours &&
  a.firstS === b.firstS &&
  a.lastS === b.lastS &&
  a.missing === b.missing &&
  a.energy === null &&
  b.energy === null

type Day = readonly [day: LocalDay, totals: DayTotals]

function upsert(store: Store, seriesId: number, geoId: number, days: readonly Day[]): void {
  for (let first = 0, end = 0; first < days.length; first = end) {
    const [, common] = days[first]!
    const { count, hours, energy, firstS, lastS, missing } = common
    const parameters: unknown[] = [seriesId, geoId, count, hours, energy, firstS, lastS, missing]
    do {
      const [{ month, dayOfMonth }, { min, max, sum }] = days[end++]!
      parameters.push(month, dayOfMonth, min, max, sum)
    } while (end < days.length && end - first < BATCH && isAlike(days[end]![1], common))
    store.run(UPSERTS[end - first]!, parameters)
  }
}

/** The values of a day that are stored. */
function readDay(store: Store, zone: string, seriesId: number, geoId: number, day: DayNumber): Timeline {
  const { from, to } = localDay(zone, day)
  const rows = (
    store.all(
      `select at, value, step_s as step from observation where series_id = ? and geo_id = ? and at >= ? and at < ? order by at`,
      [seriesId, geoId, from, to],
    ) as { at: number; value: number | null; step: number }[]
  ).filter(({ at }) => stretchAt(zone, at).day === day)
  return { at: rows.map(({ at }) => at), values: rows.map(({ value }) => value), steps: rows.map(({ step }) => step) }
}

/** The days of a geo in a window that have totals. */
const storedDays = (
  store: Store,
  seriesId: number,
  geoId: number,
  zone: string,
  { from, to }: Interval,
): DayNumber[] => {
  const [first, last] = [from, to - 1].map((at) => civilOf(stretchAt(zone, at).day)) as [Civil, Civil]
  const rows = store.all(
    'select month, day from _day where series_id = ? and geo_id = ? and (month, day) >= (?, ?) and (month, day) <= (?, ?)',
    [seriesId, geoId, first.month, first.dayOfMonth, last.month, last.dayOfMonth],
  ) as { month: number; day: number }[]
  return rows.map(({ month, day }) => dayNumber({ month, dayOfMonth: day }))
}

/** Makes the totals of a day from the values that are stored; a day without any has none. */
function reread(store: Store, zone: string, seriesId: number, geoId: number, day: DayNumber): void {
  const values = readDay(store, zone, seriesId, geoId, day)
  const whole = localDay(zone, day)
  if (values.at.length > 0) upsert(store, seriesId, geoId, [[whole, totalsOf(values, 0, values.at.length, whole)]])
  else
    store.run('delete from _day where series_id = ? and geo_id = ? and month = ? and day = ?', [
      ...[seriesId, geoId, whole.month, whole.dayOfMonth],
    ])
}

/** What an answer changed, as far as days are concerned. */
export interface Changed {
  readonly seriesId: number
  readonly rows: Observations
  /** The window of a sound answer: of the geos that occur in it nothing else is stored there. Null where that is not known. */
  readonly window: Interval | null
  /** Whether values were taken away. */
  readonly withdrawn: boolean
}

/** Where the values of a stretch end that begins at a place: most follow their step, so that it need not be looked for. */
function endOf({ at, steps }: Observations, begin: number, last: number, to: Instant): number {
  let end = begin + 1
  if (typeof steps === 'number') {
    const guess = Math.min(last, begin + Math.max(1, Math.ceil((to - at[begin]!) / steps)))
    if (at[guess - 1]! < to) end = guess
  }
  while (end < last && at[end]! < to) end++
  return end
}

/**
 * Makes the totals of the days anew that an answer told of. Of a day that lies in its window as a whole they are known from
 * the rows that came; of any other the stored values are read.
 */
export function writeDays(store: Store, { seriesId, rows, window, withdrawn }: Changed): void {
  const zone = store.get('select time_zone from series where id = ?', [seriesId]) as string
  const { geoIds, at } = rows
  // A length that is only guessed leaves the stored one alone.
  const known = rows.guessed ? null : window
  const calendar = createCalendar(zone)
  for (let first = 0, last = 0; first < at.length; first = last) {
    const geoId = geoIds[first]!
    while (last < at.length && geoIds[last] === geoId) last++
    const days: Day[] = []
    const unsure = new Set<DayNumber>()
    for (let begin = first, end = first; begin < last; begin = end) {
      const whole = calendar.dayAt(at[begin]!)
      do end = endOf(rows, end, last, calendar.stretchAt(at[end]!).to)
      while (end < last && calendar.stretchAt(at[end]!).day === whole.day)
      // Where the clocks go back over midnight, a day comes twice.
      const isNext = days.length === 0 || whole.day > days.at(-1)![0].day
      if (known && whole.from >= known.from && whole.to <= known.to && isNext)
        days.push([whole, totalsOf(rows, begin, end, whole)])
      else unsure.add(whole.day)
    }
    if (withdrawn && window) {
      const sure = new Set(days.map(([{ day }]) => day))
      for (const day of storedDays(store, seriesId, geoId, zone, window)) if (!sure.has(day)) unsure.add(day)
    }
    upsert(store, seriesId, geoId, days)
    for (const day of unsure) reread(store, zone, seriesId, geoId, day)
  }
}
