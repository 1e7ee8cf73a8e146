/* Which periods of a timeline are missing (M3), by a simple reading of the rules for series with one fixed step. */
import { HOUR, unitsOf } from './calendar.ts'
import { type SeriesTruth, storedValues } from './oracle.ts'
import type { Interval } from './units.ts'

/** The periods of a timeline between its first and last value. */
export interface Periods {
  readonly step: number
  /** Whether seven days in a row have seven eighths of their values (C1, C2). */
  readonly isRegular: boolean
  /** The starts of the periods without a value. */
  readonly missing: readonly number[]
}

/** Returns the periods of a geo; null if its values have several steps, or none that is fixed and at most an hour. */
export function periodsOf(truth: SeriesTruth, geo: number): Periods | null {
  const stored = storedValues(truth, geo)
  const step = stored[0]?.version.step
  if (!step || step > HOUR || stored.some(({ version }) => version.step !== step)) return null
  const instants = new Set(stored.map(({ at }) => at))
  const first = Math.min(...instants)
  const last = Math.max(...instants)
  const hasMostValues = (day: Interval): boolean => {
    const present = startsBetween(day, step).filter((at) => instants.has(at))
    return present.length * step * 8 >= (day.to - day.from) * 7
  }
  return {
    step,
    isRegular: longestStreak(unitsOf(first, last + 1, 'day'), hasMostValues) >= 7,
    missing: startsBetween({ from: first, to: last }, step).filter((at) => !instants.has(at)),
  }
}

/** Returns the instants of an interval at which periods of a step begin, counted from its start. */
function startsBetween({ from, to }: Interval, step: number): number[] {
  const starts: number[] = []
  for (let at = from; at < to; at += step) starts.push(at)
  return starts
}

/** Returns the most consecutive days with a property. */
export function longestStreak(days: readonly Interval[], has: (day: Interval) => boolean): number {
  let streak = 0
  let longest = 0
  for (const day of days) {
    streak = has(day) ? streak + 1 : 0
    longest = Math.max(longest, streak)
  }
  return longest
}
