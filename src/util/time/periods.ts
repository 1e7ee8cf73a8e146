import { DAY, HOUR, type Instant } from './instant.ts'
import { addUnits, floorTo, type Unit } from './zone.ts'

/** Seconds. Shorter periods do not depend on the calendar; longer ones follow it, so that a clock change makes them longer or shorter. */
export const LONGEST_FIXED = 20 * HOUR

/** Whether a step in seconds is that of days, months or years, which vary in length. */
export const isCalendarStep = (step: number): boolean => step > LONGEST_FIXED

/** The periods of a series, one after the other: where the one that holds an instant begins, and where the next one begins. */
export interface Periods {
  /** Whether they are days, weeks, months, quarters or years of the local calendar. */
  readonly isCalendar: boolean
  readonly floor: (at: Instant) => Instant
  /** Where the next period begins; the instant itself where one begins there. */
  readonly ceil: (at: Instant) => Instant
}

/** A stored period: when it begins, and how long it is in seconds. */
export interface Period {
  readonly at: Instant
  readonly step: number
}

interface PeriodKind {
  readonly unit: Unit
  readonly count: number
  /** The fewest and the most days of such a period. */
  readonly days: readonly [number, number]
}

const PERIOD_KINDS: readonly PeriodKind[] = [
  { unit: 'day', count: 1, days: [1, 1] },
  { unit: 'day', count: 7, days: [7, 7] },
  { unit: 'month', count: 1, days: [28, 31] },
  { unit: 'month', count: 3, days: [90, 92] },
  { unit: 'year', count: 1, days: [365, 366] },
]

/** Whether a step is so long that a local day may begin inside a period. */
export const isLong = (step: number): boolean => step > HOUR

/** The kind of calendar period that has this length; undefined for a fixed length. */
const periodKind = (step: number): PeriodKind | undefined =>
  PERIOD_KINDS.find(({ days: [least, most] }) => step >= least * DAY - HOUR && step <= most * DAY + HOUR)

/** Whether two steps are lengths of the same kind of period: two months may differ in length. */
export const isSameStep = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && periodKind(a) !== undefined && periodKind(a) === periodKind(b))

/** The periods of a series, from one that is known; undefined where they are so short that one begins with every local day. */
export function findPeriods(zone: string, { at, step }: Period): Periods | undefined {
  if (!isLong(step)) return undefined
  const kind = periodKind(step)
  const isCalendar = kind !== undefined && floorTo(zone, at, kind.unit) === at
  // The nth period after the known one.
  const begin = (n: number): Instant => (isCalendar ? addUnits(zone, at, kind.unit, n * kind.count) : at + n * step)
  const place = (instant: Instant): number => {
    let n = Math.floor((instant - at) / step)
    while (begin(n) > instant) n--
    while (begin(n + 1) <= instant) n++
    return n
  }
  return {
    isCalendar,
    floor: (instant) => begin(place(instant)),
    ceil: (instant) => {
      const n = place(instant)
      const floor = begin(n)
      return floor === instant ? floor : begin(n + 1)
    },
  }
}
