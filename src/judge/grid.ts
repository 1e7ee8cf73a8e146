import { modulo } from '../util/modulo.ts'
import { phaseAt } from '../util/time/dayStep.ts'
import { DAY, HOUR, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { findCalendarPeriod, isCalendarStep } from '../util/time/periods.ts'
import { addLocal, indexAt, offsetAt, transitions } from '../util/time/zone.ts'

/** Periods that follow each other: their length in seconds, and the start of one of them. Those of calendar units vary in length. */
export interface Grid {
  readonly step: number
  readonly anchor: Instant
}

/** Returns the start of the period that begins at or before an instant, and the functions to move from it, for calendar periods. */
function calendarPeriods({ step, anchor }: Grid, zone: string) {
  // Treat any other length as a whole number of days.
  const { unit, count } = findCalendarPeriod(step) ?? { unit: 'day', count: Math.max(1, Math.round(step / DAY)) }
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
  return { step, anchor: phaseAt(zone, anchor, step) - (step <= HOUR ? 0 : offsetAt(zone, 0)) }
}

/** Whether a period of a grid begins at an instant. */
export function isOnGrid(grid: Grid, zone: string, at: Instant): boolean {
  const { step, anchor } = grid
  if (!isCalendarStep(step)) return phaseAt(zone, at, step) === phaseAt(zone, anchor, step)
  const { begin, indexAt } = calendarPeriods(grid, zone)
  return begin(indexAt(at)) === at
}

/** The end of the period that begins at an instant. */
export function periodEnd(grid: Grid, zone: string, at: Instant): Instant {
  if (grid.step <= HOUR) return at + grid.step
  return periodStarts(grid, zone, { from: at + 1, to: Number.POSITIVE_INFINITY }).next().value!
}

/** Yields the starts of the periods that begin in an interval. */
export function* periodStarts(grid: Grid, zone: string, { from, to }: Interval): Generator<Instant, undefined> {
  const { step, anchor } = grid
  if (isCalendarStep(step)) {
    const { begin, indexAt } = calendarPeriods(grid, zone)
    let n = indexAt(from)
    let at = begin(n)
    if (at < from) at = begin(++n)
    for (; at < to; at = begin(++n)) yield at
    return
  }
  const phase = phaseAt(zone, anchor, step)
  const next = (at: Instant): Instant => at + modulo(phase - phaseAt(zone, at, step), step)
  if (step <= HOUR) {
    for (let at = next(from); at < to; at += step) yield at
    return
  }
  const rows = transitions(zone)
  let begins = from
  for (let i = indexAt(rows, from); begins < to; i++) {
    const ends = Math.min(to, rows[i + 1]?.at ?? Number.POSITIVE_INFINITY)
    // Local times that clocks repeat have begun a period already.
    const repeated = Math.max(0, (rows[i - 1] ?? rows[i]!).offset - rows[i]!.offset)
    for (let at = next(Math.max(begins, rows[i]!.at + repeated)); at < ends; at += step) yield at
    begins = ends
  }
}

/** The number of periods that begin in an interval, which starts with one. */
export function countPeriods(grid: Grid, zone: string, interval: Interval): number {
  if (grid.step <= HOUR) return Math.ceil((interval.to - interval.from) / grid.step)
  let count = 0
  for (const _ of periodStarts(grid, zone, interval)) count++
  return count
}
