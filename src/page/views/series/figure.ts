import type { Interval } from '../../../base/time/interval.ts'
import { type Offsets, timeTicks } from '../../client/clock.ts'
import { type Drawn, drawBand, drawSteps, type Pen, reachOf, type Scales } from '../../client/segments.ts'
import { ticksOf } from '../../drawing.ts'
import { type Html, html, type Part } from '../../html.ts'
import type { State } from '../../queries/series/states.ts'

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
  readonly states?: readonly (readonly [from: number, to: number, state: State])[]
  /** The alternative text of the picture. */
  readonly label: string
}

const WIDTH = 800
const HEIGHT = 280
const [LEFT, TOP, BOTTOM] = [60, 8, 24]

const short = (number: number): string => String(Math.round(number * 10) / 10)

/** Writes a path of SVG; lines along an axis need only one number. */
function pathPen(): Pen & { done(): string } {
  let path = ''
  let [px, py] = ['', '']
  return {
    moveTo(x, y) {
      ;[px, py] = [short(x), short(y)]
      path += `M${px} ${py}`
    },
    lineTo(x, y) {
      const [nx, ny] = [short(x), short(y)]
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
export function figure({ range: { from, to }, offsets, lines, states = [], label }: Figure): Html {
  const found = reachOf(lines.map(({ drawn }) => drawn)) ?? { low: 0, high: 1 }
  const reach = found.low === found.high ? { low: found.low - 1, high: found.high + 1 } : found
  const x = (at: number): number => LEFT + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - LEFT)
  const y = (value: number): number =>
    TOP + (1 - (value - reach.low) / (reach.high - reach.low)) * (HEIGHT - TOP - BOTTOM)
  const line = ({ drawn, style }: FigureLine): Part => [
    drawn.kind === 'extremes' && html`<path class="band ${style}" d="${svgPath(drawBand, drawn, { x, y })}"/>`,
    html`<path class="line ${style}" d="${svgPath(drawSteps, drawn, { x, y })}"/>`,
  ]
  return html`<svg class="figure" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<g class="grid">${ticksOf(reach.low, reach.high).map(
    (tick) =>
      html`<path d="M${LEFT} ${short(y(tick))}H${WIDTH}"/><text x="${LEFT - 6}" y="${short(y(tick) + 4)}" text-anchor="end">${tick}</text>`,
  )}${timeTicks(offsets, from, to).map(
    ({ at, label: text }) =>
      html`<path d="M${short(x(at))} ${HEIGHT - BOTTOM}v5"/><text x="${short(x(at))}" y="${HEIGHT - 4}" text-anchor="middle">${text}</text>`,
  )}</g>
${states.map(
  ([begin, end, state]) =>
    state !== 'final' &&
    html`<rect class="state-${state}" x="${short(x(begin))}" y="${TOP}" width="${short(Math.max(1, x(end) - x(begin)))}" height="${HEIGHT - TOP - BOTTOM}"/>`,
)}
${lines.map(line)}
</svg>`
}
