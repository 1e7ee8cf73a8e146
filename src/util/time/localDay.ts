import { DAY, daysFromCivil, type Instant } from './instant.ts'
import type { Interval } from './interval.ts'
import { indexAt, transitions } from './zone.ts'

/** A local day, counted in days since 1970. */
export type DayNumber = number

/** An interval in which the clocks of a zone show one day with one offset. A day with a clock change has several. */
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

/** Seconds of the longest local day: that on which the clocks go back by an hour. */
export const LONGEST_DAY_S = 25 * 3600

/** A day of a zone from its first instant to its last. `seconds`: how long it lasts by the clocks, usually 23 to 25 hours. */
export interface LocalDay extends DayInterval, Civil {
  readonly seconds: number
}

/** A day that the clocks of a zone show, as a whole. */
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
export const dayNumber = ({ month, dayOfMonth }: Civil): DayNumber =>
  daysFromCivil(Math.floor(month / 12), month - 12 * Math.floor(month / 12) + 1, dayOfMonth)

/**
 * The month of a day and its place in it.
 * Algorithm: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
 */
export function toCivil(day: DayNumber): Civil {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  return {
    month: (yearOfEra + era * 400) * 12 + fromMarch + 2,
    dayOfMonth: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  }
}

/** The intervals and days of a zone, each computed once. */
export function createCalendar(zone: string): {
  readonly dayIntervalAt: (at: Instant) => DayInterval
  readonly dayAt: (at: Instant) => LocalDay
} {
  const intervals = new Map<number, DayInterval>()
  const days = new Map<DayNumber, LocalDay>()
  const interval = (at: Instant): DayInterval => {
    let known = intervals.get(at)
    if (!known) {
      known = dayIntervalAt(zone, at)
      intervals.set(at, known)
    }
    return known
  }
  return {
    dayIntervalAt: interval,
    dayAt(at) {
      const { day } = interval(at)
      let known = days.get(day)
      if (!known) {
        known = localDay(zone, day)
        days.set(day, known)
      }
      return known
    },
  }
}
