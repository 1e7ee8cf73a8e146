import { jobFile } from '../../db/queries/jobRuns.ts'
import type { LackingGeos } from '../../reports/lackingGeos.ts'
import type { IncompleteRun } from '../../reports/lastRuns.ts'
import { KEY_COMMAND, QUARANTINE_COMMAND } from '../../reports/remedies.ts'
import { oneLine, visible } from '../../util/text.ts'
import { DAY, formatUtc } from '../../util/time/instant.ts'
import { valueText } from '../client/format.ts'
import { stateLegend, stripPicture } from '../coveragePictures.ts'
import { type Column, commandLine, messageText, numberedPager, serviceText, table } from '../elements.ts'
import { daysText, groupingText, kindText, localText, roughLength } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type Overview, readOverview, type SeriesLine, STRIP_DAYS } from '../queries/overviewData.ts'
import { runsTable } from './runsPage.ts'

/** The most indicators without values that are listed. */
const MAX_LACKING = 8
/** Commands that take a job. */
const JOB_COMMANDS = ['sync', 'backfill', 'restate']

interface Problem {
  readonly text: HtmlPart
  /** The commands that fix it, in order; none if the next scheduled run does, or a change of the job. */
  readonly commands: readonly string[]
}

/** Describes geos without any value, and what to correct in the job. */
export function lackingText(
  { indicatorId, geoIds, stored, job }: LackingGeos,
  jobFiles: Overview['jobFiles'],
  { words: { home } }: PageRequest,
): Html {
  const [id, file] = [String(indicatorId), jobFile(jobFiles, job)]
  if (geoIds.length === 0) return html`${home.lackingValues(id, file)}`
  const geos = stored.slice(0, MAX_LACKING).map(({ id, name }) => [id, name].filter(Boolean).join(' '))
  return html`${home.lackingGeos(id, geoIds.join(', '), file)}${geos.length > 0 && ` ${home.otherGeos(geos.join(', '))}`}`
}

/** Lists problems, the worst first. */
function problems({ health, failures, jobFiles, runCommand, next }: Overview, request: PageRequest): Problem[] {
  const { link, words } = request
  const { home } = words
  const sync = (run: Pick<IncompleteRun, 'job' | 'jobId'>): string => runCommand(run, (file) => `sync ${file}`)
  const runProblem = ({ run, job, jobId, command, part, message, code }: IncompleteRun, text: string): Problem => ({
    text: html`<a href="${link(`/runs/${run}`)}">${text}</a>${request.live && messageText(message, request, code)}`,
    commands: [
      !JOB_COMMANDS.includes(command)
        ? command
        : part === null
          ? sync({ job, jobId })
          : runCommand({ job, jobId }, (file) => part.replace(/^\w+/, (name) => `${name} ${file}`)),
    ],
  })
  const spentJobs = new Set(health.unfinishedRuns.flatMap(({ code, jobId }) => (code === 'budget' ? jobId : [])))
  const gapProblem = (gap: Overview['health']['gaps'][number]): Problem => ({
    // The average of the geos, because each may lack the same days.
    text: html`<a href="${link(`/coverage/${gap.path}`)}">${gap.indicatorId}${gap.name !== null && html` ${serviceText(gap.name)}`}</a>: ${home.gap[
      gap.reason
    ](roughLength(request, gap.seconds / gap.geos), daysText(request, gap.from, gap.to))}`,
    // No command helps before a budget is free.
    commands: gap.reason === 'never requested' && spentJobs.has(gap.job_id) ? [] : [gap.command!],
  })
  const isListed = request.live && failures.filter(({ next_at }) => next_at === null).length === health.failures
  const counted = (count: number, text: (count: number) => HtmlPart, command: string): Problem[] =>
    count > 0 ? [{ text: text(count), commands: [command] }] : []
  return [
    ...health.failedRuns.map((run) => {
      const problem = runProblem(run, home.failedRun(run.job))
      return run.key ? { ...problem, commands: [KEY_COMMAND, ...problem.commands] } : problem
    }),
    ...health.unfinishedRuns.map((run) => {
      const problem = runProblem(run, home.unfinishedRun(run.job))
      const later = next.find(({ jobId }) => jobId === run.jobId)
      // Only the same backfill or restate continues one that was stopped.
      if (run.code !== 'budget' || !later || run.part !== null) return problem
      return { text: html`${problem.text} ${home.continues(localText(request, later.at))}`, commands: [] }
    }),
    ...counted(health.failures, home.failures, 'retry'),
    // A published page has no requests and messages of the service.
    ...(request.live ? failures : []).map(({ target, name, outcome, message, hint, next_at, code, command }) => ({
      text: html`<bdi title="${visible(target)}">${oneLine(name)}</bdi>: ${words.runs.results[outcome]}. ${next_at !== null && home.after(localText(request, next_at))}${messageText([message, hint].filter(Boolean).join(' '), request, code)}`,
      commands: [command],
    })),
    // A listed failure names its gap.
    ...health.gaps.filter(({ reason }) => reason !== 'failed' || !isListed).map(gapProblem),
    ...counted(health.moreGaps, home.moreGaps, 'gaps'),
    ...health.missed.map(({ job, jobId, lastAt, usualS }) => ({
      text: home.missed(job, localText(request, lastAt), roughLength(request, usualS)),
      commands: [sync({ job, jobId })],
    })),
    ...health.lackingGeos
      .slice(0, MAX_LACKING)
      .map((lacking) => ({ text: lackingText(lacking, jobFiles, request), commands: [] })),
    ...counted(health.late, home.late, 'check'),
    ...counted(
      health.quarantined,
      (count) => html`<a href="${link('/quarantine')}">${home.quarantined(count)}</a>`,
      QUARANTINE_COMMAND,
    ),
  ]
}

/** The problems by commands. */
function healthSection(data: Overview, request: PageRequest): Html {
  const { home } = request.words
  const { series, fetchingRun } = data.health
  const listed = problems(data, request)
  if (listed.length === 0 && fetchingRun !== null)
    return html`<section class="health"><p class="running"><a href="${request.link(`/runs/${fetchingRun}`)}">${home.fetching}</a></p></section>`
  if (listed.length === 0)
    return html`<section class="health"><p class="${series > 0 ? 'good' : 'soft'}">${series > 0 ? home.whole : home.noSeries}</p></section>`
  const groups = [...Map.groupBy(listed, ({ commands }) => commands.join('\n')).values()]
  return html`<section class="health problems" aria-label="${home.todo}">${groups.map(
    (group) =>
      html`<div><ul>${group.map(({ text }) => html`<li>${text}</li>`)}</ul>${request.live && group[0]!.commands.map((line) => commandLine(request.command(line)))}</div>`,
  )}</section>`
}

/** How far the values reach; if late, also how far they usually do; after two months, a date. */
function age({ behindS, usualS, late, lastLocal, gaps }: SeriesLine, request: PageRequest): HtmlPart {
  const { home, common } = request.words
  if (behindS === null) return html`<span class="soft">${home.noValue}</span>`
  if (behindS > 60 * DAY && !late && gaps === 0)
    return html`<span class="soft">${home.ended(lastLocal?.slice(0, 10) ?? '')}</span>`
  const length = (seconds: number): string => {
    const text = roughLength(request, seconds)
    return seconds < 0 ? common.ahead(text) : common.ago(text)
  }
  if (!late) return length(behindS)
  return html`<strong class="bad">${length(behindS)} (${home.isLate})</strong>${usualS !== null && html` <span class="soft">${home.usual} ${length(usualS)}</span>`}`
}

/** The means of the last days as a small picture. */
function sparkline(trend: SeriesLine['trend']): HtmlPart {
  const values = trend.filter((value) => value !== null)
  if (values.length < 2) return null
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const points = trend.flatMap((value, x) => {
    if (value === null) return []
    const y = high === low ? 10 : Math.round((1 - (value - low) / (high - low)) * 180) / 10 + 1
    return [`${(trend[x - 1] ?? null) === null ? 'M' : 'L'}${x} ${y}`]
  })
  return html`<svg class="spark" viewBox="0 0 ${trend.length - 1} 20" preserveAspectRatio="none" aria-hidden="true"><path d="${points.join('')}"/></svg>`
}

function seriesColumns(request: PageRequest): Column<SeriesLine>[] {
  const { words, link, locale, live } = request
  const { home, common } = words
  const none = html`<span class="soft">${home.noValue}</span>`
  return [
    [
      common.series,
      ({ path, indicatorId, name, geo, geos, kind, timeTrunc, geoAgg }) => {
        const place = geos > 1 ? `${geo ?? ''} (${home.geos(geos)})` : geo
        const detail = [kindText(kind, request), groupingText(request, timeTrunc, geoAgg)].filter(Boolean).join(', ')
        return html`<a href="${link(`/series/${path}`)}">${indicatorId} ${serviceText(name)}</a>
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
    [live ? home.behind : home.behindThen, (line) => age(line, request), 'age'],
    [
      home.strip(STRIP_DAYS),
      ({ path, days, gaps }) =>
        html`<a href="${link(`/coverage/${path}`)}">${stripPicture(request, days)}${gaps > 0 && html` <span class="bad">${home.gapCount(gaps)}</span>`}</a>`,
      'wide',
    ],
  ]
}

function seriesTable(data: Overview, request: PageRequest): Html {
  const { home } = request.words
  if (data.health.series === 0)
    return html`<p>${home.nothing}</p><p>${commandLine(request.command('sync jobs/nightly.yaml'))}</p>`
  const caption = html`<caption class="quiet">${home.caption(STRIP_DAYS)}</caption>`
  return html`<h2>${home.seriesHeading}</h2>
${request.live && html`<form class="question" action="${request.link('/')}"><label>${home.filter} <input type="search" name="q" value="${data.filter}" size="24"></label> <button>${home.find}</button></form>`}
${data.series.length === 0 ? html`<p>${home.noMatch(data.filter)}</p>` : table(home.seriesHeading, data.series, seriesColumns(request), { style: 'series', caption })}
${numberedPager(request, data.page, data.pages)}
${stateLegend(request)}`
}

/** `/`: whether the copy is complete and fresh. */
export const overviewView = view({
  read: readOverview,
  title(data, request) {
    const { home } = request.words
    if (data.health.series === 0) return home.empty
    const calm = data.health.fetchingRun === null ? home.upToDate : home.syncing
    const state = problems(data, request).length > 0 ? home.needs : calm
    // A published page does not change.
    return request.live ? state : home.stateThen(state, localText(request, formatUtc(request.now)))
  },
  show: (
    data,
    request,
  ) => html`<p class="soft">${request.words.home[data.isPractice ? 'practice' : 'about'](data.health.series)}</p>${healthSection(data, request)}${seriesTable(data, request)}
${data.runs.length > 0 && html`<h2>${request.words.home.runsHeading}</h2>${request.live && data.next.map(({ job, at, isDue }) => html`<p class="soft">${request.words.home[isDue ? 'due' : 'next'](job, localText(request, at))}</p>`)}${runsTable(request.words.home.runsHeading, data.runs, request)}`}`,
})
