import { SIGNS, valueText } from '../client/format.ts'
import { drawBars, drawSteps, type Scales, valueReach, zeroLine } from '../client/segments.ts'
import { hoursText, signedText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { ChartData } from '../queries/series/chart.ts'
import type { Difference } from '../queries/series/lines.ts'
import { horizontalScale, oneDecimal, pathData, roundTicks } from './drawing.ts'
import { FRAME } from './figure.ts'

/* Pictures below a chart: the gaps of compared lines, and the difference. They have its time axis. */

const STRIP_HEIGHT = 14
const PANEL_HEIGHT = 90
const PANEL_MARGIN = 6
/** The widest part of which only the sign fits. */
const SIGN_WIDTH = 16

/** The time axis of the chart above. */
const timeScale = (chart: ChartData) =>
  horizontalScale(
    chart,
    FRAME,
    chart.compared.some(({ unit }) => unit !== chart.unit),
  )

/** A strip for each compared line with data that is missing or may change. */
function strips(chart: ChartData, { words }: PageRequest): HtmlPart {
  const rows = chart.compared
    .map(({ states, name }, i) => ({ states, name, i }))
    .filter(({ states }) => states.length > 0)
  if (rows.length === 0) return null
  const { x } = timeScale(chart)
  const names: Readonly<Record<string, string>> = { ...words.common.states, ...words.series.states }
  return html`<svg class="figure strips" viewBox="0 0 ${FRAME.width} ${rows.length * STRIP_HEIGHT}" role="img" aria-label="${words.series.strips}">${rows.map(
    ({ states, name, i }, row) => {
      const middle = row * STRIP_HEIGHT + STRIP_HEIGHT / 2
      return [
        html`<path class="line with-${i}" d="M${FRAME.side - 32} ${middle}h24"><title>${name}</title></path>`,
        states.map(([from, to, state]) => {
          const width = Math.max(1, x(to) - x(from))
          return html`<rect class="state-${state}" x="${oneDecimal(x(from))}" y="${row * STRIP_HEIGHT + 2}" width="${oneDecimal(width)}" height="${STRIP_HEIGHT - 4}"><title>${name}: ${names[state]}</title></rect>${width > SIGN_WIDTH && html`<text x="${oneDecimal(x(from) + width / 2)}" y="${middle + 3}" text-anchor="middle">${SIGNS[state]}</text>`}`
        }),
      ]
    },
  )}</svg>`
}

/** The difference as bars about a zero line. */
function differencePanel(chart: ChartData, difference: Difference, { words, locale }: PageRequest): Html {
  const { drawn, unfinished } = difference
  const { x, right } = timeScale(chart)
  const zero = zeroLine(chart.from, chart.to)
  const reach = valueReach([drawn, zero])!
  const { low, high } = reach.low < reach.high ? reach : { low: -1, high: 1 }
  const y = (value: number): number =>
    PANEL_MARGIN + (1 - (value - low) / (high - low)) * (PANEL_HEIGHT - 2 * PANEL_MARGIN)
  const scales: Scales = { x, y }
  return html`<svg class="figure difference" viewBox="0 0 ${FRAME.width} ${PANEL_HEIGHT}" role="img" aria-label="${words.series.differencePicture}">
<defs><pattern id="unfinished" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0"/></pattern></defs>
<g class="grid">${roundTicks(low, high, 4).map(
    (tick) =>
      html`<path d="M${FRAME.side} ${oneDecimal(y(tick))}H${right}"/><text x="${FRAME.side - 6}" y="${oneDecimal(y(tick) + 4)}" text-anchor="end">${tick.toLocaleString(locale)}</text>`,
  )}</g>
${unfinished && html`<rect class="unfinished" fill="url(#unfinished)" x="${oneDecimal(x(unfinished[0]))}" y="0" width="${oneDecimal(x(unfinished[1]) - x(unfinished[0]))}" height="${PANEL_HEIGHT}"><title>${words.series.unfinished}</title></rect>`}
<path class="bars" d="${pathData((pen, to) => drawBars(drawn, pen, to), scales)}"/>
<path class="zero" d="${pathData((pen, to) => drawSteps(zero, pen, to), scales)}"/>
</svg>`
}

/** The pictures below the chart of a comparison. */
export const comparisonFigures = (chart: ChartData, request: PageRequest): HtmlPart => [
  strips(chart, request),
  chart.difference !== null &&
    chart.difference.drawn.segments.length > 0 &&
    differencePanel(chart, chart.difference, request),
]

/** The bias and the usual sizes of a difference in words. */
export function figuresText({ bias, mae, rmse, seconds, unit }: Difference, { words, locale }: PageRequest): string {
  const { series: labels } = words
  const withUnit = (text: string): string => (unit ? `${text} ${unit}` : text)
  if (bias === null || mae === null || rmse === null) return labels.noDifference
  return labels.figures(
    withUnit(signedText(bias, locale)),
    withUnit(valueText(mae, locale)),
    withUnit(valueText(rmse, locale)),
    hoursText(seconds, locale),
  )
}

/** The figures of a difference below its panel. */
export function differenceText(difference: Difference | null, request: PageRequest): HtmlPart {
  if (difference === null) return null
  return html`<p class="soft" id="difference">${figuresText(difference, request)}${difference.unfinished !== null && ` · ${request.words.series.hatched}`}</p>`
}
