import { modulo } from '../util/modulo.ts'
import { DAY, HOUR, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { isCalendarStep } from '../util/time/periods.ts'
import { addLocal, indexAt, offsetAt, transitions } from '../util/time/zone.ts'

/** Periods that follow each other: their length in seconds, and the start of one of them. Those of calendar units vary in length. */
export interface Grid {
  readonly step: number
  readonly anchor: Instant
}

/** Units of the local calendar, with the number of days in the shortest and the longest. */
const CALENDAR_STEPS = [
  { unit: 'day', count: 1, days: [1, 1] },
  { unit: 'day', count: 7, days: [7, 7] },
  { unit: 'month', count: 1, days: [28, 31] },
  { unit: 'month', count: 3, days: [90, 92] },
  { unit: 'year', count: 1, days: [365, 366] },
] as const

/** The calendar unit of a step of a day or longer; days for a length that is no unit. */
function calendarUnit(step: number): { readonly unit: 'day' | 'month' | 'year'; readonly count: number } {
  const unit = CALENDAR_STEPS.find(({ days: [least, most] }) => step >= least * DAY - HOUR && step <= most * DAY + HOUR)
  return unit ?? { unit: 'day', count: Math.max(1, Math.round(step / DAY)) }
}

/** Returns the start of the period that begins at or before an instant, and the functions to move from it, for calendar periods. */
function calendarPeriods({ step, anchor }: Grid, zone: string) {
  const { unit, count } = calendarUnit(step)
  const begin = (n: number): Instant => addLocal(zone, anchor, unit, n * count)
  return {
    begin,
    /** How many periods after the anchor the period of an instant begins. */
    indexAt(at: Instant): number {
      let n = Math.floor((at - anchor) / step)
      while (begin(n) > at) n--
      while (begin(n + 1) <= at) n++
      return n
    },
  }
}

/** The same periods with the anchor next to 1970, so that equal grids have equal anchors, whatever value showed them. */
export function normalizeGrid(grid: Grid, zone: string): Grid {
  const { step, anchor } = grid
  if (isCalendarStep(step)) {
    const { begin, indexAt } = calendarPeriods(grid, zone)
    return { step, anchor: begin(indexAt(0)) }
  }
  return { step, anchor: modulo(anchor + offsetAt(zone, anchor), step) - offsetAt(zone, 0) }
}

/** Whether a period of a grid begins at an instant. */
export function isOnGrid(grid: Grid, zone: string, at: Instant): boolean {
  const { step, anchor } = grid
  if (isCalendarStep(step)) {
    const { begin, indexAt } = calendarPeriods(grid, zone)
    return begin(indexAt(at)) === at
  }
  return modulo(at + offsetAt(zone, at) - anchor - offsetAt(zone, anchor), step) === 0
}

/** The end of the period that begins at an instant. */
export function periodEnd(grid: Grid, zone: string, at: Instant): Instant {
  if (!isCalendarStep(grid.step)) return at + grid.step
  const { begin, indexAt } = calendarPeriods(grid, zone)
  return begin(indexAt(at) + 1)
}

/** Yields the starts of the periods that begin in an interval. Periods shorter than a day begin at the same local times every day. */
export function* periodStarts(grid: Grid, zone: string, { from, to }: Interval): Generator<Instant> {
  const { step, anchor } = grid
  if (isCalendarStep(step)) {
    const { begin, indexAt } = calendarPeriods(grid, zone)
    for (let n = indexAt(from); begin(n) < to; n++) if (begin(n) >= from) yield begin(n)
    return
  }
  const clock = anchor + offsetAt(zone, anchor)
  const rows = transitions(zone)
  let begins = from
  for (let i = indexAt(rows, from); begins < to; i++) {
    const ends = Math.min(to, rows[i + 1]?.at ?? Number.POSITIVE_INFINITY)
    for (let at = begins + modulo(clock - begins - rows[i]!.offset, step); at < ends; at += step) yield at
    begins = ends
  }
}
