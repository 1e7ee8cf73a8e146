import { shellWord, visible } from '../../base/visible.ts'
import type { IncompleteRun } from '../../checks/lastRuns.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type Home, readHome, type SeriesLine, STRIP_DAYS } from '../queries/home.ts'
import { commandLine, groupingText, jobFile, kindText, outcomeMark, pager, scrolled, serviceText } from './elements.ts'
import { stateLegend, stripPicture } from './strip.ts'
import { minute, roughLength } from './times.ts'

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

/** What is wrong, one line each; no line is good. */
function problems({ health, jobFiles }: Home, request: PageRequest): Html[] {
  const { home } = request.words
  const line = (text: HtmlPart, command: string): Html =>
    html`<li>${text} ${request.live && commandLine(request.command(command))}</li>`
  const runLine = ({ run, job, command }: IncompleteRun, text: string): Html =>
    line(
      html`<a href="${request.link(`/runs/${run}`)}">${text}</a>`,
      command === 'schedule' || OF_JOB.includes(command) ? `sync ${jobFile(jobFiles, job)}` : command,
    )
  return [
    ...health.failedRuns.map((one) => runLine(one, home.failedRun(one.job))),
    ...health.unfinishedRuns.map((one) => runLine(one, home.unfinishedRun(one.job))),
    ...health.gaps.map(({ reason, count, job }) =>
      line(
        html`<a href="${request.link('/coverage')}">${home.gaps(reason, count)}</a>`,
        reason === 'never requested' && job !== null ? `sync ${jobFile(jobFiles, job)}` : 'gaps',
      ),
    ),
    ...(health.failures > 0 ? [line(home.failures(health.failures), 'retry')] : []),
    ...health.missed.map(({ job, lastAt, usualS }) =>
      line(
        home.missed(job, lastAt.slice(0, 16).replace('T', ' '), roughLength(request, usualS)),
        `sync ${jobFile(jobFiles, job)}`,
      ),
    ),
    ...(health.late > 0 ? [line(home.late(health.late), 'check')] : []),
    ...(health.quarantined > 0
      ? [
          line(
            html`<a href="${request.link('/quarantine')}">${home.quarantined(health.quarantined)}</a>`,
            'quarantine list',
          ),
        ]
      : []),
  ]
}

function healthSection(data: Home, request: PageRequest): Html {
  const { home } = request.words
  const wrong = problems(data, request)
  if (wrong.length > 0) return html`<section class="health"><p class="bad">${home.needs}</p><ul>${wrong}</ul></section>`
  return html`<section class="health"><p class="${data.health.series > 0 ? 'good' : 'soft'}">${home.whole(data.health.series)}</p></section>`
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

function seriesRow(line: SeriesLine, request: PageRequest): Html {
  const { words, link } = request
  const geo = line.geo ?? (line.geos > 1 ? words.home.geos(line.geos) : null)
  return html`<tr><th scope="row"><a href="${link(`/series/${line.path}`)}">${line.indicatorId} ${serviceText(line.name)}</a>
<span class="soft">${[kindText(line.kind, request), groupingText(request, line)].filter((part) => part).join(', ')} ${serviceText(geo)}</span></th>
<td>${minute(line.lastLocal)}</td><td class="age">${age(line, request)}</td>
<td class="wide"><a href="${link(`/coverage/${line.path}`)}">${stripPicture(request, line.days)}</a></td></tr>\n`
}

function seriesTable(data: Home, request: PageRequest): Html {
  const { home, common } = request.words
  const { nothing, seriesHeading, caption, lastValue, behind } = home
  if (data.series.length === 0)
    return html`<p>${nothing}</p><p>${commandLine(request.command('sync jobs/nightly.yaml'))}</p>`
  return html`<h2>${seriesHeading}</h2>
${scrolled(
  seriesHeading,
  html`<table class="series"><caption>${caption(STRIP_DAYS)}</caption>
<thead><tr><th scope="col">${common.series}</th><th scope="col">${lastValue}</th><th scope="col">${behind}</th><th scope="col">${home.strip(STRIP_DAYS)}</th></tr></thead>
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
<td>${minute(run.started_at)}</td><td>${outcomeMark(run.outcome, request)}</td>
${[run.requests, run.failed, run.rows_new, run.rows_revised].map((count) => html`<td class="number">${number(count)}</td>`)}</tr>\n`,
)}</tbody></table>`,
)}`
}

/** An open failure: the request, the error, and the command that fixes it. */
function failureRow(failure: Home['failures'][number], files: Home['jobFiles'], request: PageRequest): Html {
  const { home } = request.words
  const { entry, target, failed_at, message, hint, next_at, job } = failure
  return html`<tr><td><bdi>${entry}</bdi><br><code>${target}</code></td>
<td>${minute(failed_at)} <bdi lang="en">${message}</bdi></td>
<td>${hint !== null && html`<p><bdi lang="en">${hint}</bdi></p>`}${next_at !== null && html`<p>${home.after(next_at.slice(0, 16).replace('T', ' '))}</p>`}${commandLine(request.command(commandIn(hint, job, files)))}</td></tr>\n`
}

function failuresTable(data: Home, request: PageRequest): HtmlPart {
  const { home } = request.words
  // Requests and messages of the service are only for users who can act on them.
  if (data.failures.length === 0 || !request.live) return null
  const more = data.health.failures - data.failures.length
  return html`<h2>${home.failuresHeading}</h2>
${scrolled(
  home.failuresHeading,
  html`<table class="failures"><thead><tr><th scope="col">${home.what}</th><th scope="col">${home.why}</th><th scope="col">${home.todo}</th></tr></thead>
<tbody>${data.failures.map((failure) => failureRow(failure, data.jobFiles, request))}</tbody></table>`,
)}${more > 0 && html`<p>${home.more(more)}</p>`}`
}

/** `/`: is my copy whole and fresh? */
export const homeView = view<Home>({
  read: readHome,
  show: (data, request) =>
    html`${healthSection(data, request)}${lakes(data, request)}${failuresTable(data, request)}${seriesTable(data, request)}${runsTable(data, request)}`,
})
