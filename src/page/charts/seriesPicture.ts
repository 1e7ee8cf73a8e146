import { toWords } from '../../job/select.ts'
import { floorToSecond, formatMillis } from '../../util/time/instant.ts'
import { groupingText, kindText, momentText, timeText } from '../formats.ts'
import type { PageRequest, Responder } from '../page.ts'
import { readStates } from '../queries/intervals.ts'
import { hasLocalSources } from '../queries/overviewData.ts'
import { type ChartData, type ComparedLine, readChart } from '../queries/series/chartData.ts'
import { placeName, readCompared } from '../queries/series/compared.ts'
import { type ChartQuery, findAsOf, type NamedLine, rangeQuery, readChartQuery } from '../queries/series/seriesQuery.ts'
import { draw } from './drawing.ts'
import { seriesDrawing } from './figure.ts'
import { type LegendEntry, ON_WHITE, PICTURE_FRAME, pictureText } from './picture.ts'

/** The columns of values in a picture, unless the address states them: one a pixel. */
const COLUMNS = PICTURE_FRAME.width - PICTURE_FRAME.side

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
function legendEntries(chart: ChartData, { dataset, asOf }: ChartQuery, { words }: PageRequest): LegendEntry[] {
  const { series: labels, common } = words
  const { before, compared, bucket, states, unit } = chart
  const stateNames: Readonly<Record<string, string>> = { ...common.states, ...labels.states }
  const name = compared.length > 0 ? placeName(dataset) : labels.values
  const shaded = [...new Set(states.map(([, , state]) => state))]
  const line = (style: string, text: string): LegendEntry => ({ sample: 'line', style, text })
  return [
    line(before ? 'now faint' : 'now', withUnit(name, unit)),
    ...(asOf ? [line('then', labels.valuesThen(momentText(dataset.zone, asOf.moment)))] : []),
    ...(bucket === null ? [] : [{ sample: 'band', style: 'now', text: bucket } as const]),
    ...compared.map((other, i) => line(`with-${i}`, withUnit(other.name, other.unit))),
    ...shaded.map((state) => {
      const more = state === 'provisional' ? `, ${common.mayChange}` : ''
      return { sample: 'state', style: state, text: `${stateNames[state]}${more}` } as const
    }),
  ]
}

/** The indicators of all lines: `indicator 600, 612`. */
function indicatorsText(dataset: NamedLine, compared: readonly ComparedLine[], request: PageRequest): string {
  const lines = [dataset, ...compared.flatMap(({ line }) => line ?? [])]
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

/** Draws the chart of a series as a picture, by the address of its page. */
export async function drawSeries(request: PageRequest): Promise<string> {
  const query = new URLSearchParams(request.query)
  if (!query.has('px')) query.set('px', String(COLUMNS))
  const own = { ...request, query }
  const { locale, words, store, now } = own
  const chartQuery = await readChartQuery(own)
  const { dataset, range, asOf } = chartQuery
  const states = await readStates(own, dataset, range)
  const compared = await readCompared(own, chartQuery)
  const chart = await readChart(own, chartQuery, states, compared)
  const { zone, unit, trunc, agg, geoAgg, geoTrunc, seriesId } = dataset
  const { fetchedAt } = await findAsOf(store, seriesId, formatMillis(now * 1000))
  const facts = [
    unit,
    groupingText(own, trunc, agg, geoAgg, geoTrunc),
    `${timeText(zone, range.from)} – ${timeText(zone, range.to)}`,
    asOf && words.series.valuesThen(momentText(zone, asOf.moment)),
  ]
  return pictureText(
    {
      title: `${dataset.indicator} ${placeName(dataset)}`,
      facts: facts.flatMap((fact) => fact || []),
      legend: legendEntries(chart, chartQuery, own),
      body: draw(seriesDrawing(chart), PICTURE_FRAME, ON_WHITE, locale),
      bodyHeight: PICTURE_FRAME.height,
      source: await sourceLines(own, indicatorsText(dataset, compared, own), zone, fetchedAt),
    },
    locale,
  )
}

/** `/series/600.svg`: the chart as a picture, with the parameters of the page. */
export const seriesPicture: Responder = async (request) => ({ type: 'image/svg+xml', body: await drawSeries(request) })
