import type { Interval } from '../../../util/time/interval.ts'
import { type Offsets, timeTicks } from '../../client/clock.ts'
import { type Drawn, drawBand, drawSteps, type Pen, reachOf, type Scales } from '../../client/segments.ts'
import { ticksOf } from '../../drawing.ts'
import { type Html, type HtmlPart, html } from '../../html.ts'
import type { IntervalState } from '../../queries/series/states.ts'

/** A line of a picture: what it shows, and the class by which the style draws it. */
export interface FigureLine {
  readonly drawn: Drawn
  readonly style: 'now' | 'then' | 'second' | `fan-${number}`
}

/** A picture of lines over time. */
export interface Figure {
  readonly range: Interval
  readonly offsets: Offsets
  readonly lines: readonly FigureLine[]
  /** What is missing or may still change, drawn behind the lines. */
  readonly states?: readonly (readonly [from: number, to: number, state: IntervalState])[]
  /** The alternative text of the picture. */
  readonly label: string
  readonly locale: string
}

const WIDTH = 800
const FIGURE_HEIGHT = 280
const [LEFT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN] = [60, 8, 24]

/** A label at an end of the picture stays inside. */
const anchorAt = (x: number): string => (x > WIDTH - 30 ? 'end' : 'middle')

const oneDecimal = (number: number): string => String(Math.round(number * 10) / 10)

/** Writes a path of SVG; lines along an axis need only one number. */
function pathPen(): Pen & { done(): string } {
  let path = ''
  let [px, py] = ['', '']
  return {
    moveTo(x, y) {
      ;[px, py] = [oneDecimal(x), oneDecimal(y)]
      path += `M${px} ${py}`
    },
    lineTo(x, y) {
      const [nx, ny] = [oneDecimal(x), oneDecimal(y)]
      if (nx !== px && ny !== py) path += `L${nx} ${ny}`
      else if (nx !== px) path += `H${nx}`
      else if (ny !== py) path += `V${ny}`
      ;[px, py] = [nx, ny]
    },
    done: () => path,
  }
}

type Draw = (drawn: Drawn, pen: Pen, scales: Scales) => void

function svgPath(draw: Draw, drawn: Drawn, scales: Scales): string {
  const pen = pathPen()
  draw(drawn, pen, scales)
  return pen.done()
}

/** Lines over time as SVG: for pages without scripts, for paper, and for files. */
export function figure({ range: { from, to }, offsets, lines, states = [], label, locale }: Figure): Html {
  const found = reachOf(lines.map(({ drawn }) => drawn)) ?? { low: 0, high: 1 }
  const reach = found.low === found.high ? { low: found.low - 1, high: found.high + 1 } : found
  const x = (at: number): number =>
    LEFT_MARGIN + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - LEFT_MARGIN)
  const y = (value: number): number =>
    TOP_MARGIN + (1 - (value - reach.low) / (reach.high - reach.low)) * (FIGURE_HEIGHT - TOP_MARGIN - BOTTOM_MARGIN)
  const line = ({ drawn, style }: FigureLine): HtmlPart => [
    drawn.kind === 'extremes' && html`<path class="band ${style}" d="${svgPath(drawBand, drawn, { x, y })}"/>`,
    html`<path class="line ${style}" d="${svgPath(drawSteps, drawn, { x, y })}"/>`,
  ]
  return html`<svg class="figure" viewBox="0 0 ${WIDTH} ${FIGURE_HEIGHT}" role="img" aria-label="${label}">
<g class="grid">${ticksOf(reach.low, reach.high).map(
    (tick) =>
      html`<path d="M${LEFT_MARGIN} ${oneDecimal(y(tick))}H${WIDTH}"/><text x="${LEFT_MARGIN - 6}" y="${oneDecimal(y(tick) + 4)}" text-anchor="end">${tick.toLocaleString(locale)}</text>`,
  )}${timeTicks(offsets, from, to).map(
    ({ at, label: text }) =>
      html`<path d="M${oneDecimal(x(at))} ${FIGURE_HEIGHT - BOTTOM_MARGIN}v5"/><text x="${oneDecimal(x(at))}" y="${FIGURE_HEIGHT - 4}" text-anchor="${anchorAt(x(at))}">${text}</text>`,
  )}</g>
${states.map(
  ([begin, end, state]) =>
    state !== 'final' &&
    html`<rect class="state-${state}" x="${oneDecimal(x(begin))}" y="${TOP_MARGIN}" width="${oneDecimal(Math.max(1, x(end) - x(begin)))}" height="${FIGURE_HEIGHT - TOP_MARGIN - BOTTOM_MARGIN}"/>`,
)}
${lines.map(line)}
</svg>`
}
