/*
 * Values on the wire: periods that follow each other and last equally long are one run, so that instants need not be told
 * one by one. Null is a period without a value. Server and browser share this file.
 */

/** Values one after the other: the first period begins at `from`, and each lasts `step` seconds. */
export interface ValueRun {
  readonly from: number
  readonly step: number
  readonly values: (number | null)[]
}

/** The same of periods that hold several values each: the smallest, the largest and the mean over time. */
export interface BandRun {
  readonly from: number
  readonly step: number
  readonly min: (number | null)[]
  readonly max: (number | null)[]
  readonly mean: (number | null)[]
}

/** The values of an interval as they are, where a picture has room for them; else what each of its columns holds. */
export type Drawn =
  | { readonly kind: 'values'; readonly runs: readonly ValueRun[] }
  | { readonly kind: 'extremes'; readonly runs: readonly BandRun[] }

/** A period with what it holds; of a single value all three are that. */
export interface Held {
  readonly from: number
  readonly to: number
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
}

type Run = ValueRun | BandRun

const countOf = (run: Run): number => ('values' in run ? run.values : run.min).length

const heldIn = (run: Run, i: number): Held => ({
  from: run.from + i * run.step,
  to: run.from + (i + 1) * run.step,
  ...('values' in run
    ? { min: run.values[i]!, max: run.values[i]!, mean: run.values[i]! }
    : { min: run.min[i]!, max: run.max[i]!, mean: run.mean[i]! }),
})

/** Every period in order. */
export function* periodsOf({ runs }: Drawn): Generator<Held, void> {
  for (const run of runs) for (let i = 0; i < countOf(run); i++) yield heldIn(run, i)
}

/** The period in which an instant lies; undefined where nothing is told of it. */
export function periodAt({ runs }: Drawn, at: number): Held | undefined {
  const run = (runs as readonly Run[]).findLast(({ from }) => from <= at)
  const i = run ? Math.floor((at - run.from) / run.step) : -1
  return run && i < countOf(run) ? heldIn(run, i) : undefined
}

/** Beyond this the distance of two numbers is none any more, and no axis can be made. */
const DRAWABLE = 8e307

/** The smallest and the largest number of what is drawn; undefined where there is none. */
export function reachOf(all: readonly Drawn[]): { readonly low: number; readonly high: number } | undefined {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const drawn of all)
    for (const { min, max } of periodsOf(drawn)) {
      if (min !== null && min < low) low = min
      if (max !== null && max > high) high = max
    }
  return low <= high ? { low: Math.max(low, -DRAWABLE), high: Math.min(high, DRAWABLE) } : undefined
}

/** What a pen does: it goes somewhere, or draws a line to there. */
export interface Pen {
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
}

/** Where an instant and a value lie in a picture. */
export interface Scales {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

/** Draws steps: each value, or mean, holds for as long as its period lasts, and what is missing is a gap. */
export function drawSteps(drawn: Drawn, pen: Pen, { x, y }: Scales): void {
  let end = Number.NaN
  let level = Number.NaN
  let last = Number.NaN
  const rest = (): void => {
    if (!Number.isNaN(last)) pen.lineTo(x(last), level)
    last = Number.NaN
  }
  for (const { from, to, mean } of periodsOf(drawn)) {
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

/** Draws the outline of all that lies between the smallest and the largest values. */
export function drawBand(drawn: Drawn, pen: Pen, { x, y }: Scales): void {
  let above: Held[] = []
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
  for (const held of periodsOf(drawn)) {
    const last = above.at(-1)
    if (held.min === null || (last && last.to !== held.from)) close()
    if (held.min !== null) above.push(held)
  }
  close()
}
