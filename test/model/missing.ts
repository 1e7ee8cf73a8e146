/* Which periods of a timeline are missing, by a simple reading of the rules for series with one fixed step. */
import { border, DAY, HOUR, SERVICE_ZONE, unitsOf } from './calendar.ts'
import type { SeriesTruth } from './oracle.ts'

/** The periods of a timeline between its first and last value. */
export interface Periods {
  readonly step: number
  /** Whether seven days in a row have seven eighths of their values. */
  readonly isRegular: boolean
  /** The starts of the periods without a value. */
  readonly missing: readonly number[]
}

/** Returns the periods of a geo; null if its values have several steps, or none that is fixed and at most an hour. */
export function periodsOf({ values }: SeriesTruth, geo: number): Periods | null {
  const current = [...(values.get(geo) ?? [])].flatMap(([at, versions]) => {
    const last = versions.at(-1)
    return last && last.to === null ? [{ at, step: last.step }] : []
  })
  const [first] = current
  const step = first?.step
  if (!step || step > HOUR || current.some((value) => value.step !== step)) return null
  const instants = new Set(current.map(({ at }) => at))
  const [from, last] = [Math.min(...instants), Math.max(...instants)]
  let [run, longest] = [0, 0]
  for (const day of unitsOf(from, last + 1, 'day')) {
    let count = 0
    for (let at = day.from; at < day.to; at += step) if (instants.has(at)) count++
    run = count * step * 8 >= (day.to - day.from) * 7 ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  const missing: number[] = []
  for (let at = from; at < last; at += step) if (!instants.has(at)) missing.push(at)
  return { step, isRegular: longest >= 7, missing }
}

/** Returns the local day of an instant. */
export const dayOf = (at: number): { from: number; to: number } => ({
  from: border(SERVICE_ZONE, at, 'day'),
  to: border(SERVICE_ZONE, at, 'day', 1),
})

/** Whether a step is a day or longer. */
export const isLong = (step: number | null): boolean => step !== null && step > DAY - 4 * HOUR
