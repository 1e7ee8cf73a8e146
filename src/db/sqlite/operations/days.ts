import type { DayTotals, GeoDay } from '../../tables/dayTotals.ts'
import type { Prepare } from '../connection.ts'

/** Days a statement. */
const DAYS_PER_STATEMENT = 64

/** The upsert of a number of days with equally many values, equally spread: what they share is bound once. */
const UPSERTS = Array.from({ length: DAYS_PER_STATEMENT + 1 }, (_, days) =>
  days === 0
    ? ''
    : `insert into _day (series_id, geo_id, month, day, min, max, sum, count, hours, energy, first_s, last_s, missing)
   values ${Array.from({ length: days }, () => '(:series, ?, ?, ?, ?, ?, ?, :count, :hours, :energy, :first, :last, :missing)')}
   on conflict (series_id, geo_id, month, day) do update
   set count = excluded.count, hours = excluded.hours, min = excluded.min, max = excluded.max, sum = excluded.sum,
     energy = excluded.energy, first_s = excluded.first_s, last_s = excluded.last_s, missing = excluded.missing
   where count <> excluded.count or sum is not excluded.sum or min is not excluded.min or max is not excluded.max
     or hours is not excluded.hours or energy is not excluded.energy or first_s is not excluded.first_s
     or last_s is not excluded.last_s or missing <> excluded.missing`,
)

/** Whether two days differ in nothing but their values. */
const areSameButValues = (a: DayTotals, b: DayTotals): boolean =>
  a.count === b.count &&
  a.hours === b.hours &&
  a.firstS === b.firstS &&
  a.lastS === b.lastS &&
  a.missing === b.missing &&
  a.energy === null &&
  b.energy === null

/** Writes the totals of days, geo by geo and in order; equal ones write nothing. */
export function upsertDays(prepare: Prepare, seriesId: number, days: readonly GeoDay[]): void {
  for (let first = 0, end = 0; first < days.length; first = end) {
    const [, , common] = days[first]!
    const { count, hours, energy, firstS, lastS, missing } = common
    const parameters: unknown[] = []
    do {
      const [geoId, { month, dayOfMonth }, { min, max, sum }] = days[end++]!
      parameters.push(geoId, month, dayOfMonth, min, max, sum)
    } while (end < days.length && end - first < DAYS_PER_STATEMENT && areSameButValues(days[end]![2], common))
    prepare(UPSERTS[end - first]!).run(parameters, {
      series: seriesId,
      count,
      hours,
      energy,
      first: firstS,
      last: lastS,
      missing,
    })
  }
}
