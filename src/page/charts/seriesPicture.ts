import { toWords } from '../../job/select.ts'
import { floorToSecond, formatMillis } from '../../util/time/instant.ts'
import { drawBars, valueRange, zeroLine } from '../client/segments.ts'
import { groupingText, kindText, momentText, timeText } from '../formats.ts'
import { html } from '../html.ts'
import type { PageRequest, Responder } from '../page.ts'
import { readStates } from '../queries/intervals.ts'
import { hasLocalSources } from '../queries/overviewData.ts'
import { type ChartData, readChart } from '../queries/series/chart.ts'
import { placeName, readCompared, withStates } from '../queries/series/compared.ts'
import type { Difference } from '../queries/series/difference.ts'
import type { ComparedLine } from '../queries/series/lines.ts'
import { type ChartQuery, findAsOf, type NamedLine, rangeQuery, readChartQuery } from '../queries/series/seriesQuery.ts'
import { figuresText } from './comparisonFigures.ts'
import { type Drawing, draw, type Frame } from './drawing.ts'
import { seriesDrawing } from './figure.ts'
import { type LegendEntry, ON_WHITE, PICTURE_FRAME, pictureText } from './picture.ts'

/** The columns of values in a picture, unless the address states them: one a pixel. */
const COLUMNS = PICTURE_FRAME.width - PICTURE_FRAME.side

/** The panel of a difference, below the chart. */
const DIFFERENCE_FRAME: Frame = { ...PICTURE_FRAME, height: 110, bottom: 6 }

/** The style of the day of which values are still missing. */
const UNFINISHED = 'unfinished'

/** A moment to the minute. */
const minuteText = (zone: string, at: number): string => timeText(zone, Math.floor(at / 60) * 60)

/** Where the data of a picture is from, and when it was fetched and drawn. `what`: indicators with their ids. */
export async function sourceLines(request: PageRequest, what: string, zone: string, fetchedAt: string | null) {
  const { store, words, now } = request
  const source = words.charts[(await hasLocalSources(store)) ? 'practice' : 'source']
  return [
    source(what, fetchedAt === null ? '–' : minuteText(zone, floorToSecond(fetchedAt))),
    words.charts.drawn(minuteText(zone, now), zone),
  ]
}

const withUnit = (name: string, unit: string | null): string => (unit === null ? name : `${name} (${unit})`)

/** The legend: lines in the order of the drawing's colours, the band of a summary, and shaded states. */
function legendEntries(chart: ChartData, { line, asOf }: ChartQuery, { words }: PageRequest): LegendEntry[] {
  const { series: labels, common } = words
  const { before, compared, bucket, states, unit } = chart
  const stateNames: Readonly<Record<string, string>> = { ...common.states, ...labels.states }
  const name = compared.length > 0 ? placeName(line) : labels.values
  const shaded = [...new Set(states.map(([, , state]) => state))]
  const lineEntry = (style: string, text: string): LegendEntry => ({ sample: 'line', style, text })
  return [
    lineEntry(before ? 'now faint' : 'now', withUnit(name, unit)),
    ...(asOf ? [lineEntry('then', labels.valuesThen(momentText(line.zone, asOf.moment)))] : []),
    ...(bucket === null ? [] : [{ sample: 'band', style: 'now', text: bucket } as const]),
    ...compared.map((other, i) => lineEntry(`with-${i}`, withUnit(other.name, other.unit))),
    ...(chart.difference === null
      ? []
      : [{ sample: 'bar', style: 'difference', text: withUnit(chart.difference.name, unit) } as const]),
    ...(chart.difference?.unfinished ? [{ sample: 'state', style: UNFINISHED, text: labels.unfinished } as const] : []),
    ...shaded.map((state) => {
      const more = state === 'provisional' ? `, ${common.mayChange}` : ''
      return { sample: 'state', style: state, text: `${stateNames[state]}${more}` } as const
    }),
  ]
}

/** The indicators of all lines: `indicator 600, 612`. */
function indicatorsText(line: NamedLine, compared: readonly ComparedLine[], request: PageRequest): string {
  const lines = [line, ...compared.map((other) => other.line)]
  const byKind = Map.groupBy(lines, ({ kind }) => kindText(kind, request) ?? request.words.charts.indicator)
  return [...byKind]
    .map(([kind, named]) => `${kind} ${[...new Set(named.map(({ indicator }) => indicator))].join(', ')}`)
    .join(' · ')
}

/** The name of the file of a chart, without its ending. */
export function chartFileName({ path, geoId, name, zone }: NamedLine, range: ChartQuery['range']): string {
  const days = Object.values(rangeQuery(zone, range)).map((border) => border.slice(0, 10))
  return [path, geoId, ...toWords(name), ...days].join('-')
}

/** The difference of a comparison: bars about a zero line, with the time axis of the chart above. */
function differenceDrawing(chart: ChartData, { drawn, unfinished }: Difference): Drawing {
  const zero = zeroLine(chart.from, chart.to)
  return {
    ...chart,
    ticks: [],
    states: unfinished ? [[...unfinished, UNFINISHED]] : [],
    marks: [],
    hints: [],
    otherUnit: null,
    hasOtherAxis: chart.compared.some(({ unit }) => unit !== chart.unit),
    lines: [
      {
        style: 'difference',
        isOther: false,
        valueRange: valueRange([drawn, zero]),
        bars: (pen, scales) => drawBars(drawn, pen, scales),
      },
    ],
  }
}

/** Draws the chart of a series as a picture, by the address of its page. */
export async function drawSeries(request: PageRequest): Promise<string> {
  const query = new URLSearchParams(request.query)
  if (!query.has('px')) query.set('px', String(COLUMNS))
  const own = { ...request, query }
  const { locale, words, store, now } = own
  const chartQuery = await readChartQuery(own)
  const { line, range, asOf } = chartQuery
  const states = await readStates(own, line, range)
  const compared = await withStates(own, await readCompared(own, chartQuery), range)
  const chart = await readChart(own, chartQuery, states, compared)
  const panel = chart.difference && differenceDrawing(chart, chart.difference)
  const { zone, unit, trunc, agg, geoAgg, geoTrunc, seriesId } = line
  const drawing = seriesDrawing(chart)
  const isNowShown = now > range.from && now < range.to
  const marks = [...drawing.marks, ...(isNowShown ? [{ at: now, text: words.series.now }] : [])]
  const { fetchedAt } = await findAsOf(store, seriesId, formatMillis(now * 1000))
  const facts = [
    unit,
    groupingText(own, trunc, agg, geoAgg, geoTrunc),
    `${timeText(zone, range.from)} – ${timeText(zone, range.to)}`,
    asOf && words.series.valuesThen(momentText(zone, asOf.moment)),
    chart.difference && figuresText(chart.difference, own),
  ]
  const drawn = draw({ ...drawing, marks }, PICTURE_FRAME, ON_WHITE, locale)
  const below =
    panel &&
    html`<g transform="translate(0 ${PICTURE_FRAME.height})">${draw(panel, DIFFERENCE_FRAME, ON_WHITE, locale)}</g>`
  return pictureText(
    {
      title: `${line.indicator} ${placeName(line)}`,
      facts: facts.flatMap((fact) => fact || []),
      legend: legendEntries(chart, chartQuery, own),
      body: html`${drawn}${below}`,
      bodyHeight: PICTURE_FRAME.height + (panel ? DIFFERENCE_FRAME.height : 0),
      source: await sourceLines(own, indicatorsText(line, compared, own), zone, fetchedAt),
    },
    locale,
  )
}

/** `/series/600.svg`: the chart as a picture, with the parameters of the page. */
export const seriesPicture: Responder = async (request) => ({ type: 'image/svg+xml', body: await drawSeries(request) })
