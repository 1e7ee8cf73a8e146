import type { Blocks } from '../db/engine.ts'
import type { Instant } from '../util/time/instant.ts'
import { addUnits, floorTo } from '../util/time/zone.ts'

/** The periods that values can be aggregated to: hours, local days and local months. */
export const RESAMPLE_UNITS = ['hour', 'day', 'month'] as const

/** How values are aggregated to periods. */
export interface Resampling {
  readonly unit: (typeof RESAMPLE_UNITS)[number]
  /** Whether incomplete periods have a value, too. */
  readonly partial: boolean
}

/** A period with its length in seconds, and whether values fill it. */
export type ResampledPeriod = readonly [at: Instant, value: number | null, step: number, isComplete: 0 | 1]

const emptyPeriod = (from: Instant, to: Instant) => ({ from, to, first: to, sum: 0, weighted: 0, seconds: 0 })

/**
 * Aggregates values, in the order of their instants, to periods: to their sum if `isSummed`, else to their time-weighted average. A
 * value belongs to the period in which it starts. A longer value is left out: hours of a daily series have no value.
 */
export async function* resample(
  values: Blocks<readonly [at: Instant, value: number | null, step: number]>,
  { zone, isSummed }: { readonly zone: string; readonly isSummed: 0 | 1 | boolean },
  { unit, partial }: Resampling,
): Blocks<ResampledPeriod> {
  const open = (from: Instant) => emptyPeriod(from, addUnits(zone, from, unit, 1))
  const close = ({ from, to, first, sum, weighted, seconds }: ReturnType<typeof open>): ResampledPeriod => {
    const isComplete = first === from && seconds === to - from
    const hasValue = isComplete || (partial && seconds > 0)
    const value = isSummed ? sum : weighted / seconds
    return [from, hasValue ? value : null, to - from, isComplete ? 1 : 0]
  }
  let period: ReturnType<typeof open> | undefined
  for await (const block of values) {
    const closed: ResampledPeriod[] = []
    for (const [at, value, step] of block) {
      period ??= open(floorTo(zone, at, unit))
      for (; at >= period.to; period = open(period.to)) closed.push(close(period))
      if (value === null || step > period.to - period.from) continue
      period.first = Math.min(period.first, at)
      period.sum += value
      period.weighted += value * step
      period.seconds += step
    }
    yield closed
  }
  if (period) yield [close(period)]
}
