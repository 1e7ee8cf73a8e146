import type { Interval } from '../../../base/time/interval.ts'
import type { Extremes, ValueAt } from '../../../db/engine.ts'
import type { BandRun, ValueRun } from '../../client/runs.ts'

/** Periods without a value that a run bridges: telling them costs less than to begin another one. */
const BRIDGED = 12

/** Values as runs. */
export function runsOf(values: readonly ValueAt[]): ValueRun[] {
  const runs: ValueRun[] = []
  for (const { at, value, step } of values) {
    const last = runs.at(-1)
    const missing = last ? (at - last.from) / last.step - last.values.length : 0
    if (last?.step === step && Number.isInteger(missing) && missing >= 0 && missing <= BRIDGED) {
      for (let i = 0; i < missing; i++) last.values.push(null)
      last.values.push(value)
    } else runs.push({ from: at, step, values: [value] })
  }
  return runs
}

/** Digits of a mean: enough for every picture. */
const rounded = (mean: number | null): number | null => (mean === null ? null : Number(mean.toPrecision(6)))

/** Intervals with what they hold as runs; those that hold nothing at the ends are left out. */
export function bandsOf(intervals: readonly (readonly [Interval, Extremes])[]): BandRun[] {
  const runs: BandRun[] = []
  for (const [{ from, to }, { count, min, max, mean }] of intervals) {
    const last = runs.at(-1)
    const follows = last?.step === to - from && last.from + last.min.length * last.step === from
    if (count === 0 && !follows) continue
    const run = follows ? last : { from, step: to - from, min: [], max: [], mean: [] }
    run.min.push(min)
    run.max.push(max)
    run.mean.push(rounded(mean))
    if (!follows) runs.push(run)
  }
  return runs
}
