/*
 * Values on the wire: periods of equal length that follow one another are one segment, so that their instants need not be sent
 * one by one. Null is a period without a value. Server and browser share this file.
 */

/** Values one after the other: the first period begins at `from`, and each lasts `step` seconds. */
export interface ValueSegment {
  readonly from: number
  readonly step: number
  readonly values: (number | null)[]
}

/** The same for periods that hold several values each: the minimum, the maximum and the mean over time. */
export interface BandSegment {
  readonly from: number
  readonly step: number
  readonly min: (number | null)[]
  readonly max: (number | null)[]
  readonly mean: (number | null)[]
}

/** The values of an interval themselves, where a picture has room for them; else a summary for each of its columns. */
export type Drawn =
  | { readonly kind: 'values'; readonly segments: readonly ValueSegment[] }
  | { readonly kind: 'extremes'; readonly segments: readonly BandSegment[] }

/** A period with the minimum, maximum and mean of its values; for a single value all three are equal. */
export interface PeriodValues {
  readonly from: number
  readonly to: number
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
}

type Segment = ValueSegment | BandSegment

const periodCount = (segment: Segment): number => ('values' in segment ? segment.values : segment.min).length

function periodValues(segment: Segment, i: number): PeriodValues {
  const from = segment.from + i * segment.step
  const to = from + segment.step
  if ('values' in segment) {
    const value = segment.values[i]!
    return { from, to, min: value, max: value, mean: value }
  }
  return { from, to, min: segment.min[i]!, max: segment.max[i]!, mean: segment.mean[i]! }
}

/** Every period in order. */
export function* eachPeriod({ segments }: Drawn): Generator<PeriodValues, void> {
  for (const segment of segments) for (let i = 0; i < periodCount(segment); i++) yield periodValues(segment, i)
}

/** The period in which an instant lies; undefined where none covers it. */
export function periodAt({ segments }: Drawn, at: number): PeriodValues | undefined {
  const segment = (segments as readonly Segment[]).findLast(({ from }) => from <= at)
  const i = segment ? Math.floor((at - segment.from) / segment.step) : -1
  return segment && i < periodCount(segment) ? periodValues(segment, i) : undefined
}

/** Beyond this, differences of numbers overflow, and no axis can be made. */
const DRAWABLE = 8e307

/** The smallest and the largest number that is drawn; undefined where there is none. */
export function reachOf(all: readonly Drawn[]): { readonly low: number; readonly high: number } | undefined {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const drawn of all)
    for (const { min, max } of eachPeriod(drawn)) {
      if (min !== null && min < low) low = min
      if (max !== null && max > high) high = max
    }
  return low <= high ? { low: Math.max(low, -DRAWABLE), high: Math.min(high, DRAWABLE) } : undefined
}

/** What a pen does: it moves to a place, or draws a line to it. */
export interface Pen {
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
}

/** The position of an instant and of a value in a picture. */
export interface Scales {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

/** Draws steps: each value, or mean, holds for the length of its period, and missing ones are gaps. */
export function drawSteps(drawn: Drawn, pen: Pen, { x, y }: Scales): void {
  let end = Number.NaN
  let level = Number.NaN
  let last = Number.NaN
  const rest = (): void => {
    if (!Number.isNaN(last)) pen.lineTo(x(last), level)
    last = Number.NaN
  }
  for (const { from, to, mean } of eachPeriod(drawn)) {
    if (mean === null) continue
    const height = y(mean)
    if (from !== end) {
      rest()
      pen.moveTo(x(from), height)
    } else if (height !== level) {
      rest()
      pen.lineTo(x(from), height)
    }
    end = to
    last = to
    level = height
  }
  rest()
}

/** Draws the outline of the area between the smallest and the largest values. */
export function drawBand(drawn: Drawn, pen: Pen, { x, y }: Scales): void {
  let above: PeriodValues[] = []
  const close = (): void => {
    if (above.length === 0) return
    pen.moveTo(x(above[0]!.from), y(above[0]!.max!))
    for (const { from, to, max } of above) {
      pen.lineTo(x(from), y(max!))
      pen.lineTo(x(to), y(max!))
    }
    for (const { from, to, min } of above.reverse()) {
      pen.lineTo(x(to), y(min!))
      pen.lineTo(x(from), y(min!))
    }
    above = []
  }
  for (const held of eachPeriod(drawn)) {
    const last = above.at(-1)
    if (held.min === null || (last && last.to !== held.from)) close()
    if (held.min !== null) above.push(held)
  }
  close()
}

/**
 * What was known then where it differs from now: the values of then, with a band to those of now. `count`: how many periods
 * differ, those included that have no value in one of the two.
 */
export function differing(now: Drawn, then: Drawn): Drawn & { readonly count: number } {
  const current = new Map([...eachPeriod(now)].map(({ from, mean }) => [from, mean]))
  const segments: BandSegment[] = []
  let count = 0
  for (const { from, to, mean } of eachPeriod(then)) {
    const value = current.get(from) ?? null
    current.delete(from)
    if (mean === value) continue
    count++
    if (mean === null) continue
    const both = [mean, value ?? mean]
    segments.push({ from, step: to - from, min: [Math.min(...both)], max: [Math.max(...both)], mean: [mean] })
  }
  for (const value of current.values()) if (value !== null) count++
  return { kind: 'extremes', segments, count }
}
