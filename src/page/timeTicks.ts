import { memoize } from '../util/memoize.ts'
import type { Interval } from '../util/time/interval.ts'
import { dayIntervalAt, localDay } from '../util/time/localDay.ts'
import { addUnits, floorTo, formatLocal, localClock, type Unit } from '../util/time/zone.ts'
import { writtenLocale } from './client/format.ts'

/** The steps of a time axis, each with the longest range, in days, for which it is used. */
const AXIS_STEPS: readonly (readonly [days: number, unit: Unit, count: number])[] = [
  [0.3, 'hour', 1],
  [1.1, 'hour', 3],
  [2.1, 'hour', 6],
  [4.1, 'hour', 12],
  [15, 'day', 1],
  [35, 'day', 5],
  [80, 'day', 10],
  [200, 'month', 1],
  [800, 'month', 3],
  [5_500, 'year', 1],
  [Number.POSITIVE_INFINITY, 'year', 10],
]

/** The formats of marks. The first day of a month has its name. */
const LABELS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  hour: { hour: '2-digit', minute: '2-digit' },
  weekday: { weekday: 'short', day: 'numeric' },
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  year: { year: 'numeric' },
}

/** Whether the clocks change on a local day. */
export const isOddDay = (zone: string, at: number): boolean =>
  localDay(zone, dayIntervalAt(zone, at).day).seconds !== 86_400

/** Marks at local borders, with their offset on days of a clock change. */
export function timeTicks(zone: string, { from, to }: Interval, locale: string) {
  const [, unit, count] = AXIS_STEPS.find(([days]) => (to - from) / 86_400 <= days)!
  const ticks: { readonly at: number; readonly label: string }[] = []
  // A format takes 30 µs to make, and memory that V8 does not see.
  const labelFormat = memoize(
    (label: string) => new Intl.DateTimeFormat(writtenLocale(locale), { ...LABELS[label], timeZone: zone }),
  )
  for (let at = floorTo(zone, from, unit); at <= to; at = addUnits(zone, at, unit, 1)) {
    const [year, month, day, hour] = localClock(zone, at).split(/[-T:]/).map(Number) as [number, number, number, number]
    const places: Partial<Record<Unit, number>> = { hour, day: day - 1, month: month - 1 }
    const place = places[unit] ?? year
    // The last days of a month would be next to the first of the next one.
    const isCrowded = unit === 'day' && count > 1 && place >= 31 - count
    if (at < from || place % count !== 0 || isCrowded) continue
    const isWeekday = unit === 'hour' ? hour === 0 : unit === 'day' && count === 1 && day > 1
    const offset = unit === 'hour' && isOddDay(zone, at) ? ` ${formatLocal(zone, at).slice(19, 22)}` : ''
    ticks.push({ at, label: labelFormat(isWeekday ? 'weekday' : unit).format(at * 1000) + offset })
  }
  return ticks
}
