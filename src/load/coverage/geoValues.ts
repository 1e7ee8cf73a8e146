import { DAY, type Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'

/* The values of one geo: which periods they cover, and whether they follow a step. Pure. */

/** Values of one geo in order of time. */
export interface GeoValues {
  readonly at: readonly Instant[]
  /** Seconds of every period, or of each. */
  readonly steps: number | readonly number[]
}

/** An interval without values, and the length of its periods in seconds; null if no value shows it. */
export interface Hole extends Interval {
  readonly step: number | null
}

/** Values from rows in order of time. */
export const toValues = (rows: readonly { readonly at: Instant; readonly step: number }[]): GeoValues => ({
  at: rows.map(({ at }) => at),
  steps: rows.map(({ step }) => step),
})

/** The length of each period in seconds. */
export const listSteps = ({ at, steps }: GeoValues): readonly number[] =>
  typeof steps === 'number' ? new Array<number>(at.length).fill(steps) : steps

/** Concatenates values of one geo. */
export const concat = (...parts: readonly (GeoValues | undefined)[]): GeoValues => ({
  at: parts.flatMap((values) => values?.at ?? []),
  steps: parts.flatMap((values) => (values ? listSteps(values) : [])),
})

/** Whether values fill a window, each a step after the one before. A stray row may stand for a missing one, so counting is not enough. */
const fillsWindow = ({ from, to }: Interval, { at, steps }: GeoValues): boolean =>
  typeof steps === 'number' && at.length * steps === to - from && at.every((instant, i) => instant === from + i * steps)

/** The intervals of a window that the periods of values do not cover; the whole window without values. */
export function findHoles(window: Interval, values: GeoValues | undefined): Hole[] {
  if (!values || values.at.length === 0) return [{ ...window, step: null }]
  if (fillsWindow(window, values)) return []
  const steps = listSteps(values)
  const holes: Hole[] = []
  let covered = findFirstPeriod(window.from, values)
  for (const [i, at] of values.at.entries()) {
    if (at > covered) holes.push({ from: covered, to: at, step: steps[Math.max(0, i - 1)]! })
    covered = Math.max(covered, at + steps[i]!)
  }
  if (covered < window.to) holes.push({ from: covered, to: window.to, step: steps.at(-1)! })
  return holes
}

/** Rule 18: the start of the first period in an interval, at the offset of most values. Calendar periods start at window borders. */
export function findFirstPeriod(from: Instant, values: GeoValues): Instant {
  const step = listSteps(values)[0]!
  if (step >= DAY - 3600 || (values.at[0]! - from) % step === 0) return from
  const counts = new Map<number, number>()
  for (const at of values.at) {
    const offset = (((at - from) % step) + step) % step
    counts.set(offset, (counts.get(offset) ?? 0) + 1)
  }
  const [offset, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
  return count * 2 > values.at.length ? from + offset : from
}

/** One distance in eight need not be a whole step: a stray row makes two such distances, a clock change by half an hour one. */
const ODD_ONE_IN = 8

/** Whether nearly all distances between values are whole steps. Calendar periods differ in length. */
export function isStepped(values: GeoValues): boolean {
  const steps = listSteps(values)
  const odd = values.at.filter((at, i) => {
    if (i === 0) return false
    const [distance, step] = [at - values.at[i - 1]!, steps[i - 1]!]
    return distance < step || (step < DAY - 3600 && distance % step !== 0)
  })
  return odd.length * ODD_ONE_IN <= Math.max(0, values.at.length - 1)
}

/** Rule 19: whether values follow their step, and at least half of them directly follow another one. */
export function isRegular(values: GeoValues): boolean {
  const { at } = values
  const steps = listSteps(values)
  const apart = at.filter((instant, i) => i > 0 && instant - at[i - 1]! > steps[i - 1]!).length
  return isStepped(values) && apart * 2 <= Math.max(0, at.length - 1)
}
