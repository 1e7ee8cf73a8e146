import type { DayTotals } from '../db/tables/rows.ts'
import { evenStep, findDayStep } from '../util/time/dayStep.ts'
import type { Instant } from '../util/time/instant.ts'
import type { LocalDay } from '../util/time/localDay.ts'

/* The totals of a local day: a pure function of its values. */

/** Values side by side with their instants and the length of their periods. */
export interface DayValues {
  readonly at: readonly number[]
  readonly values: readonly (number | null)[]
  /** Seconds of every period, or of each where they differ. */
  readonly steps: number | readonly number[]
}

/** Value times hours, added up. */
function sumEnergy({ values }: DayValues, steps: readonly number[], first: number, end: number): number {
  let sum = 0
  let compensation = 0
  for (let i = first; i < end; i++) {
    const value = (values[i] ?? 0) * steps[i]!
    const added = sum + value
    compensation += roundingError(sum, value, added)
    sum = added
  }
  return applyCompensation(sum, compensation) / 3600
}

/** The rounding error of one addition. Sums are compensated as SQLite does it (Neumaier's variant of Kahan and Babuška), so that both agree. */
const roundingError = (sum: number, value: number, added: number): number =>
  Math.abs(sum) > Math.abs(value) ? sum - added + value : value - added + sum
const applyCompensation = (sum: number, compensation: number): number =>
  Number.isFinite(compensation) ? sum + compensation : sum

/** Lengths of periods in seconds: the total of those with a value, whether they are all equal, and the shortest of all. */
function periodLengths({ values, steps }: DayValues, first: number, end: number, count: number) {
  if (typeof steps === 'number') return { seconds: count * steps, isEven: true, shortest: steps }
  let seconds = 0
  let shortest = Number.POSITIVE_INFINITY
  let longest = 0
  for (let i = first; i < end; i++) {
    const step = steps[i]!
    if (step < shortest) shortest = step
    if (values[i] === null) continue
    if (step > longest) longest = step
    seconds += step
  }
  return { seconds, isEven: seconds === count * longest, shortest }
}

/** The totals of a local day, whose values are those with index `first` up to (not including) `end`, in order of time. */
export function sumTotals(timeline: DayValues, first: number, end: number, day: LocalDay, zone: string): DayTotals {
  const { at, values, steps } = timeline
  let count = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let firstAt = 0
  let lastAt = 0
  let sum = 0
  let compensation = 0
  /** The distance of the first two values, if all others have it. */
  let distance: number | null = null
  let isEvenlySpaced = true
  for (let i = first; i < end; i++) {
    const value = values[i]!
    if (value === null) continue
    if (count++ === 0) firstAt = at[i]!
    else {
      distance ??= at[i]! - lastAt
      if (at[i]! - lastAt !== distance) isEvenlySpaced = false
    }
    lastAt = at[i]!
    if (value < min) min = value
    if (value > max) max = value
    const added = sum + value
    compensation += roundingError(sum, value, added)
    sum = added
  }
  const { seconds, isEven, shortest } = periodLengths(timeline, first, end, count)
  const missing = shortest < day.seconds ? Math.max(0, Math.round((day.seconds - seconds) / shortest)) : 0
  if (count === 0) return { ...NO_TOTALS, missing }
  const even = isEvenlySpaced && distance !== null ? evenStep(zone, day, firstAt, count, distance) : null
  return {
    count,
    hours: seconds / 3600,
    min,
    max,
    missing,
    sum: applyCompensation(sum, compensation),
    energy: isEven || typeof steps === 'number' ? null : sumEnergy(timeline, steps, first, end),
    firstS: firstAt - day.from,
    lastS: day.to - lastAt,
    ...(even ?? findDayStep(zone, day, listInstants(timeline, first, end))),
  }
}

/** The totals of a day that has only NULLs. */
const NO_TOTALS: DayTotals = {
  count: 0,
  hours: null,
  min: null,
  max: null,
  sum: null,
  energy: null,
  firstS: null,
  lastS: null,
  missing: 0,
  step: null,
  offset: null,
  strays: null,
}

/** The instants of a day with a value. */
function listInstants({ at, values }: DayValues, first: number, end: number): Instant[] {
  const instants: Instant[] = []
  for (let i = first; i < end; i++) if (values[i] !== null) instants.push(at[i]!)
  return instants
}
