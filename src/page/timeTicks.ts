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
  const add = (at: number, label: string, more = ''): void => {
    if (at >= from && at <= to) ticks.push({ at, label: labelFormat(label).format(at * 1000) + more })
  }
  if (unit === 'hour') {
    for (let at = Math.ceil(from / 3_600) * 3_600; at <= to; at += 3_600) {
      const hour = Number(localClock(zone, at).slice(11, 13))
      const offset = isOddDay(zone, at) ? ` ${formatLocal(zone, at).slice(19, 22)}` : ''
      if (hour % count === 0) add(at, hour === 0 ? 'weekday' : 'hour', offset)
    }
    return ticks
  }
  for (let at = floorTo(zone, from, unit); at <= to; at = addUnits(zone, at, unit, 1)) {
    const [year, month, day] = localClock(zone, at).slice(0, 10).split('-').map(Number) as [number, number, number]
    const place = unit === 'day' ? day - 1 : unit === 'month' ? month - 1 : year
    // The last days of a month would be next to the first of the next one.
    const isKept = unit !== 'day' || count === 1 || place < 31 - count
    if (place % count === 0 && isKept) add(at, unit === 'day' && count === 1 && day > 1 ? 'weekday' : unit)
  }
  return ticks
}
