import { floorTo } from '../../util/time/zone.ts'
import { comparisonFigures, differenceText } from '../charts/comparisonFigures.ts'
import { figure, seriesDrawing } from '../charts/figure.ts'
import { padTwo } from '../client/format.ts'
import { timeText } from '../formats.ts'
import { type Html, type HtmlPart, html, jsonScript } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { placeName, seriesNames } from '../queries/series/compared.ts'
import { counterpartLink } from './counterpart.ts'
import { changeMoments, type Here, type SeriesPageData, seriesTitle } from './seriesData.ts'
import { chooser, fileLinks, geoLinks, rangeLinks } from './seriesForm.ts'
import { chartLegend } from './seriesLegend.ts'

/* The chart of a series with its form and legend, and the heat map. */

/** The alternative text of a chart. */
const chartLabel = ({ dataset: line, range }: SeriesPageData, { words }: PageRequest): string =>
  words.series.label(seriesTitle(line), timeText(line.zone, range.from), timeText(line.zone, range.to))

/** The data that a page embeds for the script of the chart: `EmbeddedData` of embeddedData.ts. */
function embeddedData(data: SeriesPageData, here: Here, request: PageRequest) {
  const { dataset: line, range, chart } = data
  const { words, link, locale } = request
  const { series: labels, common } = words
  const { path, geoId } = line
  return {
    chart,
    label: chartLabel(data, request),
    locale,
    name: placeName(line),
    changes: changeMoments(data, request),
    api: link(`/api/series/${path}/${geoId}`),
    geo: String(geoId),
    with: seriesNames(chart.compared),
    carpet: link(`/api/carpet/${path}/${geoId}`),
    explain: here(range, {}, `/explain/${path}/${geoId}/`),
    words: {
      now: labels.now,
      difference: labels.difference,
      unfinished: labels.unfinished,
      failed: labels.failed,
      explainValue: labels.explainValue,
      zoomIn: labels.zoomIn,
      states: { ...common.states, ...labels.states },
      differ: labels.differ('{0}', '{1}', '{2}'),
      thenValue: labels.thenValue('{}'),
      neverChanged: labels.neverChanged,
      noHour: labels.noHour,
      carpetMuch: labels.carpetMuch,
      carpetSigned: labels.carpetSigned('{0}', '{1}'),
    },
  }
}

/** The slider over past states, for a script. */
function slider({ words: { series: labels, common } }: PageRequest): Html {
  const range = html`<input type="range" id="moment" min="0" step="1" list="moments">`
  const previous = html`<button type="button" aria-label="${common.previous}">‹</button>`
  const next = html`<button type="button" aria-label="${common.next}">›</button>`
  const time = html`<input type="datetime-local" aria-label="${labels.asOf}">`
  const texts = html`<output for="moment"></output> <span></span><datalist id="moments"></datalist>`
  const fields = html`<label>${labels.asOf} ${range}</label>${previous}${next} ${time} ${texts}`
  return html`<div id="slider" class="slider" data-own hidden>${fields}</div>`
}

/** Says that no line has values in the range, or none yet. It is hidden if one has, because the script may show it. */
function nothingText({ dataset: line, range, chart }: SeriesPageData, request: PageRequest): Html {
  const { words, isLive, link, path, now } = request
  const { series: labels } = words
  const lines = [chart.now, chart.before, ...chart.compared.map(({ drawn }) => drawn)]
  const isNothing = lines.every((drawn) => !drawn || drawn.segments.length === 0)
  const isEarly = range.from >= Math.max(line.last ?? 0, floorTo(line.zone, now, 'day'))
  const [style, text] = isEarly ? ['soft', labels.notYet] : ['bad', labels.nothing]
  const newest = isLive && html` <a href="${link(path, { geo: line.geoId })}">${labels.newest}</a>`
  return html`<p class="${style}"${!isNothing && html` hidden`}>${text}${newest}</p>`
}

/** The pictures of a chart, which a script replaces, with its texts at the cursor and after a tap. */
function pictures(data: SeriesPageData, request: PageRequest): Html {
  const { chart } = data
  const drawn = figure(seriesDrawing(chart), chartLabel(data, request), request.locale)
  const tip = html`<div class="tip" aria-hidden="true" hidden></div>`
  const earlierButton = html`<button type="button">${request.words.series.knownBefore}</button>`
  const card = html`<p class="card"><button type="button"></button> ${earlierButton}</p>`
  return html`<div id="chart" data-own>${drawn}${comparisonFigures(chart, request)}${tip}${card}</div>`
}

/** What only the script of the chart needs. */
const scripted = (data: SeriesPageData, here: Here, request: PageRequest): Html => {
  const keys = html`<p id="keys" class="soft">${request.words.series.keys}</p>`
  const embedded = jsonScript('data', embeddedData(data, here, request))
  return html`${slider(request)}<p id="cursor" role="status" data-own></p>${keys}${embedded}`
}

/** The chart: drawn by the server, then again by a script. */
export function chartSection(data: SeriesPageData, here: Here, request: PageRequest): Html {
  const { range, chart, counterpart } = data
  const { words, isLive } = request
  const withNames = (names: string): string => here(range, { with: names })
  return html`<section class="panel" aria-labelledby="chart-title">
<h2 id="chart-title" class="quiet">${words.common.chart}</h2>
${isLive ? rangeLinks(data, here, request) : fileLinks(data, request)}
${isLive ? chooser(data, here, request) : geoLinks(data, request)}
${chartLegend(data, here, request)}
${counterpartLink(counterpart, chart.compared, withNames, request)}
${nothingText(data, request)}
${pictures(data, request)}
${differenceText(chart.difference, request)}
${isLive && scripted(data, here, request)}
</section>`
}

/** The numbers of hours, and the most colours of the heat map. */
const HOURS = [...Array(24).keys()]
const MAX_COLOURS = 10

/** The heat map, which a script draws. A published page has none. */
export function heatMap({ words: { series: labels }, isLive }: PageRequest): HtmlPart {
  if (!isLive) return null
  const hours = HOURS.map((hour) => html`<span>${hour % 6 === 0 && padTwo(hour)}</span>`)
  const canvas = html`<canvas role="img" tabindex="0" aria-label="${labels.carpet}. ${labels.carpetHint}"></canvas>`
  const swatches = HOURS.slice(0, MAX_COLOURS).map(() => html`<span></span>`)
  const scale = html`<p class="soft scale"><b></b> ${swatches} <b></b> <small></small></p>`
  return html`<details id="carpet" class="carpet"><summary>${labels.carpet}</summary><div data-own><p role="status"></p>
<figure hidden><div class="cells"><div class="hours" aria-hidden="true">${hours}</div>${canvas}</div>
<div class="days-axis" aria-hidden="true"></div>${scale}<p role="status"></p></figure></div></details>`
}
