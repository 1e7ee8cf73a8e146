import type { MissingReason } from '../db/tables/series.ts'
import { HOUR, type Instant } from '../util/time/instant.ts'
import { type Interval, intersect } from '../util/time/interval.ts'
import { addUnits, ceilTo } from '../util/time/zone.ts'
import type { Stretch } from './cadence.ts'
import { type Grid, periodEnd, periodStarts } from './grid.ts'
import type { Extent } from './stored.ts'

/* Which periods of a timeline are missing: a pure function of its values, its cadence and what is covered. */

/** Periods without a value that follow each other. */
export interface MissingPeriods extends Interval {
  readonly reason: MissingReason
  /** Seconds of a period, and the number of periods; null if some value a day is expected (C3). */
  readonly step: number | null
  readonly periods: number | null
}

/** The stored values of a timeline in an interval. */
export interface TimelineValues {
  /** The instants with values other than null, in order, and those of dismissed rejects, which stand for values. */
  readonly present: readonly Instant[]
  /** The instants of rows without value, in order. */
  readonly nulls: readonly Instant[]
  /** Whether the service took a value back. */
  readonly isWithdrawn?: (at: Instant) => boolean
}

/**
 * Finds the missing periods that begin in covered intervals, between the first and the last value. Nothing is missing before and after
 * them (C6, C7). `values` are all stored ones of these intervals.
 */
export function findMissing(
  stretches: readonly Stretch[],
  zone: string,
  covered: readonly Interval[],
  values: TimelineValues,
  { first, last }: Pick<Extent, 'first' | 'last'>,
): MissingPeriods[] {
  return stretches.flatMap((stretch, i) => {
    const part = { from: Math.max(stretch.from, first), to: Math.min(stretches[i + 1]?.from ?? last, last) }
    const intervals = intersect(covered, [part])
    if (stretch.grid) return intervals.flatMap((interval) => findMissingPeriods(stretch.grid!, zone, interval, values))
    if (stretch.kind === 'daily') return intervals.flatMap((interval) => findMissingDays(zone, interval, values))
    return []
  })
}

/** Whether values fill an interval, each a step after the one before. */
function fills(present: readonly Instant[], begin: number, { step }: Grid, first: Instant, to: Instant): boolean {
  const count = Math.ceil((to - first) / step)
  if (present[begin] !== first || present[begin + count - 1] !== first + (count - 1) * step) return false
  for (let i = begin + 1; i < begin + count; i++) if (present[i]! - present[i - 1]! !== step) return false
  return true
}

/** The index of the first instant at or after another. */
export function lowerBound(instants: readonly Instant[], at: Instant): number {
  let low = 0
  let high = instants.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (instants[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

function findMissingPeriods(
  grid: Grid,
  zone: string,
  interval: Interval,
  { present, nulls, isWithdrawn = () => false }: TimelineValues,
): MissingPeriods[] {
  const starts = periodStarts(grid, zone, interval)
  const { value: first } = starts.next()
  if (first === undefined) return []
  let next = lowerBound(present, first)
  if (grid.step <= HOUR && fills(present, next, grid, first, interval.to)) return []
  let nextNull = lowerBound(nulls, first)
  const ranges: { from: Instant; to: Instant; reason: MissingReason; step: number; periods: number }[] = []
  const visit = (at: Instant): void => {
    while (next < present.length && present[next]! < at) next++
    if (present[next] === at) return
    while (nextNull < nulls.length && nulls[nextNull]! < at) nextNull++
    const withoutRow = isWithdrawn(at) ? 'withdrawn' : 'absent'
    const reason = nulls[nextNull] === at ? 'null' : withoutRow
    const last = ranges.at(-1)
    const to = periodEnd(grid, zone, at)
    if (last && last.to === at && last.reason === reason) {
      last.to = to
      last.periods++
    } else ranges.push({ from: at, to, reason, step: grid.step, periods: 1 })
  }
  visit(first)
  for (const at of starts) visit(at)
  return ranges
}

/** C3: the whole local days without any value. */
function findMissingDays(zone: string, interval: Interval, { present }: TimelineValues): MissingPeriods[] {
  const ranges: { from: Instant; to: Instant }[] = []
  let from = ceilTo(zone, interval.from, 'day')
  for (let to = addUnits(zone, from, 'day', 1); to <= interval.to; from = to, to = addUnits(zone, from, 'day', 1)) {
    const next = present[lowerBound(present, from)]
    if (next !== undefined && next < to) continue
    const last = ranges.at(-1)
    if (last && last.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return ranges.map((range) => ({ ...range, reason: 'absent', step: null, periods: null }))
}
