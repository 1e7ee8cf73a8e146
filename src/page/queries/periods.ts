import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { addUnits, floorTo, localDate, type Unit } from '../../util/time/zone.ts'

/** Calendar spans of local days. */
export const SPANS = ['day', 'week', 'month', 'year'] as const
/** Local periods by which values are summarized. */
export const PERIOD_UNITS = ['hour', ...SPANS] as const
export type PeriodUnit = (typeof PERIOD_UNITS)[number]

/** The local period that contains an instant, moved by a number of periods. Weeks begin on Monday. */
export function periodAt(zone: string, at: Instant, period: PeriodUnit, moved = 0): Interval {
  const [unit, count]: [Unit, number] = period === 'week' ? ['day', 7] : [period, 1]
  const floor = floorTo(zone, at, unit)
  const weekday = (new Date(localDate(zone, floor)).getUTCDay() + 6) % 7
  const start = period === 'week' ? addUnits(zone, floor, 'day', -weekday) : floor
  const from = addUnits(zone, start, unit, count * moved)
  return { from, to: addUnits(zone, from, unit, count) }
}

/** The borders of the local periods from the one that contains the beginning of a range to the one that contains its end. */
export function periodBorders(zone: string, { from, to }: Interval, unit: PeriodUnit): Instant[] {
  const borders = [periodAt(zone, from, unit).from]
  while (borders.at(-1)! < to) borders.push(periodAt(zone, borders.at(-1)!, unit).to)
  return borders
}

/** The last local days, as many as given, up to the one that contains an instant. */
export function lastDays(zone: string, at: Instant, count: number): Interval {
  const { to } = periodAt(zone, at, 'day')
  return { from: addUnits(zone, to, 'day', -count), to }
}
