import { padTwo, writtenLocale } from './format.ts'

/*
 * Local time in the service's zone, from offsets that the server sends: the zone of the browser is never used. Server and
 * browser share this file.
 */

/** The offsets of a zone in seconds, each with the instant from which it holds; the first one also holds before. */
export type Offsets = readonly (readonly [at: number, seconds: number])[]

/** Seconds that local time is ahead of UTC at an instant. */
const offsetAt = (offsets: Offsets, at: number): number =>
  (offsets.findLast(([from]) => from <= at) ?? offsets[0] ?? [0, 0])[1]

/** The clock at an instant: `2025-10-26T02:15:00`. */
export const clockAt = (offsets: Offsets, at: number): string =>
  new Date((at + offsetAt(offsets, at)) * 1000).toISOString().slice(0, 19)

/** An offset as `+02:00`. */
const offsetText = (seconds: number): string =>
  `${seconds < 0 ? '-' : '+'}${padTwo(Math.floor(Math.abs(seconds) / 3600))}:${padTwo((Math.abs(seconds) % 3600) / 60)}`

/** An instant as an address has it: a local day where it is the beginning of one, else the time with its offset. */
export function addressText(offsets: Offsets, at: number): string {
  const clock = clockAt(offsets, at)
  return clock.endsWith('T00:00:00') ? clock.slice(0, 10) : `${clock}${offsetText(offsetAt(offsets, at))}`
}

/** Whether the clocks change on the local day of an instant: then some hour may come twice. */
const isOddDay = (offsets: Offsets, at: number): boolean =>
  offsets.slice(1).some(([change]) => clockAt(offsets, change).slice(0, 10) === clockAt(offsets, at).slice(0, 10))

/** Local time to the minute; with its offset on a day on which the clocks change. */
export const timeText = (offsets: Offsets, at: number): string =>
  clockAt(offsets, at).slice(0, 16).replace('T', ' ') +
  (isOddDay(offsets, at) ? ` ${offsetText(offsetAt(offsets, at))}` : '')

/** The first instant at which the clocks show a time, given as if it were UTC; the change itself where they skip it. */
function instantAt(offsets: Offsets, local: number): number {
  for (const [, seconds] of offsets) if (offsetAt(offsets, local - seconds) === seconds) return local - seconds
  const [change] = offsets.find(([at, seconds]) => at > local - seconds) ?? offsets.at(-1)!
  return change
}

/** A mark of a time axis. */
interface TimeTick {
  readonly at: number
  readonly label: string
}

type AxisUnit = 'hour' | 'day' | 'month' | 'year'

/** The steps of a time axis, each with the longest range, in days, for which it is used. */
const AXIS_STEPS: readonly (readonly [days: number, unit: AxisUnit, count: number])[] = [
  [0.3, 'hour', 1],
  [1.1, 'hour', 3],
  [2.1, 'hour', 6],
  [15, 'day', 1],
  [35, 'day', 5],
  [80, 'day', 10],
  [200, 'month', 1],
  [800, 'month', 3],
  [5_500, 'year', 1],
  [Number.POSITIVE_INFINITY, 'year', 10],
]

const DAY = 86_400

/** Local times, as if they were UTC, that begin a unit within a range; of days, months and years. */
function* unitBegins(
  first: number,
  last: number,
  unit: Exclude<AxisUnit, 'hour'>,
  count: number,
): Generator<number, void> {
  const date = new Date(first * 1000)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  for (let i = 0; ; i++) {
    const at =
      unit === 'day'
        ? (Math.floor(first / DAY) + i) * DAY
        : Date.UTC(unit === 'year' ? year + i : year, unit === 'month' ? month + i : 0, 1) / 1000
    if (at > last) return
    const begun = new Date(at * 1000)
    const place =
      unit === 'day' ? begun.getUTCDate() - 1 : unit === 'month' ? begun.getUTCMonth() : begun.getUTCFullYear()
    // Otherwise the last days of a month would be next to the first of the next one.
    if (place % count === 0 && (unit !== 'day' || count === 1 || place < 31 - count)) yield at
  }
}

/** How the marks of each unit are written. The first day of a month names it. */
const LABELS: Readonly<Record<'weekday' | AxisUnit, Intl.DateTimeFormatOptions>> = {
  hour: { hour: '2-digit', minute: '2-digit' },
  weekday: { weekday: 'short', day: 'numeric' },
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  year: { year: 'numeric' },
}

/** Marks at local borders, at most a number of them; with their offset on a day on which the clocks change, because an hour may come twice. */
export function timeTicks(
  offsets: Offsets,
  from: number,
  to: number,
  locale: string,
  most = Number.POSITIVE_INFINITY,
): TimeTick[] {
  const all = allTicks(offsets, from, to, locale)
  const every = Math.ceil(all.length / most)
  return all.filter((_, i) => i % Math.max(1, every) === 0)
}

function allTicks(offsets: Offsets, from: number, to: number, locale: string): TimeTick[] {
  const [, unit, count] = AXIS_STEPS.find(([days]) => (to - from) / DAY <= days)!
  const label = (local: number, how: keyof typeof LABELS): string =>
    new Intl.DateTimeFormat(writtenLocale(locale), { ...LABELS[how], timeZone: 'UTC' }).format(local * 1000)
  if (unit !== 'hour')
    return [...unitBegins(from + offsetAt(offsets, from), to + offsetAt(offsets, to), unit, count)]
      .map((local) => {
        const isFirst = new Date(local * 1000).getUTCDate() === 1
        return {
          at: instantAt(offsets, local),
          label: label(local, unit === 'day' && count === 1 && !isFirst ? 'weekday' : unit),
        }
      })
      .filter(({ at }) => at >= from && at <= to)
  const ticks: TimeTick[] = []
  for (let at = Math.ceil(from / 3_600) * 3_600; at <= to; at += 3_600) {
    const local = at + offsetAt(offsets, at)
    const hour = Math.floor(local / 3_600) % 24
    if (hour % count !== 0) continue
    const text = label(local, hour === 0 ? 'weekday' : 'hour')
    ticks.push({ at, label: isOddDay(offsets, at) ? `${text} ${offsetText(offsetAt(offsets, at)).slice(0, 3)}` : text })
  }
  return ticks
}
