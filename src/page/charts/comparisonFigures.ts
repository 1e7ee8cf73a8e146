import { SIGNS, valueText } from '../client/format.ts'
import { drawBars, drawSteps, type Scales, valueRange, zeroLine } from '../client/segments.ts'
import { hoursText, signedText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { ChartData } from '../queries/series/chart.ts'
import type { Difference } from '../queries/series/difference.ts'
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
  const stateParts = (name: string, top: number) => (interval: ChartData['states'][number]) => {
    const [from, to, state] = interval
    const width = Math.max(1, x(to) - x(from))
    const place = html`x="${oneDecimal(x(from))}" y="${top + 2}"`
    const size = html`width="${oneDecimal(width)}" height="${STRIP_HEIGHT - 4}"`
    const title = html`<title>${name}: ${names[state]}</title>`
    const signPlace = html`x="${oneDecimal(x(from) + width / 2)}" y="${top + STRIP_HEIGHT / 2 + 3}"`
    const sign = width > SIGN_WIDTH && html`<text ${signPlace} text-anchor="middle">${SIGNS[state]}</text>`
    return html`<rect class="state-${state}" ${place} ${size}>${title}</rect>${sign}`
  }
  const drawn = rows.map(({ states, name, i }, row) => {
    const top = row * STRIP_HEIGHT
    const sample = html`M${FRAME.side - 32} ${top + STRIP_HEIGHT / 2}h24`
    return [
      html`<path class="line with-${i}" d="${sample}"><title>${name}</title></path>`,
      states.map(stateParts(name, top)),
    ]
  })
  const box = `0 0 ${FRAME.width} ${rows.length * STRIP_HEIGHT}`
  return html`<svg class="figure strips" viewBox="${box}" role="img" aria-label="${words.series.strips}">${drawn}</svg>`
}

/** The difference as bars about a zero line. */
function differencePanel(chart: ChartData, difference: Difference, { words, locale }: PageRequest): Html {
  const { drawn, unfinished } = difference
  const { series: labels } = words
  const { x, right } = timeScale(chart)
  const zero = zeroLine(chart.from, chart.to)
  const range = valueRange([drawn, zero])!
  const { low, high } = range.low < range.high ? range : { low: -1, high: 1 }
  const y = (value: number): number =>
    PANEL_MARGIN + (1 - (value - low) / (high - low)) * (PANEL_HEIGHT - 2 * PANEL_MARGIN)
  const scales: Scales = { x, y }
  const grid = roundTicks(low, high, 4).map((tick) => {
    const line = html`<path d="M${FRAME.side} ${oneDecimal(y(tick))}H${right}"/>`
    const place = html`x="${FRAME.side - 6}" y="${oneDecimal(y(tick) + 4)}"`
    return html`${line}<text ${place} text-anchor="end">${tick.toLocaleString(locale)}</text>`
  })
  const unfinishedDay = ([from, to]: readonly [from: number, to: number]): Html => {
    const place = html`x="${oneDecimal(x(from))}" y="0" width="${oneDecimal(x(to) - x(from))}" height="${PANEL_HEIGHT}"`
    const title = html`<title>${labels.unfinished}</title>`
    return html`<rect class="unfinished" fill="url(#unfinished)" ${place}>${title}</rect>`
  }
  const box = `0 0 ${FRAME.width} ${PANEL_HEIGHT}`
  const stripes = html`<pattern id="unfinished" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 6L6 0"/></pattern>`
  return html`<svg class="figure difference" viewBox="${box}" role="img" aria-label="${labels.differencePicture}">
<defs>${stripes}</defs>
<g class="grid">${grid}</g>
${unfinished && unfinishedDay(unfinished)}
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
  const hatched = difference.unfinished !== null && ` · ${request.words.series.hatched}`
  return html`<p class="soft" id="difference">${figuresText(difference, request)}${hatched}</p>`
}
