import type { Interval } from '../../../util/time/interval.ts'
import { type Html, type HtmlPart, html, jsonScript } from '../../html.ts'
import { type PageRequest, type Query, view } from '../../page.ts'
import type { ChartData } from '../../queries/series/chart.ts'
import type { NamedGeoSeries } from '../../queries/series/geoSeries.ts'
import { borderText, SPANS } from '../../queries/series/range.ts'
import { readSeriesPage, type SeriesData } from '../../queries/series/seriesPage.ts'
import { mostText } from '../numbers.ts'
import { lengthText, momentText, timeText } from '../times.ts'
import { type FigureLine, figure } from './figure.ts'
import { openIntervals, rowsTable } from './seriesTable.ts'

const seriesTitle = ({ indicator, name }: NamedGeoSeries): string => `${indicator} ${name}`

/** The grouping of a series, in words. */
const grouping = ({ trunc, agg, geoAgg, geoTrunc }: NamedGeoSeries, { words }: PageRequest): string =>
  [trunc === null ? null : (words.common.steps[trunc] ?? trunc), agg, geoAgg, geoTrunc]
    .filter((word) => word !== null)
    .join(', ') || words.common.native

/** Addresses of this page with some parameters changed. */
function linker({ dataset }: SeriesData, { link, query, path }: PageRequest) {
  const kept: Query = {
    geo: dataset.geoId,
    asof: query.get('asof') ?? undefined,
    with: query.get('with') ?? undefined,
  }
  return (range: Interval, changed: Query = {}, to = path): string => {
    const [from, end] = [range.from, range.to].map((at) => borderText(dataset.zone, at)) as [string, string]
    return link(to, { ...kept, from, to: end, ...changed })
  }
}

type Here = ReturnType<typeof linker>

/** Earlier and later, and the calendar spans. */
function spans({ neighbours }: SeriesData, here: Here, { words: { series: words } }: PageRequest): Html {
  const one = (span: (typeof SPANS)[number]): HtmlPart =>
    html`<a href="${here(neighbours.spans[span])}"${neighbours.span === span && html` aria-current="true"`}>${words.spans[span]}</a> `
  return html`<nav class="spans" data-part="spans" aria-label="${words.range}">
<a rel="prev" href="${here(neighbours.previous)}">‹ ${words.previous}</a>
${SPANS.map(one)}
<a rel="next" href="${here(neighbours.next)}">${words.next} ›</a>
</nav>`
}

/** The moments at which what was known changed, in words. */
const momentsOf = ({ changes, dataset }: SeriesData, { words: { series: words }, locale }: PageRequest) =>
  changes.map(({ at, run, brought, replaced, exact }) => ({
    at,
    text: `${momentText(dataset.zone, at)} · ${words.run(run)} · ${words.change(mostText({ locale }, Math.max(brought, replaced), exact))}`,
  }))

/** The form of what can be chosen: all of it goes into the address, with and without scripts. */
function chooser(data: SeriesData, request: PageRequest): Html {
  const { query, path } = request
  const { series: words } = request.words
  const { dataset, range, asOf } = data
  const { zone } = dataset
  const moments = momentsOf(data, request)
  // What is wrong stays in its field.
  const borderOf = (name: string, at: number): string =>
    data.problem === null ? borderText(zone, at) : (query.get(name) ?? '')
  // A moment between two changes is listed separately.
  const others =
    asOf && !moments.some(({ at }) => at === asOf.moment)
      ? [{ at: asOf.moment, text: momentText(zone, asOf.moment) }]
      : []
  const all = [...moments, ...others].sort((a, b) => (a.at < b.at ? -1 : 1))
  return html`<form class="choose" method="get" action="${path}">
<label>${words.geo} <select name="geo">${dataset.geos.map(
    ({ id, name }) => html`<option value="${id}"${id === dataset.geoId && html` selected`}>${name ?? id}</option>`,
  )}</select></label>
<label>${words.from} <input name="from" size="10" value="${borderOf('from', range.from)}"></label>
<label>${words.to} <input name="to" size="10" value="${borderOf('to', range.to)}"></label>
<label>${words.asOf} <select name="asof" id="asof">${all.map(
    ({ at, text }) => html`<option value="${at}"${asOf?.moment === at && html` selected`}>${text}</option>`,
  )}<option value=""${asOf === null && html` selected`}>${words.now}</option></select></label>
<label>${words.with} <input name="with" size="8" inputmode="numeric" value="${query.get('with') ?? ''}" aria-describedby="with-hint"></label>
<button>${words.show}</button>
<small id="with-hint" class="soft">${words.withHint}</small>
</form>`
}

/** The geos, each with its own page, for a page without a server, which has no form. */
const geoLinks = ({ dataset }: SeriesData, { words, link, path }: PageRequest): HtmlPart =>
  dataset.geos.length > 1 &&
  html`<nav class="spans" aria-label="${words.series.geo}">${dataset.geos.map(
    ({ id, name }) =>
      html`<a href="${link(path, { geo: id })}"${id === dataset.geoId && html` aria-current="true"`}><bdi>${name ?? id}</bdi></a> `,
  )}</nav>`

/** The lines of a chart: past values are drawn over the current ones. */
const linesOf = ({ now, before, second }: ChartData): FigureLine[] => [
  ...(second ? [{ drawn: second.drawn, style: 'second' as const }] : []),
  { drawn: now, style: 'now' },
  ...(before ? [{ drawn: before, style: 'then' as const }] : []),
]

const chartLegend = (
  { chart, dataset, asOf }: SeriesData,
  { words: { series: words } }: PageRequest,
): Html => html`<ul class="legend" data-part="legend">
<li class="now">${words.values}${dataset.unit && ` (${dataset.unit})`}</li>
${asOf && html`<li class="then">${words.valuesThen(momentText(dataset.zone, asOf.moment))}</li>`}
<li class="band" id="bucket" data-own hidden></li>
${chart.second && html`<li class="second"><bdi>${chart.second.name}</bdi>${chart.second.geo && `, ${chart.second.geo}`}${chart.second.unit && ` (${chart.second.unit})`}</li>`}
</ul>`

/** The picture: drawn by the server, and again by the script, which makes it interactive. */
function picture(data: SeriesData, request: PageRequest): Html {
  const { dataset, range, chart } = data
  const { words, live, link } = request
  const [from, to] = [timeText(dataset.zone, range.from), timeText(dataset.zone, range.to)]
  const label = words.series.label(seriesTitle(dataset), from, to)
  const isNothing = linesOf(chart).every(({ drawn }) => drawn.segments.length === 0)
  const { series: labels } = words
  const given = {
    chart,
    label,
    locale: request.locale,
    changes: momentsOf(data, request),
    api: link(`/api/series/${dataset.path}/${dataset.geoId}`),
    carpet: link(`/api/carpet/${dataset.path}/${dataset.geoId}`),
    explain: link(`/explain/${dataset.path}/${dataset.geoId}/`),
    words: {
      asOf: labels.asOf,
      now: labels.now,
      earlier: labels.previous,
      later: labels.next,
      failed: labels.failed,
      states: labels.states,
      differ: labels.differ('{}'),
      bucket: labels.bucket('{}'),
      thenValue: labels.thenValue('{}'),
      noHour: labels.noHour,
      carpetMuch: labels.carpetMuch,
      carpetHint: labels.carpetHint,
      carpet: labels.carpet,
    },
  }
  return html`<section aria-labelledby="chart-title">
<h2 id="chart-title">${words.series.chart}</h2>
${chartLegend(data, request)}
<p class="bad"${!isNothing && html` hidden`}>${words.series.nothing}</p>
<div id="chart" data-own>${figure({ range, offsets: chart.offsets, lines: linesOf(chart), states: chart.states, label, locale: request.locale })}</div>
${live && html`<div id="slider" class="slider" data-own></div><p id="cursor" role="status" data-own></p><p id="keys" class="soft">${words.series.keys}</p>${jsonScript('data', given)}`}
</section>`
}

/** Where the step of the values changes, in words. */
const stepChanges = ({ chart, dataset }: SeriesData, { words }: PageRequest): HtmlPart =>
  chart.steps.map(
    ([at, step]) => html`<p class="soft">${words.series.steps(timeText(dataset.zone, at), lengthText(step))}</p>`,
  )

/** Commands and SQL that give the same elsewhere, to copy. */
function elsewhere({ dataset, range, sql, command }: SeriesData, here: Here, request: PageRequest): Html {
  const { words, live, link } = request
  const csv = here(range, {}, `/api/csv/${dataset.path}/${dataset.geoId}`)
  return html`<section data-part="same" aria-labelledby="same">
<h2 id="same">${words.series.same}</h2>
${
  live &&
  html`<ul>
<li><a href="${csv}">${words.series.csv}</a></li>
<li><a href="${here(range, { asof: undefined, with: undefined }, `/series/${dataset.path}/vintages`)}">${words.series.versions}</a></li>
</ul>`
}
${command !== null && html`<p>${words.series.command}</p><pre>${request.command(command)}</pre>`}
<p>${words.series.sql}${live && html` · <a href="${link('/sql', { sql })}">/sql</a>`}</p><pre>${sql}</pre>
</section>`
}

function show(data: SeriesData, request: PageRequest): Html {
  const { dataset } = data
  const { words, live } = request
  const here = linker(data, request)
  const held =
    dataset.first !== null && dataset.last !== null
      ? words.series.held(timeText(dataset.zone, dataset.first), timeText(dataset.zone, dataset.last))
      : words.series.nothing
  return html`<p class="soft"><bdi>${dataset.geo.name ?? dataset.geo.id}</bdi> · ${dataset.unit && html`<bdi>${dataset.unit}</bdi> · `}${grouping(dataset, request)} · ${held}</p>
${live && spans(data, here, request)}
${data.problem !== null && html`<p class="bad" role="alert">${words.series.problems[data.problem.code]}</p>`}
${live ? chooser(data, request) : geoLinks(data, request)}
${picture(data, request)}
<div data-part="open">${stepChanges(data, request)}${openIntervals(data, request)}</div>
${live && html`<details id="carpet" class="carpet"><summary>${words.series.carpet}</summary><div data-own></div></details>`}
${rowsTable(data, here, request)}
${elsewhere(data, here, request)}`
}

/** The page of a series: its values, current and past. */
export const seriesView = view<SeriesData>({
  read: readSeriesPage,
  status: ({ problem }) => (problem === null ? 200 : problem.code === 'not-found' ? 404 : 400),
  show,
  title: ({ dataset }) => `${seriesTitle(dataset)}${dataset.geo.name === null ? '' : ` · ${dataset.geo.name}`}`,
})
