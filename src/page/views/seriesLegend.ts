import { localDate } from '../../util/time/zone.ts'
import { SIGNS, valueText } from '../client/format.ts'
import { serviceText } from '../elements.ts'
import { momentText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest, Query } from '../page.ts'
import { placeName, seriesNames } from '../queries/series/compared.ts'
import { moveByShift } from '../queries/series/seriesQuery.ts'
import { coveredText, type Here, type SeriesPageData } from './seriesData.ts'

/* The legend of the chart of a series. */

type ChartLegendData = Pick<SeriesPageData, 'chart' | 'dataset' | 'asOf' | 'range' | 'comparedFigures' | 'changes'>

/** The past moment of a chart in words; null for the present. */
const asKnownText = ({ dataset: line, asOf }: ChartLegendData, { words }: PageRequest): string | null =>
  asOf && words.series.valuesThen(momentText(line.zone, asOf.moment))

const inBrackets = (unit: string | null): HtmlPart => unit && ` (${unit})`

/** A link that removes a line by changing the address. */
function removeLink(address: string, name: string, { isLive, words }: PageRequest): HtmlPart {
  return isLive && html` <a class="remove" href="${address}" aria-label="${words.common.remove(name)}">×</a>`
}

/** The entry of the first line. */
function mainEntry(data: ChartLegendData, { words }: PageRequest): Html {
  const { chart, dataset: line, asOf } = data
  const name = chart.compared.length > 0 ? serviceText(placeName(line)) : words.series.values
  return html`<li class="now${asOf && ' faint'}">${name}${inBrackets(chart.unit)}</li>`
}

/** The entry of the past values; if there are none, it says since when values are stored. */
function pastEntry(data: ChartLegendData, request: PageRequest): HtmlPart {
  const { chart, dataset: line, changes } = data
  const { series: labels } = request.words
  const asKnown = asKnownText(data, request)
  if (asKnown === null) return null
  const [first] = changes
  const storedSince = first && ` ${labels.storedSince(momentText(line.zone, first.at))}`
  const isEmpty = chart.before?.segments.length === 0
  return html`<li class="then">${asKnown}${isEmpty && html` <span class="bad">${labels.noValues}</span>${storedSince}`}</li>`
}

/** The entry of a state that the chart shades; `more`: what the state means. */
function stateEntry(
  state: 'provisional' | 'withdrawn',
  more: string,
  { chart }: ChartLegendData,
  { words: { common } }: PageRequest,
): HtmlPart {
  if (!chart.states.some(([, , shaded]) => shaded === state)) return false
  const sign = html`<span class="cell ${state}" aria-hidden="true">${SIGNS[state]}</span>`
  return html`<li>${sign} ${common.states[state]}${more}</li>`
}

/** Says that a compared line has no values, with a link to where they can be fetched. */
function noValues(compared: ChartLegendData['chart']['compared'][number], data: ChartLegendData, request: PageRequest) {
  const { series: labels } = request.words
  const { line, path } = compared
  const from = line.shift ? moveByShift(line.zone, data.range.from, line.shift) : data.range.from
  const year = localDate(data.dataset.zone, from).slice(0, 4)
  const coverage = request.link(
    `/coverage/${path ?? data.dataset.path}`,
    request.isLive ? { geo: line.geoId, year } : {},
  )
  return html` <span class="bad">${labels.noValues}</span> <a href="${coverage}">${labels.mend}</a>`
}

/** The mean or sum of a compared line, in words. */
function figureText(i: number, { chart, comparedFigures }: ChartLegendData, request: PageRequest): string | null {
  const { series: labels } = request.words
  const { unit, valueUnit, line } = chart.compared[i]!
  const { value, share } = comparedFigures[i]!
  if (typeof value !== 'number') return null
  const label = (line.measure === 'energy' ? labels.sum : labels.mean).toLowerCase()
  const ownUnit = valueUnit === unit ? '' : ` ${valueUnit}`
  return ` · ${label} ${valueText(value, request.locale)}${ownUnit}${coveredText(share, request)}`
}

/** The entry of a compared line, which can be removed. */
function comparedEntry(i: number, data: ChartLegendData, here: Here, request: PageRequest): Html {
  const { compared } = data.chart
  const line = compared[i]!
  const { name, unit, path, drawn } = line
  const title =
    path === null ? html`<bdi>${name}</bdi>` : html`<a href="${request.link(`/series/${path}`)}"><bdi>${name}</bdi></a>`
  const asKnown = asKnownText(data, request)
  const others = seriesNames(compared.filter((other) => other !== line)) || undefined
  const without: Query = path === null ? { shift: undefined } : { with: others }
  return html`<li class="with-${i}">${[
    title,
    inBrackets(unit),
    asKnown && ` ${asKnown}`,
    figureText(i, data, request),
    drawn.segments.length === 0 && noValues(line, data, request),
    removeLink(here(data.range, without), name, request),
  ]}</li>`
}

/** The entry of the difference, which can be removed. */
function differenceEntry({ chart, dataset: line, range }: ChartLegendData, here: Here, request: PageRequest): HtmlPart {
  if (chart.difference === null) return null
  const { name } = chart.difference
  const remove = removeLink(here(range, { difference: undefined }), name, request)
  return html`<li class="difference"><bdi>${name}</bdi>${inBrackets(line.unit)}${remove}</li>`
}

/** The legend of a chart: its lines, the band of a summary, and states. */
export function chartLegend(data: ChartLegendData, here: Here, request: PageRequest): Html {
  const { common } = request.words
  const { bucket, compared } = data.chart
  return html`<ul class="legend" data-part="legend">
${mainEntry(data, request)}
${pastEntry(data, request)}
<li class="band" id="bucket" data-own${bucket === null && html` hidden`}>${bucket}</li>
${stateEntry('provisional', `, ${common.mayChange}`, data, request)}
${stateEntry('withdrawn', '', data, request)}
${compared.map((_, i) => comparedEntry(i, data, here, request))}
${differenceEntry(data, here, request)}
</ul>`
}
