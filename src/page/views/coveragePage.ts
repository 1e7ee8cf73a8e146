import { jobFile } from '../../db/queries/jobRuns.ts'
import { ALL_GEOS, isAbsence } from '../../db/tables/codes.ts'
import { takesTurns } from '../../findings/nextRuns.ts'
import { parseInstant } from '../../util/time/instant.ts'
import { SIGNS } from '../client/format.ts'
import { cellPicture, sharesText, stateLegend } from '../coveragePictures.ts'
import { commandLine, numberedPager, options, scrolled, serviceText, table } from '../elements.ts'
import { groupingText, kindText, localText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type CoverageState, type StripPeriod, worstState } from '../queries/intervals.ts'
import type { Heading } from '../queries/seriesPaths.ts'
import { causeLinks } from './causeLinks.ts'
import { type CoverageData, readCoverage, readSeriesCoverage } from './coverageData.ts'
import { lackingText } from './lackingText.ts'

/** The states of days that a small screen lists first, and the most of them. */
const PROBLEM_STATES: readonly CoverageState[] = ['withdrawn', 'unverified', 'failed']
const MAX_PROBLEM_DAYS = 30

const headName = (request: PageRequest, { kind, indicatorId, name, timeTrunc, geoAgg }: Heading): string => {
  const grouping = groupingText(request, timeTrunc, geoAgg)
  return [kindText(kind, request), indicatorId, name, grouping && `(${grouping})`].filter(Boolean).join(' ')
}

/** A cell of a grid: its period, link and name; the first day of a month has its weekday, from 1 for Monday. */
type GridCell = readonly [period: StripPeriod, href: string, name: string, weekday?: number | undefined] | undefined

/** The place of the parts in a state, for its sign: from 0 at the left to 9. */
function signPlace(parts: StripPeriod['parts'], state: CoverageState): number {
  const at = [...parts.keys()].filter((i) => parts[i]![state] !== undefined)
  return Math.round((at.reduce((sum, i) => sum + i + 0.5, 0) / at.length / parts.length) * 9)
}

interface StripGrid {
  readonly caption: string
  readonly style?: string
  readonly heads: readonly HtmlPart[]
  readonly rows: readonly { readonly head: HtmlPart; readonly cells: readonly GridCell[] }[]
}

/** A table of cells. The style shows the words of a cell as the sign of its worst state; several states have a bar. */
function gridTable({ caption, style = 'grid', heads, rows }: StripGrid, request: PageRequest): Html {
  const show = (cell: GridCell): Html => {
    if (!cell) return html`<td></td>`
    const [{ shares, parts }, href, name, weekday] = cell
    const state = worstState(shares)
    const isMixed = parts.length > 0
    const styles = [
      state,
      ...(isMixed ? [`mixed at-${signPlace(parts, state)}`] : []),
      ...(weekday === undefined ? [] : [`weekday-${weekday}`]),
    ].join(' ')
    const text = html`${name}: ${sharesText(request, shares)}${isMixed && cellPicture(parts)}`
    return html`<td class="${styles}"><a href="${href}">${text}</a></td>`
  }
  return scrolled(
    caption,
    html`<table class="${style}"><caption class="${style !== 'grid' && 'quiet'}">${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody data-grid>${rows.map(({ head, cells }) => html`<tr><th scope="row">${head}</th>${cells.map(show)}</tr>\n`)}</tbody></table>`,
  )
}

/** `/coverage`: coverage of every series by year or month. */
export const coverageView = view({
  read: readCoverage,
  show(data, request) {
    const { coverage, common } = request.words
    const { link } = request
    const rows = data.series.map((head) => {
      const path = `/coverage/${head.path}`
      const byName = new Map(head.periods.map((period) => [period.name, period]))
      return {
        head: html`<a href="${link(path)}">${serviceText(headName(request, head))}</a>`,
        cells: data.names.map((name): GridCell => {
          const period = name === null ? undefined : byName.get(name)
          return period && [period, link(path, { year: Number(period.name.slice(0, 4)) }), period.name]
        }),
      }
    })
    const { about, caption } = coverage.by[data.unit]
    return html`${request.isLive && html`<p>${about}</p>`}${stateLegend(request)}
${gridTable({ caption, heads: [common.series, ...data.names.map((name) => name ?? '…')], rows }, request)}
${numberedPager(request, data.page, data.pages)}`
  },
})

/** The choice of a geo. */
function geoForm({ geos, geo, year }: CoverageData, request: PageRequest): HtmlPart {
  const { words, link, path, isLive } = request
  if (geos.length <= 1 || !isLive) return null
  const name = ({ id, name }: (typeof geos)[number]) => (id === ALL_GEOS ? words.common.allGeos : `${id} ${name ?? ''}`)
  const choices = geos.map((choice) => [String(choice.id), name(choice)] as const)
  const geoOptions = options([['', words.coverage.together], ...choices], String(geo ?? ''))
  const geoField = html`<label>${words.coverage.geoLabel} <select name="geo">${geoOptions}</select></label>`
  const yearField = html`<input type="hidden" name="year" value="${year}">`
  const button = html`<button>${words.common.show}</button>`
  return html`<form action="${link(path)}" method="get">${geoField} ${yearField}${button}</form>`
}

/** The months in the language of the page. */
const monthNames = ({ locale }: PageRequest): string[] => {
  const { format } = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, month) => format(Date.UTC(2025, month)))
}

/** Years by month; cells link to the days of their year. */
function yearTable(data: CoverageData, request: PageRequest): Html {
  const { coverage, series } = request.words
  const names = monthNames(request)
  const rows = data.years.map(({ year, months }) => {
    const to = `${request.link(`/coverage/${data.path}`, { geo: data.geo ?? undefined, year })}#days`
    return { head: year, cells: months.map((period, i): GridCell => [period, to, `${names[i]} ${year}`]) }
  })
  const heads = names.map((month) => html`<abbr title="${month}">${month.slice(0, 3)}</abbr>`)
  return gridTable({ caption: coverage.yearsCaption, heads: [series.spans.year, ...heads], rows }, request)
}

/** The days with problems, newest first: a small screen shows them above its calendar, because a year of days is long. */
function problemDays({ days, path, geo }: CoverageData, { words, link }: PageRequest): HtmlPart {
  const problems = days.filter(({ shares }) => PROBLEM_STATES.includes(worstState(shares))).reverse()
  if (problems.length === 0) return null
  const links = problems.slice(0, MAX_PROBLEM_DAYS).map(({ date, shares }) => {
    const address = link(`/series/${path}`, { geo: geo || undefined, day: date })
    return html`<a href="${address}">${SIGNS[worstState(shares)]} ${date.slice(5)}</a> `
  })
  const hasMore = problems.length > MAX_PROBLEM_DAYS
  return html`<p class="problem-days">${words.coverage.problemDays}: ${links}${hasMore && '…'}</p>`
}

/** A year with a row per month and a column per day; cells link to the values of their day. */
function dayTable(data: CoverageData, year: number, request: PageRequest): Html {
  const { coverage, series } = request.words
  const names = monthNames(request)
  const caption = coverage.daysCaption(String(year))
  const numbers = Array.from({ length: 31 }, (_, i) => i + 1)
  const rows = [...Map.groupBy(data.days, ({ date }) => Number(date.slice(5, 7)))].map(([month, days]) => {
    const byDay = new Map(days.map((day) => [Number(day.date.slice(8)), day]))
    return {
      head: names[month - 1],
      cells: numbers.map((number): GridCell => {
        const day = byDay.get(number)
        const query = { geo: data.geo || undefined, day: day?.date }
        const weekday = day && number === 1 ? ((new Date(day.date).getUTCDay() + 6) % 7) + 1 : undefined
        return day && [day, request.link(`/series/${data.path}`, query), day.date, weekday]
      }),
    }
  })
  return html`<h2 id="days">${caption}</h2>${request.isLive && html`<p class="soft">${coverage.daysHint}</p>`}
${problemDays(data, request)}
${gridTable({ caption, style: 'grid days', heads: [series.spans.month, ...numbers], rows }, request)}`
}

/** Says when a gap is requested next; null if only a command requests it. */
function nextText(hole: CoverageData['holes'][number], request: PageRequest): string | null {
  const { reason, nextAt, nextRuns, mayReturn } = hole
  const { coverage } = request.words
  if (mayReturn) return coverage.alone
  if (nextAt !== null && parseInstant(nextAt) > request.now) return coverage.again(localText(request, nextAt))
  if (nextAt === null && isAbsence(reason!)) return coverage.never
  const [limit] = nextRuns?.spent ?? []
  if (limit) return coverage.inTurn[limit.word === 'hour' ? 'hour' : 'day'](limit.calls)
  if (nextAt !== null) return takesTurns(reason!, nextRuns) ? coverage.due : coverage.alone
  return reason === 'failed' ? coverage.alone : null
}

/** How to close a gap: a command, with the next request; or what to correct in the job. */
function remedy(hole: CoverageData['holes'][number], data: CoverageData, request: PageRequest): HtmlPart {
  const { mistake, command, job } = hole
  const { coverage, common } = request.words
  // Retry leaves out what no job selects.
  if (job === null) return common.states.none
  if (mistake === 'unknown id') return coverage.unknownId(String(data.indicatorId), jobFile(data.jobFiles, job))
  if (mistake !== null) return lackingText(mistake, data.jobFiles, request)
  const waits = nextText(hole, request)
  return html`${waits !== null && html`<span>${waits}</span> `}${command !== null && commandLine(request.command(command))}`
}

/** The missing data of a year as a table, with its reasons and remedies. */
function holeTable(data: CoverageData, year: number, request: PageRequest): Html {
  const { coverage, common, home } = request.words
  const caption = coverage.holes(String(year))
  if (data.holes.length === 0) return html`<h2>${caption}</h2><p class="good">${coverage.noHoles}</p>`
  const names = new Map(data.geos.map(({ id, name }) => [id, name]))
  const time = (at: string): Html => html`<time>${at.replace('T', ' ').replace(/:00(?=[+-])/, '')}</time>`
  const shown = table(caption, data.holes, [
    [coverage.from, ({ from }) => time(from)],
    [coverage.to, ({ to }) => time(to)],
    [common.geo, ({ geo }) => (geo === ALL_GEOS ? common.allGeos : serviceText(`${geo} ${names.get(geo) ?? ''}`))],
    [
      common.why,
      ({ state, reason, cause }) => {
        const sign = html`<span class="cell ${state}" aria-hidden="true">${SIGNS[state]}</span>`
        return html`${sign} ${coverage.reasons[reason!]} ${causeLinks(cause, request)}`
      },
    ],
    data.holes.some(({ missing }) => missing !== null) && [coverage.count, ({ missing }) => missing, 'number'],
    [coverage.mend, (hole) => remedy(hole, data, request)],
  ])
  const quarantine = html`<p><a href="${request.link('/quarantine')}">${home.findings.quarantine(data.rejected)}</a></p>`
  return html`<h2>${caption}</h2>
${shown}${data.rejected > 0 && quarantine}${data.more > 0 && html`<p>${coverage.more(data.more)}</p>`}`
}

/** Says that a page lacks withdrawn values, because there are too many. */
function withdrawnNote({ withdrawnLimit }: CoverageData, request: PageRequest): HtmlPart {
  if (withdrawnLimit === null) return null
  return html`<p class="warn">${request.words.coverage.withdrawnLimit(withdrawnLimit)}</p>`
}

/** `/coverage/ID`: the coverage of a series, and its missing data with reasons and commands. */
export const seriesCoverageView = view({
  read: readSeriesCoverage,
  title: (data, request) => `${request.words.common.pages.coverage}: ${headName(request, data)}`,
  show(data, request) {
    const { link, words } = request
    const { path, year, days } = data
    const toValues = html`<p><a href="${link(`/series/${path}`)}">${words.common.viewValues}</a></p>`
    if (year === null) return html`${toValues}\n<p>${words.coverage.none}</p>`
    const parts = [
      geoForm(data, request),
      holeTable(data, year, request),
      withdrawnNote(data, request),
      yearTable(data, request),
      days.length > 0 && dayTable(data, year, request),
      stateLegend(request),
    ]
    return html`${toValues}\n${parts}`
  },
})
