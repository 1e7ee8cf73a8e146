import { differing, drawBand, drawSteps, type LineData, valueRange } from '../client/segments.ts'
import { type Html, html } from '../html.ts'
import type { ChartData } from '../queries/series/chart.ts'
import type { ComparedLine } from '../queries/series/lines.ts'
import { type ChartShape, type Drawing, draw, drawNames, type Frame, type Look, type NamedBars } from './drawing.ts'

/** The look of charts on a page, whose style has a rule for each class. */
const BY_CLASSES: Look = {
  axes: html` class="grid"`,
  rule: html``,
  text: html``,
  mark: html`class="change"`,
  zero: html`class="zero"`,
  state: (state) => html`class="state-${state}"`,
  line: (style) => html`class="line ${style}"`,
  band: (style) => html`class="band ${style}"`,
  bar: (style) => html`class="bar ${style}"`,
}

/** The size of a chart on a page. */
export const FRAME: Frame = { width: 800, height: 280, side: 60, top: 20, bottom: 24 }

const lineShape = (drawn: LineData, style: string, isOther = false): ChartShape => ({
  style,
  isOther,
  valueRange: valueRange([drawn]),
  stroke: (pen, scales) => drawSteps(drawn, pen, scales),
  // Bands over one another would hide the lines.
  ...(drawn.kind === 'extremes' &&
    !style.startsWith('with') && { fill: (pen, scales) => drawBand(drawn, pen, scales) }),
})

/** What a drawing shows of a chart. */
type SeriesDrawingData = Pick<ChartData, 'from' | 'to' | 'unit' | 'ticks' | 'states' | 'steps' | 'now' | 'before'> & {
  readonly compared: readonly Pick<ComparedLine, 'drawn' | 'unit'>[]
}

/** The chart of a series: past values over the current ones, and differences over both. */
export function seriesDrawing({
  from,
  to,
  ticks,
  states,
  steps,
  now,
  before,
  compared,
  unit,
}: SeriesDrawingData): Drawing {
  return {
    from,
    to,
    ticks,
    states,
    unit,
    otherUnit: compared.find((other) => other.unit !== unit)?.unit ?? null,
    hasOtherAxis: compared.some((other) => other.unit !== unit),
    marks: steps.map(([at, , text]) => ({ at, text })),
    hints: [],
    lines: [
      ...compared.map((other, i) => lineShape(other.drawn, `with-${i}`, other.unit !== unit)),
      lineShape(now, before ? 'now faint' : 'now'),
      ...(before ? [lineShape(before, 'then faint'), lineShape(differing(now, before), 'then')] : []),
    ],
  }
}

/** A chart on a page, also without scripts and on paper. `label` is its alternative text. */
export const figure = (drawing: Drawing, label: string, locale: string): Html =>
  html`<svg class="figure" viewBox="0 0 ${FRAME.width} ${FRAME.height}" role="img" aria-label="${label}">
${draw(drawing, FRAME, BY_CLASSES, locale)}
</svg>`

/** Bars of names on a page. */
export function namesFigure(bars: NamedBars, label: string): Html {
  const { body, height } = drawNames(bars, FRAME.width, BY_CLASSES)
  return html`<svg class="figure" viewBox="0 0 ${FRAME.width} ${height}" role="img" aria-label="${label}">${body}</svg>`
}
