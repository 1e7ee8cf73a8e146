/* Values on the wire, and how they are drawn. Server and browser share this file. */

/** Periods of equal length that follow one another. Null: a period without a value. */
export interface Segment {
  readonly from: number
  /** Seconds. */
  readonly step: number
  /** Values, or the means of summarized periods. */
  readonly values: (number | null)[]
  /** The extremes of summarized periods. */
  readonly min?: (number | null)[]
  readonly max?: (number | null)[]
  /** Seconds of summarized periods that have values. */
  readonly seconds?: number[]
}

/** The values of an interval, or a summary for each column of a picture. */
export interface LineData {
  readonly kind: 'values' | 'extremes'
  readonly segments: readonly Segment[]
}

/** A period with the minimum, maximum and mean of its values. */
const periodValues = ({ from, step, values, min = values, max = values, seconds }: Segment, i: number) => ({
  from: from + i * step,
  to: from + (i + 1) * step,
  min: min[i]!,
  max: max[i]!,
  mean: values[i]!,
  seconds: seconds?.[i] ?? step,
})

type PeriodValues = ReturnType<typeof periodValues>

export function* eachPeriod({ segments }: LineData): Generator<PeriodValues, void> {
  for (const segment of segments) for (const i of segment.values.keys()) yield periodValues(segment, i)
}

/** The period that contains an instant, if any. */
export function periodAt({ segments }: LineData, at: number): PeriodValues | undefined {
  const segment = segments.findLast(({ from }) => from <= at)
  if (!segment) return undefined
  const i = Math.floor((at - segment.from) / segment.step)
  return i < segment.values.length ? periodValues(segment, i) : undefined
}

/** The largest number that is drawn: differences of larger ones overflow, so that they have no axis. */
const DRAWABLE = 8e307

/** The smallest and the largest of some values. */
export interface ValueRange {
  readonly low: number
  readonly high: number
}

/** The smallest and the largest number that is drawn, if any. */
export function valueRange(lines: readonly LineData[]): ValueRange | undefined {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const drawn of lines)
    for (const { min, max } of eachPeriod(drawn)) {
      if (min !== null && min < low) low = min
      if (max !== null && max > high) high = max
    }
  return low <= high ? { low: Math.max(low, -DRAWABLE), high: Math.min(high, DRAWABLE) } : undefined
}

export interface Pen {
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
}

/** Positions in a picture. */
export interface Scales {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

/** Draws each value for the length of its period, with gaps for missing ones. */
export function drawSteps(drawn: LineData, pen: Pen, { x, y }: Scales): void {
  let end = Number.NaN
  for (const { from, to, mean } of eachPeriod(drawn)) {
    if (mean === null) continue
    if (from === end) pen.lineTo(x(from), y(mean))
    else pen.moveTo(x(from), y(mean))
    pen.lineTo(x(to), y(mean))
    end = to
  }
}

/** Draws each value as a bar from zero. */
export function drawBars(drawn: LineData, pen: Pen, { x, y }: Scales): void {
  for (const { from, to, mean } of eachPeriod(drawn)) {
    if (mean === null) continue
    pen.moveTo(x(from), y(0))
    pen.lineTo(x(from), y(mean))
    pen.lineTo(x(to), y(mean))
    pen.lineTo(x(to), y(0))
  }
}

/** A line at zero. */
export const zeroLine = (from: number, to: number): LineData => ({
  kind: 'values',
  segments: [{ from, step: to - from, values: [0] }],
})

/** Draws the outline of the area between minimum and maximum. */
export function drawBand(drawn: LineData, pen: Pen, { x, y }: Scales): void {
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
  for (const period of eachPeriod(drawn)) {
    const last = above.at(-1)
    if (period.min === null || (last && last.to !== period.from)) close()
    if (period.min !== null) above.push(period)
  }
  close()
}

/** The past values that differ, with a band to the current ones. */
export function differing(now: LineData, then: LineData): LineData {
  const current = new Map([...eachPeriod(now)].map(({ from, mean }) => [from, mean]))
  const segments: Segment[] = []
  for (const { from, to, mean } of eachPeriod(then)) {
    const value = current.get(from) ?? null
    if (mean === null || mean === value) continue
    const both = [mean, value ?? mean]
    segments.push({ from, step: to - from, values: [mean], min: [Math.min(...both)], max: [Math.max(...both)] })
  }
  return { kind: 'extremes', segments }
}
