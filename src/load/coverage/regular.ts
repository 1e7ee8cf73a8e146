import { DAY, type Instant } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { type GeoRange, geoRanges, type ObservationKey, type Observations } from '../../tables/rows.ts'

/** Instants of one geo in order, and how long the period of each is. */
export interface Grid {
  readonly at: readonly Instant[]
  readonly steps: readonly number[]
}

/** An interval without values, and the length of its periods in seconds; null where no value shows it. */
export interface MissingInterval extends Interval {
  readonly step: number | null
}

/** Where the values of each geo are in an answer, by geo. */
export const rangesByGeo = (rows: Observations): ReadonlyMap<number, GeoRange> =>
  new Map(geoRanges(rows).map((range) => [range.geoId, range]))

/** The rows with some observations added, for geos that have rows; their values do not matter here and are null. */
export function withObservations(rows: Observations, keys: readonly ObservationKey[]): Observations {
  if (keys.length === 0) return rows
  const { geoIds, at, steps } = rows
  const stepOf = (i: number): number => (typeof steps === 'number' ? steps : steps[i]!)
  const all = geoIds.map((geoId, i) => ({ geoId, at: at[i]!, step: stepOf(i) }))
  const there = new Set(all.map((row) => `${row.geoId} ${row.at}`))
  const missing = keys.flatMap((key) => {
    const near = all.findLast((row) => row.geoId === key.geoId && row.at <= key.at)
    const one = near ?? all.find(({ geoId }) => geoId === key.geoId)
    return one && !there.has(`${key.geoId} ${key.at}`) ? [{ ...key, step: one.step }] : []
  })
  if (missing.length === 0) return rows
  const sorted = [...all, ...missing].sort((a, b) => a.geoId - b.geoId || a.at - b.at)
  return {
    geoIds: sorted.map(({ geoId }) => geoId),
    at: sorted.map((row) => row.at),
    values: sorted.map(() => null),
    steps: typeof steps === 'number' ? steps : sorted.map(({ step }) => step),
  }
}

/**
 * Whether values fill a window, each a step after the one before: quick, and enough for most answers. Their number alone does
 * not show it, because a stray row may take the place of a missing one.
 */
export function fills({ from, to }: Interval, { at, steps }: Observations, { first, end }: GeoRange): boolean {
  if (typeof steps !== 'number' || (end - first) * steps !== to - from) return false
  for (let i = first; i < end; i++) if (at[i] !== from + (i - first) * steps) return false
  return true
}

/** The values of one geo in an answer. */
export const gridOf = ({ at, steps }: Observations, { first, end }: GeoRange): Grid => ({
  at: at.slice(first, end),
  steps: typeof steps === 'number' ? new Array(end - first).fill(steps) : steps.slice(first, end),
})

/**
 * When the first period of a grid begins in a window: most values tell where in a step periods begin, and what lies before that is
 * the end of a period of the window before. Calendar periods begin at the borders of windows.
 */
function firstDue(from: Instant, { at, steps }: Grid): Instant {
  const step = steps[0]!
  if (step >= DAY - 3600 || (at[0]! - from) % step === 0) return from
  const counts = new Map<number, number>()
  for (const one of at) counts.set((one - from) % step, (counts.get((one - from) % step) ?? 0) + 1)
  const [offset, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
  return count * 2 > at.length ? from + offset : from
}

/** The intervals of a window that the periods of a grid do not cover; the whole window without a grid. */
export function holesOf(window: Interval, grid: Grid | undefined): MissingInterval[] {
  if (!grid || grid.at.length === 0) return [{ ...window, step: null }]
  const { at, steps } = grid
  const holes: MissingInterval[] = []
  let reached = firstDue(window.from, grid)
  for (let i = 0; i < at.length; i++) {
    if (at[i]! > reached) holes.push({ from: reached, to: at[i]!, step: steps[Math.max(0, i - 1)]! })
    reached = Math.max(reached, at[i]! + steps[i]!)
  }
  if (reached < window.to) holes.push({ from: reached, to: window.to, step: steps.at(-1)! })
  return holes
}

/** Whether a value is a whole number of steps after the one before. Calendar periods (days and longer) differ in length, so their distances are not multiples of a step. */
const isOnStep = ({ at, steps }: Grid, i: number): boolean => {
  const [distance, step] = [at[i]! - at[i - 1]!, steps[i - 1]!]
  return distance >= step && (step >= DAY - 3600 || distance % step === 0)
}

/** One distance in this many need not be a whole step: a stray row makes two that are none, a clock change by half an hour makes one. */
const ODD_ONE_IN = 8

/** How many distances between values are not whole steps. */
const oddOnes = (grid: Grid): number => grid.at.filter((_, i) => i > 0 && !isOnStep(grid, i)).length

/** Whether the distances between values are whole steps, but for a few; those of events are not. */
export const isStepped = (grid: Grid): boolean => oddOnes(grid) * ODD_ONE_IN <= Math.max(0, grid.at.length - 1)

/** Whether values follow their step: at least half of them come directly after the one before. */
export function isRegular(grid: Grid): boolean {
  const { at, steps } = grid
  const apart = at.filter((one, i) => i > 0 && one - at[i - 1]! > steps[i - 1]!).length
  return isStepped(grid) && apart * 2 <= Math.max(0, at.length - 1)
}

/** Average lengths in seconds of periods whose length depends on the calendar. */
const CALENDAR_LENGTHS_S = [365.2425 * DAY, 30.436875 * DAY, DAY]

/** How many periods of a step an interval has; null where the step is not known. */
export function countPeriods({ from, to }: Interval, step: number | null): number | null {
  if (step === null) return null
  const unit = CALENDAR_LENGTHS_S.find((length) => Math.abs(step - length) <= length / 20) ?? step
  return Math.max(1, Math.round((to - from) / unit))
}
