import { formatUtc, parseInstant } from '../../util/time/instant.ts'
import { localDate } from '../../util/time/zone.ts'
import { lengthText, SIGNS, valueText } from '../client/format.ts'
import { command, facts, serviceText } from '../elements.ts'
import { daysText, groupingText, momentText, roughLength, timeText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { placeName } from '../queries/series/compared.ts'
import { unitOfExtremes } from '../queries/series/lines.ts'
import { causeLinks } from './causeLinks.ts'
import { lackingText } from './lackingText.ts'
import { revisionsSection } from './revisionsPage.ts'
import { chartSection, heatMap } from './seriesChart.ts'
import {
  coveredText,
  type Here,
  linker,
  MAX_LISTED_INTERVALS,
  readSeriesPage,
  type SeriesPageData,
  seriesTitle,
} from './seriesData.ts'
import { seriesNotes } from './seriesNotes.ts'
import { rowsTable } from './seriesTable.ts'

/** The value now, or the past moment of the page; and the mean and the extremes of the range. */
function keyFigures({ latest, asOf, range, figures, dataset: line }: SeriesPageData, request: PageRequest): Html {
  const { mean, sum, share, low, high } = figures
  const { unit, zone, measure } = line
  const { locale, words, now } = request
  const { series: labels } = words
  const value = (number: number | null | undefined, detail?: HtmlPart, of = unit): HtmlPart =>
    typeof number === 'number' && html`${valueText(number, locale)} <span class="soft">${of} ${detail}</span>`
  // An energy value only makes sense with its period length.
  const period = ({ at, step }: { readonly at: number; readonly step: number | null }): string =>
    `${timeText(zone, at)}${measure === 'energy' && step !== null ? `, ${lengthText(step)}` : ''}`
  const days = `${daysText(request, range.from, range.to)}${coveredText(share, request)}`
  const isOver = latest !== null && latest.at + latest.step_s <= now
  const latestLabel = isOver ? labels.lastValue : labels.latest
  const fetchedAt = asOf?.fetchedAt && labels.fetchedAt(momentText(zone, asOf.fetchedAt))
  const main =
    asOf === null
      ? value(latest?.value, latest && period({ at: latest.at, step: latest.step_s }))
      : html`${momentText(zone, asOf.moment)} <span class="soft">${fetchedAt}</span>`
  return facts([
    [asOf !== null ? labels.asOf : latestLabel, main, 'main'],
    // Energies of periods that may differ have no mean.
    measure === 'energy' ? [labels.sum, value(sum, days)] : [labels.mean, value(mean, days)],
    [labels.low, value(low?.value, low && period(low), unitOfExtremes(line))],
    [labels.high, value(high?.value, high && period(high), unitOfExtremes(line))],
  ])
}

/** How far the values reach; if newer ones are missing, why, and what requests them. A published page does not know the time. */
function freshnessLine({ freshness, lacking, dataset: line }: SeriesPageData, request: PageRequest): HtmlPart {
  if (lacking !== null) return html`<p class="bad">${lackingText(lacking, lacking.jobFiles, request)}</p>`
  if (freshness === null || !request.isLive) return null
  const { endAt, usualS, missing } = freshness
  const { series: labels, common } = request.words
  const behindS = request.now - endAt
  const length = roughLength(request, behindS)
  const usual = usualS === null ? null : roughLength(request, Math.abs(usualS))
  const usually = usual !== null && usualS !== null && labels.usually(usualS < 0 ? common.ahead(usual) : usual)
  if (missing === null) {
    const age = behindS < 0 ? common.ahead(length) : common.ago(length)
    const ticking = behindS >= 0 && html` data-ago`
    const title = timeText(line.zone, endAt)
    const time = html`<time${ticking} datetime="${formatUtc(endAt)}" title="${title}">${age}</time>`
    return html`<p class="soft">${labels.lastValue} ${time}</p>`
  }
  const states = { ...common.states, ...labels.states }
  const text = [`${states[missing.state]}: ${length}`, usually].filter(Boolean).join(', ')
  const closing = missing.command !== null && command(request.command(missing.command))
  return html`<p class="warn">${text}</p>${closing}`
}

/** Commands and SQL for the same data. */
function elsewhere({ dataset: line, range, sql, commands }: SeriesPageData, here: Here, request: PageRequest): Html {
  const { words, isLive, link } = request
  const { series: labels } = words
  const csv = here(range, {}, `/api/csv/${line.path}/${line.geoId}`)
  const lines = commands.map((command) => `${request.command(command)}\n`)
  const sqlLink = isLive && html` · <a href="${link('/sql', { sql })}">/sql</a>`
  return html`<section data-part="same" aria-labelledby="same">
<h2 id="same">${words.common.same}</h2>
${isLive && html`<p><a href="${csv}">${labels.csv}</a></p>`}
${commands.length > 0 && html`<p>${labels.command}</p><pre>${lines}</pre>`}
<p>${labels.sql}${sqlLink}</p><pre>${sql}</pre>
</section>`
}

/** A line with the parts of the range that are not final; `causes`: the last requests for the first of them. */
type OpenLine = SeriesPageData['compared'][number] & { readonly causes?: SeriesPageData['causes'] }

/** An interval that is not final: its state, its times, the number of missing values, and when it is requested again. */
function intervalItem(interval: OpenLine['open'][number], zone: string, cause: HtmlPart, request: PageRequest): Html {
  const { from, to, state, missing, nextAt } = interval
  const { series: labels, common } = request.words
  const states = { ...common.states, ...labels.states }
  const sign = html`<span class="mark state-${state}" aria-hidden="true">${SIGNS[state]}</span>`
  const isNextLater = nextAt !== null && parseInstant(nextAt) > request.now
  const next = nextAt && (isNextLater ? labels.again(momentText(zone, nextAt)) : labels.due)
  const text = [
    `${states[state]}: ${timeText(zone, from)} – ${timeText(zone, to)}`,
    ...(missing === null ? [] : [labels.missing(missing)]),
    ...(next ? [next] : []),
  ].join(' · ')
  return html`<li>${sign} ${text} ${cause}</li>\n`
}

/** The missing and provisional intervals of a line, and where to read about them. */
function lineIntervals(
  { open, causes, path, geoId }: OpenLine,
  { dataset: { zone }, range }: SeriesPageData,
  request: PageRequest,
): Html {
  const { words, link, isLive } = request
  const { series: labels } = words
  const items = open.slice(0, MAX_LISTED_INTERVALS).map((interval, i) => {
    const cause = interval.state !== 'provisional' && causeLinks(causes?.[i] ?? null, request)
    return intervalItem(interval, zone, cause, request)
  })
  const year = localDate(zone, range.from).slice(0, 4)
  const coverage = link(`/coverage/${path}`, isLive ? { geo: geoId, year } : {})
  return html`<ul class="intervals">${items}</ul>
${open.length > MAX_LISTED_INTERVALS && html`<p>${labels.more(open.length - MAX_LISTED_INTERVALS)}</p>`}
<p><a href="${coverage}">${labels.mend}</a></p>`
}

/** The missing and provisional intervals of every line. */
function openIntervals(data: SeriesPageData, request: PageRequest): HtmlPart {
  const { open, causes, dataset: line, compared } = data
  const lines: OpenLine[] = [{ name: placeName(line), path: line.path, geoId: line.geoId, open, causes }, ...compared]
  const listed = lines.filter((each) => each.open.length > 0)
  if (listed.length === 0) return null
  return html`<section aria-labelledby="open">
<h2 id="open">${request.words.series.open}</h2>
${listed.map((each) => [
  compared.length > 0 && html`<h3><bdi>${each.name}</bdi></h3>`,
  lineIntervals(each, data, request),
])}
</section>`
}

/** The geo, the unit, the grouping and the times of a series, with a link to its description. */
function seriesFacts({ dataset: line }: SeriesPageData, request: PageRequest): Html {
  const { words, isLive, link } = request
  const { series: labels, common } = words
  const { zone, kind, indicator, name, first, last, geo, unit, trunc, agg, geoAgg, geoTrunc } = line
  const parts: HtmlPart[] = [
    geo.name === null && `${common.geo} ${geo.id} · `,
    unit && html`<bdi>${unit}</bdi> · `,
    `${groupingText(request, trunc, agg, geoAgg, geoTrunc) || common.native} · `,
    first !== null && last !== null ? labels.covers(timeText(zone, first), timeText(zone, last)) : labels.nothing,
  ]
  const isDescribed = isLive && name !== `${kind} ${indicator}`
  const description = isDescribed && html` · <a href="${link(`/texts/${kind}/${indicator}`)}">${labels.description}</a>`
  return html`<p class="soft">${parts}${description}</p>`
}

/** A mistake in the form: its text, the unknown name, and links to the series that an ambiguous name may mean. */
function problemText(problem: SeriesPageData['problems'][number], { range }: SeriesPageData, here: Here): Html {
  const { text, leftOut, offered } = problem
  const name = leftOut !== null && html` <bdi>${leftOut}</bdi>`
  const offers = offered.map(
    (series) => html` <a href="${here(range, { with: series.with })}">${serviceText(series.name)}</a>`,
  )
  return html`<p class="bad" role="alert">${text}${name}${offers}</p>`
}

/** The changes of the step in the range, and the intervals that are not final. */
function openPart(data: SeriesPageData, request: PageRequest): Html {
  const { chart, dataset: line } = data
  const steps = chart.steps.map(([at, step]) => {
    const text = request.words.series.steps(timeText(line.zone, at), lengthText(step))
    return html`<p class="soft">${text}</p>`
  })
  return html`<div data-part="open">${steps}${openIntervals(data, request)}</div>`
}

/** What each run changed. */
function revisionsPart(
  { dataset: line, range, revisions }: SeriesPageData,
  here: Here,
  request: PageRequest,
): HtmlPart {
  return revisions && revisionsSection({ line, range, revisions, here: (changed) => here(range, changed) }, request)
}

/** `/series/600`: the current and past values of a series. */
export const seriesView = view({
  read: readSeriesPage,
  status({ problems: [first] }) {
    if (first === undefined) return 200
    return first.code === 'not-found' ? 404 : 400
  },
  title: ({ dataset: line }) => `${seriesTitle(line)}${line.geo.name === null ? '' : ` · ${line.geo.name}`}`,
  show(data, request) {
    const here = linker(data, request)
    return html`<div data-part="reach">${freshnessLine(data, request)}</div>${seriesFacts(data, request)}
${keyFigures(data, request)}
${data.problems.map((problem) => problemText(problem, data, here))}
<div data-part="notes">${seriesNotes(data, request)}</div>
${chartSection(data, here, request)}
${openPart(data, request)}
${heatMap(request)}
${rowsTable(data, here, request)}
<div data-part="revisions">${revisionsPart(data, here, request)}</div>
${elsewhere(data, here, request)}`
  },
})
