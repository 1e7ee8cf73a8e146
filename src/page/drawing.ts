import { type Html, html } from './html.ts'

/** A line of a drawing: points in order of x; null where there is no value. */
export interface DrawnLine {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number | null])[]
}

/** How something is drawn. */
export interface Drawing {
  /** The alternative text. */
  readonly label: string
  readonly lines: readonly DrawnLine[]
  /** The labels below the ends of the drawing. */
  readonly ends: readonly [from: string, to: string]
  /** Whether each value holds until the next one. */
  readonly steps?: boolean
  readonly locale: string
}

const BOX = { width: 800, height: 240, left: 64, top: 8, bottom: 24 }

/** The least and the largest of some numbers, a little apart where they are one. */
function bounds(values: readonly number[]): readonly [number, number] {
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (low > high) return [0, 1]
  return low === high ? [low - 1, high + 1] : [low, high]
}

/** Round numbers at about equal distances that reach over a range. */
export function ticksOf(low: number, high: number, count = 5): number[] {
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)
  if (step === undefined || !(step > 0) || !Number.isFinite(low / step)) return [low]
  const first = Math.ceil(low / step)
  // Added up, tenths would not stay tenths.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

const coordinate = (value: number): string => String(Math.round(value * 10) / 10)

/** Points as a path, interrupted where there is no value. */
function linePath(
  points: DrawnLine['points'],
  x: (at: number) => number,
  y: (value: number) => number,
  steps: boolean,
): string {
  let path = ''
  let isDown = false
  for (const [at, value] of points) {
    if (value === null) {
      isDown = false
      continue
    }
    const [across, up] = [coordinate(x(at)), coordinate(y(value))]
    path += isDown ? (steps ? `H${across}V${up}` : `L${across} ${up}`) : `M${across} ${up}h.1`
    isDown = true
  }
  return path
}

/** Lines as a picture without script, for printed pages and pages of files. */
export function drawing({ label, lines, ends, steps = false, locale }: Drawing): Html {
  const [first, last] = bounds(lines.flatMap(({ points }) => points.map(([x]) => x)))
  const [low, high] = bounds(lines.flatMap(({ points }) => points.flatMap(([, y]) => (y === null ? [] : [y]))))
  const base = BOX.height - BOX.bottom
  const x = (at: number): number => BOX.left + ((at - first) / (last - first)) * (BOX.width - BOX.left - 4)
  const y = (value: number): number => base - ((value - low) / (high - low)) * (base - BOX.top)
  return html`<svg class="drawing" viewBox="0 0 ${BOX.width} ${BOX.height}" role="img" aria-label="${label}">
${ticksOf(low, high).map(
  (value) =>
    html`<path class="rule" d="M${BOX.left} ${coordinate(y(value))}H${BOX.width}"/><text x="${BOX.left - 6}" y="${coordinate(y(value) + 4)}" text-anchor="end">${value.toLocaleString(locale)}</text>`,
)}
${lines.map(({ points }, i) => html`<path class="line line-${i % 4}" d="${linePath(points, x, y, steps)}"/>`)}
<text x="${BOX.left}" y="${BOX.height - 6}">${ends[0]}</text><text x="${BOX.width}" y="${BOX.height - 6}" text-anchor="end">${ends[1]}</text>
</svg>`
}

/** The legend of the lines; they differ in colour and in dashes. */
export const lineLegend = (lines: readonly DrawnLine[]): Html =>
  html`<ul class="keys">${lines.map(
    ({ name }, i) =>
      html`<li><svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true"><path class="line line-${i % 4}" d="M0 4H24"/></svg> ${name}</li>`,
  )}</ul>`
