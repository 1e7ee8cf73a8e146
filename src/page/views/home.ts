import type { IncompleteRun } from '../../reports/lastRuns.ts'
import { shellWord, visible } from '../../util/text.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type Home, readHome, type SeriesLine, STRIP_DAYS } from '../queries/home.ts'
import { commandLine, groupingText, jobFile, kindText, outcomeMark, pager, scrolled, serviceText } from './elements.ts'
import { valueText } from './numbers.ts'
import { stateLegend, stripPicture } from './strip.ts'
import { localText, roughLength, timeElement } from './times.ts'

/** Commands that take a job. */
const OF_JOB = ['plan', 'sync', 'validate', 'backfill', 'restate']

/** The command that a hint names, with its job; a retry where it names none. */
function commandIn(hint: string | null, job: string | null, files: Home['jobFiles']): string {
  const [, command] = /(?<![\w-])indicator-sync ((?:[a-z]+)(?: --?[\w-]+)*)/.exec(hint ?? '') ?? []
  if (command === undefined) return 'retry'
  const [name = ''] = command.split(' ')
  if (!OF_JOB.includes(name)) return command
  return `${name} ${jobFile(files, job ?? 'nightly')}${command.slice(name.length)}`
}

/** A range of time in the days that it touches: `14–16 Nov`. */
function daysText({ locale, service, now }: PageRequest, from: number, to: number): string {
  const isThisYear = to > now - 300 * 86_400
  const format = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
    timeZone: service.timeZone,
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
  return format.formatRange(from * 1000, Math.max(from, to - 1) * 1000)
}

interface Problem {
  readonly text: HtmlPart
  /** The arguments of the command that repairs it. */
  readonly command: string
}

/** What is wrong, the worst first. */
function problems({ health, failures, jobFiles }: Home, request: PageRequest): Problem[] {
  const { link, words } = request
  const { home } = words
  const sync = (job: string): string => `sync ${jobFile(jobFiles, job)}`
  const runProblem = ({ run, job, command }: IncompleteRun, text: string): Problem => ({
    text: html`<a href="${link(`/runs/${run}`)}">${text}</a>`,
    command: command === 'schedule' || OF_JOB.includes(command) ? sync(job) : command,
  })
  const gapProblem = (gap: Home['health']['gaps'][number]): Problem => ({
    text: html`<a href="${link(`/coverage/${gap.path}`)}">${gap.indicatorId} ${serviceText(gap.name)}</a>: ${home.gap(
      gap.reason,
      // Of a geo on average: each may lack the same days.
      roughLength(request, gap.seconds / gap.geos),
      daysText(request, gap.from, gap.to),
    )}`,
    command:
      gap.reason === 'absent' ? 'gaps' : gap.reason !== 'never requested' ? 'retry' : gap.job ? sync(gap.job) : 'gaps',
  })
  return [
    ...health.failedRuns.map((one) => runProblem(one, home.failedRun(one.job))),
    ...health.unfinishedRuns.map((one) => runProblem(one, home.unfinishedRun(one.job))),
    ...(health.failures > 0 ? [{ text: home.failures(health.failures), command: 'retry' }] : []),
    // Requests and messages of the service are only for users who can act on them.
    ...(request.live ? failures : []).map(({ target, message, hint, next_at, job }) => ({
      text: html`<code>${visible(target)}</code> <bdi lang="en">${message}</bdi> ${next_at !== null && home.after(localText(request, next_at))}`,
      command: commandIn(hint, job, jobFiles),
    })),
    ...health.gaps.map(gapProblem),
    ...(health.moreGaps > 0 ? [{ text: home.moreGaps(health.moreGaps), command: 'gaps' }] : []),
    ...health.missed.map(({ job, lastAt, usualS }) => ({
      text: home.missed(job, localText(request, lastAt), roughLength(request, usualS)),
      command: sync(job),
    })),
    ...(health.late > 0 ? [{ text: home.late(health.late), command: 'check' }] : []),
    ...(health.quarantined > 0
      ? [
          {
            text: html`<a href="${link('/quarantine')}">${home.quarantined(health.quarantined)}</a>`,
            command: 'quarantine list',
          },
        ]
      : []),
  ]
}

/** Problems, each command once. */
function healthSection(data: Home, request: PageRequest): Html {
  const { home } = request.words
  const found = problems(data, request)
  if (found.length === 0)
    return html`<section class="health"><p class="${data.health.series > 0 ? 'good' : 'soft'}">${home.whole(data.health.series)}</p></section>`
  const groups = [...Map.groupBy(found, ({ command }) => command)]
  return html`<section class="health problems" aria-label="${home.todo}">${groups.map(
    ([command, some]) =>
      html`<div><ul>${some.map(({ text }) => html`<li>${text}</li>`)}</ul>${request.live && commandLine(request.command(command))}</div>`,
  )}</section>`
}

/** How old the lakes are, and the command that updates one that is behind. */
function lakes({ lakes: all }: Home, request: PageRequest): HtmlPart {
  const { home, common } = request.words
  if (all.length === 0) return null
  const lakeText = (state: Home['lakes'][number]['state']): HtmlPart => {
    if (state === null) return home.noLake
    if (typeof state === 'string') return html`<span lang="en">${visible(state)}</span>`
    const length = common.ago(roughLength(request, request.now - Date.parse(state.synced_at) / 1000))
    return home.lake(length, state.fetches_behind)
  }
  return html`<ul class="lakes">${all.map(({ folder, state }) => {
    const isFresh = state !== null && typeof state === 'object' && state.fetches_behind === 0
    return html`<li>${home.lakeName} <code>${visible(folder)}</code>: ${lakeText(state)} ${!isFresh && commandLine(request.command(`lake sync ${shellWord(folder)}`))}</li>\n`
  })}</ul>`
}

/** How long ago the last value ended, and how long that usually is. */
function age({ behindS, usualS, late }: SeriesLine, request: PageRequest): HtmlPart {
  const { home, common } = request.words
  if (behindS === null) return html`<span class="soft">${home.noValue}</span>`
  const length = roughLength(request, behindS)
  return html`${late ? html`<strong class="bad">${length} (${home.isLate})</strong>` : behindS < 0 ? common.ahead(length) : length}${
    usualS !== null &&
    html` <span class="soft">${home.usual} ${usualS < 0 ? common.ahead(roughLength(request, usualS)) : roughLength(request, usualS)}</span>`
  }`
}

/** The means of the last days as a small picture; decoration, because the page of the series says the same. */
function sparkline(trend: SeriesLine['trend']): HtmlPart {
  const values = trend.filter((value) => value !== null)
  if (values.length < 2) return null
  const [low, high] = [Math.min(...values), Math.max(...values)]
  let path = ''
  for (const [x, value] of trend.entries())
    if (value !== null) {
      const y = high === low ? 10 : Math.round((1 - (value - low) / (high - low)) * 180) / 10 + 1
      path += `${x > 0 && trend[x - 1] !== null && path !== '' ? 'L' : 'M'}${x} ${y}`
    }
  return html`<svg class="spark" viewBox="0 0 ${trend.length - 1} 20" preserveAspectRatio="none" aria-hidden="true"><path d="${path}"/></svg>`
}

function seriesRow(line: SeriesLine, request: PageRequest): Html {
  const { words, link, locale } = request
  const { home } = words
  const geo = line.geo ?? (line.geos > 1 ? home.geos(line.geos) : null)
  const detail = [kindText(line.kind, request), groupingText(request, line)].filter((part) => part).join(', ')
  return html`<tr><th scope="row"><a href="${link(`/series/${line.path}`)}">${line.indicatorId} ${serviceText(line.name)}</a>
<span class="soft">${detail} ${serviceText(geo)}</span></th>
<td class="number latest">${line.value === null ? html`<span class="soft">${home.noValue}</span>` : html`<b>${valueText(line.value, locale)}</b> <span class="soft">${serviceText(line.unit)}</span>`}</td>
<td class="when">${line.valueLocal !== null && html`<time datetime="${line.valueLocal}">${line.valueLocal.slice(0, 16).replace('T', ' ')}</time>`}</td>
<td>${sparkline(line.trend)}</td><td class="age">${age(line, request)}</td>
<td class="wide"><a href="${link(`/coverage/${line.path}`)}">${stripPicture(request, line.days)}${line.gaps > 0 && html` <span class="bad">${home.gapCount(line.gaps)}</span>`}</a></td></tr>\n`
}

function seriesTable(data: Home, request: PageRequest): Html {
  const { home, common } = request.words
  const { live, link } = request
  if (data.health.series === 0)
    return html`<p>${home.nothing}</p><p>${commandLine(request.command('sync jobs/nightly.yaml'))}</p>`
  const heads = [home.lastValue, home.valueAt, home.trend, live ? home.behind : home.behindThen, home.strip(STRIP_DAYS)]
  return html`<h2>${home.seriesHeading}</h2>
${live && html`<form class="question" action="${link('/')}"><label>${home.filter} <input type="search" name="q" value="${data.filter}" size="24"></label> <button>${home.find}</button></form>`}
${data.series.length === 0 && html`<p>${home.noMatch(data.filter)}</p>`}
${scrolled(
  home.seriesHeading,
  html`<table class="series"><caption class="quiet">${home.caption(STRIP_DAYS)}</caption>
<thead><tr><th scope="col">${common.series}</th>${heads.map((head, i) => html`<th scope="col"${i === 0 && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody>${data.series.map((line) => seriesRow(line, request))}</tbody></table>`,
)}
${pager(request, data.page, data.pages)}
${stateLegend(request)}`
}

function runsTable({ runs }: Home, request: PageRequest): HtmlPart {
  const { home } = request.words
  if (runs.length === 0) return null
  const heads = [
    home.run,
    home.command,
    home.job,
    home.began,
    home.outcome,
    home.requests,
    home.failed,
    home.fresh,
    home.revised,
  ]
  const number = request.words.common.number
  return html`<h2>${home.runsHeading}</h2>
${scrolled(
  home.runsHeading,
  html`<table><thead><tr>${heads.map((head, i) => html`<th scope="col"${i > 4 && html` class="number"`}>${head}</th>`)}</tr></thead><tbody>
${runs.map(
  (
    run,
  ) => html`<tr><th scope="row"><a href="${request.link(`/runs/${run.id}`)}">${run.id}</a></th><td>${run.command}</td><td>${serviceText(run.job)}</td>
<td>${timeElement(request, run.started_at)}</td><td>${outcomeMark(run.outcome, request)}</td>
${[run.requests, run.failed, run.rows_new, run.rows_revised].map((count) => html`<td class="number">${number(count)}</td>`)}</tr>\n`,
)}</tbody></table>`,
)}`
}

/** `/`: is my copy whole and fresh? */
export const homeView = view<Home>({
  read: readHome,
  title: (data, request) =>
    data.health.series === 0
      ? request.words.home.empty
      : problems(data, request).length > 0
        ? request.words.home.needs
        : request.words.home.upToDate,
  show: (data, request) =>
    html`${healthSection(data, request)}${lakes(data, request)}${seriesTable(data, request)}${runsTable(data, request)}`,
})
