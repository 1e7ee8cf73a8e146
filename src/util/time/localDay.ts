import { memoize } from '../memoize.ts'
import { DAY, daysFromCivil, type Instant } from './instant.ts'
import type { Interval } from './interval.ts'
import { indexAt, transitions } from './zone.ts'

/** A local day, in days since 1970. */
export type DayNumber = number

/** An interval of one local day with one offset. A day with a clock change has several. */
export interface DayInterval extends Interval {
  readonly day: DayNumber
}

/** The interval that contains an instant. */
export function dayIntervalAt(zone: string, at: Instant): DayInterval {
  const rows = transitions(zone)
  const i = indexAt(rows, at)
  const { at: changed, offset } = rows[i]!
  const day = Math.floor((at + offset) / DAY)
  const begins = day * DAY - offset
  return {
    day,
    from: i === 0 ? begins : Math.max(changed, begins),
    to: Math.min(begins + DAY, rows[i + 1]?.at ?? Number.POSITIVE_INFINITY),
  }
}

/** A date: its month, counted from January of the year 0, and the day of the month, from 1. */
export interface Civil {
  readonly month: number
  readonly dayOfMonth: number
}

/** Seconds of the longest local day, on which clocks go back by an hour. */
export const LONGEST_DAY_S = 25 * 3600

/** A whole local day. `seconds`: its length, usually 23 to 25 hours. */
export interface LocalDay extends DayInterval, Civil {
  readonly seconds: number
}

/** Returns a whole local day of a zone. */
export function localDay(zone: string, day: DayNumber): LocalDay {
  const rows = transitions(zone)
  // No offset is longer than a day.
  const first = indexAt(rows, (day - 1) * DAY)
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  let seconds = 0
  for (let i = first; i < rows.length && (i === first || rows[i]!.at < (day + 2) * DAY); i++) {
    const begins = day * DAY - rows[i]!.offset
    const start = i === 0 ? begins : Math.max(rows[i]!.at, begins)
    const end = Math.min(begins + DAY, rows[i + 1]?.at ?? Number.POSITIVE_INFINITY)
    if (start >= end) continue
    from = Math.min(from, start)
    to = Math.max(to, end)
    seconds += end - start
  }
  return { day, from, to, seconds, ...toCivil(day) }
}

/** The number of a day of a month. */
export const dayNumber = ({ month, dayOfMonth }: Civil): DayNumber => daysFromCivil(0, month + 1, dayOfMonth)

/** The month of a day and the day of the month. */
export function toCivil(day: DayNumber): Civil {
  const date = new Date(day * DAY * 1000)
  return { month: date.getUTCFullYear() * 12 + date.getUTCMonth(), dayOfMonth: date.getUTCDate() }
}

/** The intervals and days of a zone, each computed once. */
export function createCalendar(zone: string): {
  readonly dayIntervalAt: (at: Instant) => DayInterval
  readonly dayAt: (at: Instant) => LocalDay
} {
  const intervalAt = memoize((at: Instant) => dayIntervalAt(zone, at))
  const day = memoize((number: DayNumber) => localDay(zone, number))
  return { dayIntervalAt: intervalAt, dayAt: (at) => day(intervalAt(at).day) }
}
