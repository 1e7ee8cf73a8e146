import { DAY, HOUR, type Instant } from './instant.ts'
import { addUnits, floorTo } from './zone.ts'

/** Seconds. Longer periods follow the calendar, so that a clock change makes them longer or shorter. */
export const LONGEST_FIXED_S = 20 * HOUR

/** Whether a step in seconds is one of days, months or years, which vary in length. */
export const isCalendarStep = (step: number): boolean => step > LONGEST_FIXED_S

/** The consecutive periods of a series. */
export interface Periods {
  /** Whether they follow the local calendar. */
  readonly isCalendar: boolean
  /** The start of the period that contains an instant. */
  readonly floor: (at: Instant) => Instant
  /** The first start of a period at or after an instant. */
  readonly ceil: (at: Instant) => Instant
}

/** A stored period: its start, and its length in seconds. */
export interface Period {
  readonly at: Instant
  readonly step: number
}

/** A period of the local calendar. */
export interface CalendarPeriod {
  readonly unit: 'day' | 'month' | 'year'
  readonly count: number
  /** The number of days in the shortest and the longest. */
  readonly days: readonly [number, number]
}

const CALENDAR_PERIODS: readonly CalendarPeriod[] = [
  { unit: 'day', count: 1, days: [1, 1] },
  { unit: 'day', count: 7, days: [7, 7] },
  { unit: 'month', count: 1, days: [28, 31] },
  { unit: 'month', count: 3, days: [90, 92] },
  { unit: 'year', count: 1, days: [365, 366] },
]

/** Whether a local day may start inside a period of this length. */
const isLong = (step: number): boolean => step > HOUR

/** The period of the calendar that has this length in seconds; undefined for any other length. */
export const findCalendarPeriod = (step: number): CalendarPeriod | undefined =>
  CALENDAR_PERIODS.find(({ days: [least, most] }) => step >= least * DAY - HOUR && step <= most * DAY + HOUR)

/** Whether two steps have the same kind of period: months differ in length. */
export const isSameStep = (a: number | null, b: number | null): boolean =>
  a === b ||
  (a !== null && b !== null && findCalendarPeriod(a) !== undefined && findCalendarPeriod(a) === findCalendarPeriod(b))

/** The periods of a series, from one of them; undefined if a period starts with every local day. */
export function findPeriods(zone: string, { at, step }: Period): Periods | undefined {
  if (!isLong(step)) return undefined
  const kind = findCalendarPeriod(step)
  const isCalendar = kind !== undefined && floorTo(zone, at, kind.unit) === at
  const begin = (n: number): Instant => (isCalendar ? addUnits(zone, at, kind.unit, n * kind.count) : at + n * step)
  /** How many periods after the first one an instant is. */
  const indexAt = (instant: Instant): number => {
    let n = Math.floor((instant - at) / step)
    while (begin(n) > instant) n--
    while (begin(n + 1) <= instant) n++
    return n
  }
  return {
    isCalendar,
    floor: (instant) => begin(indexAt(instant)),
    ceil: (instant) => {
      const n = indexAt(instant)
      const floor = begin(n)
      return floor === instant ? floor : begin(n + 1)
    },
  }
}
