import type { Extremes, ValueAt } from '../../../db/engine.ts'
import type { Interval } from '../../../util/time/interval.ts'
import type { BandSegment, ValueSegment } from '../../client/segments.ts'

/** Periods without a value that a segment may contain: sending them as null is shorter than beginning another segment. */
const BRIDGED = 12

/** Values as segments of periods of equal length. */
export function segmentsOf(values: readonly ValueAt[]): ValueSegment[] {
  const segments: ValueSegment[] = []
  for (const { at, value, step } of values) {
    const last = segments.at(-1)
    const missing = last ? (at - last.from) / last.step - last.values.length : 0
    if (last?.step === step && Number.isInteger(missing) && missing >= 0 && missing <= BRIDGED) {
      for (let i = 0; i < missing; i++) last.values.push(null)
      last.values.push(value)
    } else segments.push({ from: at, step, values: [value] })
  }
  return segments
}

/** A mean with as many digits as any picture can show. */
const sixDigits = (mean: number | null): number | null => (mean === null ? null : Number(mean.toPrecision(6)))

/** Intervals with their extremes and mean as segments; empty ones at both ends are left out. */
export function bandsOf(intervals: readonly (readonly [Interval, Extremes])[]): BandSegment[] {
  const segments: BandSegment[] = []
  for (const [{ from, to }, { count, min, max, mean }] of intervals) {
    const last = segments.at(-1)
    const follows = last?.step === to - from && last.from + last.min.length * last.step === from
    if (count === 0 && !follows) continue
    const segment = follows ? last : { from, step: to - from, min: [], max: [], mean: [] }
    segment.min.push(min)
    segment.max.push(max)
    segment.mean.push(sixDigits(mean))
    if (!follows) segments.push(segment)
  }
  return segments
}
