import { type Drawn, differing, drawBand, drawSteps, type Pen, type Scales, valueReach } from './client/segments.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import type { ChartData } from './queries/series/chartData.ts'

/** A line of a picture; `style` is its class. `isOther`: whether its unit is not that of the axis; then it has another scale. */
interface FigureLine {
  readonly drawn: Drawn
  readonly style: string
  readonly isOther: boolean
}

const WIDTH = 800
const HEIGHT = 280
const SIDE_MARGIN = 60
const TOP_MARGIN = 20
const BOTTOM_MARGIN = 24

const oneDecimal = (number: number): string => String(Math.round(number * 10) / 10)

/** About `count` round numbers over a range. */
function roundTicks(low: number, high: number, count = 5): number[] {
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough)
  if (step === undefined || !(step > 0) || !Number.isFinite(low / step)) return [low]
  const first = Math.ceil(low / step)
  // Added up, tenths would not stay tenths.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

/** A line as a path of SVG. */
function svgPath(draw: (drawn: Drawn, pen: Pen, scales: Scales) => void, drawn: Drawn, scales: Scales): string {
  const points: string[] = []
  const add = (letter: 'M' | 'L') => (x: number, y: number) =>
    void points.push(`${letter}${oneDecimal(x)} ${oneDecimal(y)}`)
  draw(drawn, { moveTo: add('M'), lineTo: add('L') }, scales)
  return points.join('')
}

/** The lines of a chart: past values over the current ones, and differences over both. */
const figureLines = ({ now, before, compared, unit }: ChartData): FigureLine[] => [
  ...compared.map((other, i) => ({ drawn: other.drawn, style: `with-${i}`, isOther: other.unit !== unit })),
  { drawn: now, style: before ? 'now faint' : 'now', isOther: false },
  ...(before
    ? [
        { drawn: before, style: 'then faint', isOther: false },
        { drawn: differing(now, before), style: 'then', isOther: false },
      ]
    : []),
]

/** A chart as SVG: for pages without scripts, for paper, and for files. `label` is its alternative text. */
export function figure(chart: ChartData, label: string, locale: string): Html {
  const { from, to, unit, ticks, states, steps } = chart
  const lines = figureLines(chart)
  const otherUnit = chart.compared.find((other) => other.unit !== unit)?.unit
  const right = lines.some(({ isOther }) => isOther) ? WIDTH - SIDE_MARGIN : WIDTH
  const x = (at: number): number =>
    SIDE_MARGIN + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (right - SIDE_MARGIN)
  const createScale = (isOther: boolean) => {
    const drawn = lines.filter((line) => line.isOther === isOther).map((line) => line.drawn)
    const reach = valueReach(drawn)
    const { low, high } =
      reach && reach.low < reach.high ? reach : { low: (reach?.low ?? 0) - 1, high: (reach?.low ?? 0) + 1 }
    const y = (value: number): number =>
      TOP_MARGIN + (1 - (value - low) / (high - low)) * (HEIGHT - TOP_MARGIN - BOTTOM_MARGIN)
    return { ticks: reach ? roundTicks(low, high) : [], x, y }
  }
  const main = createScale(false)
  const other = createScale(true)
  const line = ({ drawn, style, isOther }: FigureLine): HtmlPart => [
    drawn.kind === 'extremes' &&
      !style.startsWith('with') &&
      html`<path class="band ${style}" d="${svgPath(drawBand, drawn, isOther ? other : main)}"/>`,
    html`<path class="line ${style}" d="${svgPath(drawSteps, drawn, isOther ? other : main)}"/>`,
  ]
  return html`<svg class="figure" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<g class="grid">${unit && html`<text x="0" y="10">${unit}</text>`}${main.ticks.map(
    (tick) =>
      html`<path d="M${SIDE_MARGIN} ${oneDecimal(main.y(tick))}H${right}"/><text x="${SIDE_MARGIN - 6}" y="${oneDecimal(main.y(tick) + 4)}" text-anchor="end">${tick.toLocaleString(locale)}</text>`,
  )}${otherUnit && html`<text x="${WIDTH}" y="10" text-anchor="end">${otherUnit}</text>`}${other.ticks.map(
    (tick) => html`<text x="${right + 6}" y="${oneDecimal(other.y(tick) + 4)}">${tick.toLocaleString(locale)}</text>`,
  )}${ticks.map(
    ({ at, label: text }) =>
      html`<path d="M${oneDecimal(x(at))} ${HEIGHT - BOTTOM_MARGIN}v5"/><text x="${oneDecimal(x(at))}" y="${HEIGHT - 4}" text-anchor="${x(at) > right - 30 ? 'end' : 'middle'}">${text}</text>`,
  )}</g>
${states.map(
  ([begin, end, state]) =>
    html`<rect class="state-${state}" x="${oneDecimal(x(begin))}" y="${TOP_MARGIN}" width="${oneDecimal(Math.max(1, x(end) - x(begin)))}" height="${HEIGHT - TOP_MARGIN - BOTTOM_MARGIN}"/>`,
)}
${lines.map(line)}
${steps.map(([at, , text]) => html`<path class="change" d="M${oneDecimal(x(at))} ${TOP_MARGIN}V${HEIGHT - BOTTOM_MARGIN}"/><text x="${oneDecimal(x(at) + 4)}" y="${TOP_MARGIN + 10}">${text}</text>`)}
</svg>`
}
