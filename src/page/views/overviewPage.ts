import { DAY, formatUtc } from '../../util/time/instant.ts'
import { valueText } from '../client/format.ts'
import { stateLegend, stripPicture } from '../coveragePictures.ts'
import { type Column, commandLine, messageText, numberedPager, serviceText, table } from '../elements.ts'
import { groupingText, kindText, localText, roughLength } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, type Query, view } from '../page.ts'
import { type Overview, type OverviewLine, readOverview, STRIP_DAYS } from '../queries/overviewData.ts'
import { findingText, type ShownFinding } from './findingText.ts'
import { runsTable } from './runsPage.ts'

/** The series that lack data because of a finding. */
const leftSeries = ({ consequences }: ShownFinding): number =>
  new Set(consequences.flatMap((trouble) => ('gaps' in trouble ? trouble.seriesIds : []))).size

/** Whether the command helps only after somebody has corrected the job. */
const isOfJob = ({ trouble: { kind } }: ShownFinding): boolean =>
  kind === 'geo' || kind === 'no values' || kind === 'unknown id'

/** The findings by their commands. */
function healthSection(data: Overview, request: PageRequest): Html {
  const { home } = request.words
  const { series, fetchingRun, findings, more, tolerated } = data.health
  if (findings.length === 0 && fetchingRun !== null)
    return html`<section class="health"><p class="running"><a href="${request.link(`/runs/${fetchingRun}`)}">${home.fetching}</a></p></section>`
  if (findings.length === 0) {
    const whole = tolerated > 0 ? home.wholeBut(tolerated) : home.whole
    return html`<section class="health"><p class="${series > 0 ? 'good' : 'soft'}">${series > 0 ? whole : home.noSeries}</p></section>`
  }
  const item = (finding: ShownFinding): Html => {
    const left = leftSeries(finding)
    // A published page has no requests and messages of the service.
    const message = request.isLive && messageText(finding.message, request, finding.cause)
    return html`<li>${findingText(finding, data.jobFiles, request)}${left > 0 && ` ${home.left(left)}`}${message}</li>`
  }
  const groups = [...Map.groupBy(findings, (finding) => `${isOfJob(finding)} ${finding.command}`).values()]
  const list = groups.map((group) => {
    const first = group[0]!
    const remedy = request.isLive && first.command !== null && commandLine(first.command)
    return html`<div><ul>${group.map(item)}</ul>${remedy && isOfJob(first) && `${home.thenRun} `}${remedy}</div>`
  })
  const allCommand = request.isLive && commandLine(request.command('check'))
  const others = more > 0 && html`<p>${home.moreFindings(more)}</p>${allCommand}`
  return html`<section class="health problems" aria-label="${home.todo}">${list}${others}</section>`
}

/** How far the values reach; after two months, a date. */
function age({ behindS, late, lastLocal, gaps }: OverviewLine, request: PageRequest): HtmlPart {
  const { home, common } = request.words
  if (behindS === null) return html`<span class="soft">${home.noValue}</span>`
  if (behindS > 60 * DAY && !late && gaps === 0)
    return html`<span class="soft">${home.ended(lastLocal?.slice(0, 10) ?? '')}</span>`
  const length = (seconds: number): string => {
    const text = roughLength(request, seconds)
    return seconds < 0 ? common.ahead(text) : common.ago(text)
  }
  if (!late) return length(behindS)
  return html`<strong class="bad">${length(behindS)} (${home.isLate})</strong>`
}

/** The means of the last days as a small picture. */
function sparkline(trend: OverviewLine['trend']): HtmlPart {
  const values = trend.filter((value) => value !== null)
  if (values.length < 2) return null
  const low = Math.min(...values)
  const high = Math.max(...values)
  const points = trend.flatMap((value, x) => {
    if (value === null) return []
    const y = high === low ? 10 : Math.round((1 - (value - low) / (high - low)) * 180) / 10 + 1
    return [`${(trend[x - 1] ?? null) === null ? 'M' : 'L'}${x} ${y}`]
  })
  const box = html`viewBox="0 0 ${trend.length - 1} 20" preserveAspectRatio="none"`
  return html`<svg class="spark" ${box} aria-hidden="true"><path d="${points.join('')}"/></svg>`
}

/** The query of an address for a geo; none for all. */
const ofGeo = (geo: number | null): Query => (geo === null ? {} : { geo })

function seriesColumns(request: PageRequest): Column<OverviewLine>[] {
  const { words, link, locale, isLive } = request
  const { home, common } = words
  const none = html`<span class="soft">${home.noValue}</span>`
  return [
    [
      common.series,
      ({ path, indicatorId, name, geo, geos, filteredGeo, kind, timeTrunc, geoAgg }) => {
        const place = geos > 1 && filteredGeo === null ? `${geo ?? ''} (${home.geos(geos)})` : geo
        const detail = [kindText(kind, request), groupingText(request, timeTrunc, geoAgg)].filter(Boolean).join(', ')
        return html`<a href="${link(`/series/${path}`, ofGeo(filteredGeo))}">${indicatorId} ${serviceText(name)}</a>
<span class="soft">${detail}${detail && place && ' · '}${serviceText(place)}</span>`
      },
    ],
    [
      home.lastValue,
      ({ value, unit }) =>
        value === null ? none : html`<b>${valueText(value, locale)}</b> <span class="soft">${serviceText(unit)}</span>`,
      'number latest',
    ],
    [
      home.valueAt,
      ({ valueLocal: at }) => at !== null && html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')}</time>`,
      'when',
    ],
    [home.trend, ({ trend }) => sparkline(trend), 'trend'],
    [isLive ? home.behind : home.behindThen, (line) => age(line, request), 'age'],
    [
      home.strip(STRIP_DAYS),
      ({ path, days, gaps, filteredGeo }) => {
        const address = link(`/coverage/${path}`, ofGeo(filteredGeo))
        const gapCount = gaps > 0 && html` <span class="bad">${home.gapCount(gaps)}</span>`
        return html`<a href="${address}">${stripPicture(request, days)}${gapCount}</a>`
      },
      'wide',
    ],
  ]
}

function seriesTable(data: Overview, request: PageRequest): Html {
  const { home } = request.words
  if (data.health.series === 0)
    return html`<p>${home.nothing}</p><p>${commandLine(request.command('sync jobs/nightly.yaml'))}</p>`
  const caption = html`<caption class="quiet">${home.caption(STRIP_DAYS)}</caption>`
  const input = html`<input type="search" name="q" value="${data.filter}" size="24">`
  const fields = html`<label>${home.filter} ${input}</label> <button>${home.find}</button>`
  const shown =
    data.series.length === 0
      ? html`<p>${home.noMatch(data.filter)}</p>`
      : table(home.seriesHeading, data.series, seriesColumns(request), { style: 'series', caption })
  return html`<h2>${home.seriesHeading}</h2>
${request.isLive && html`<form class="question" action="${request.link('/')}">${fields}</form>`}
${shown}
${numberedPager(request, data.page, data.pages)}
${stateLegend(request)}`
}

/** The newest runs, and when jobs run next. */
function runsSection({ runs, next }: Overview, request: PageRequest): HtmlPart {
  if (runs.length === 0) return null
  const { home } = request.words
  const nextRuns = next.map(({ job, at, isDue }) => {
    const text = home[isDue ? 'due' : 'next'](job, localText(request, at))
    return html`<p class="soft">${text}</p>`
  })
  return html`<h2>${home.runsHeading}</h2>${request.isLive && nextRuns}${runsTable(home.runsHeading, runs, request)}`
}

/** `/`: whether the copy is complete and fresh. */
export const overviewView = view({
  read: readOverview,
  title(data, request) {
    const { home } = request.words
    if (data.health.series === 0) return home.empty
    const calm = data.health.fetchingRun === null ? home.upToDate : home.syncing
    const state = data.health.findings.length > 0 ? home.needs : calm
    // A published page does not change.
    return request.isLive ? state : home.stateThen(state, localText(request, formatUtc(request.now)))
  },
  show(data, request) {
    const about = request.words.home[data.isPractice ? 'practice' : 'about'](data.health.series)
    return html`<p class="soft">${about}</p>${healthSection(data, request)}${seriesTable(data, request)}
${runsSection(data, request)}`
  },
})
