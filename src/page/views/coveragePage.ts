import { jobFile, readJobFiles } from '../../db/queries/jobRuns.ts'
import { ALL_GEOS, type GapReason, isAbsence } from '../../db/tables/codes.ts'
import { gapCommand, readCommandFacts } from '../../findings/commands.ts'
import { readNextRuns, takesTurns } from '../../findings/nextRuns.ts'
import { findLackingGeos } from '../../findings/readers/lackingGeos.ts'
import type { LackingGeos } from '../../findings/trouble.ts'
import { parseInstant } from '../../util/time/instant.ts'
import { hull, type Interval, overlaps, subtract } from '../../util/time/interval.ts'
import { ceilTo, floorTo, formatLocal, localDate, startOfDate } from '../../util/time/zone.ts'
import { SIGNS } from '../client/format.ts'
import { cellPicture, sharesText, stateLegend } from '../coveragePictures.ts'
import { commandLine, numberedPager, options, scrolled, serviceText, table } from '../elements.ts'
import { groupingText, kindText, localText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { badParameter, numberIn, type PageRequest, paginate, view, wholeNumber } from '../page.ts'
import { readCauses } from '../queries/causes.ts'
import {
  type CoverageInterval,
  type CoverageState,
  computePeriods,
  geosBySeries,
  joinWithdrawn,
  readCoverageIntervals,
  type StripPeriod,
  type Timelines,
  timelines,
  worstState,
} from '../queries/intervals.ts'
import { geoList, namedGeos } from '../queries/names.ts'
import { periodAt, periodBorders } from '../queries/periods.ts'
import { allSeries, findSeriesByPath, type Heading, seriesHeads } from '../queries/seriesPaths.ts'
import { readWithdrawn } from '../queries/withdrawn.ts'
import { causeLinks } from './causeLinks.ts'
import { lackingText } from './lackingText.ts'

/** Series on one page. */
const SERIES_A_PAGE = 40
const MAX_HOLES = 25
/** The states of days that a small screen lists first, and the most of them. */
const PROBLEM_STATES: readonly CoverageState[] = ['withdrawn', 'unverified', 'failed']
const MAX_PROBLEM_DAYS = 30
const UNREQUESTED = { state: 'none', reason: 'never requested', missing: null, nextAt: null, jobId: null } as const

const localYear = (zone: string, at: number): number => Number(localDate(zone, at).slice(0, 4))

/** The reach of timelines; undefined if there are none. */
function findReach(lines: Timelines): Interval | undefined {
  const intervals = [...lines.values()].flat()
  return intervals.length === 0 ? undefined : hull(intervals)
}

/** Up to this number of years are divided into months. */
const MAX_MONTH_YEARS = 2

/** Reads every series with the shares of its years, or of its months if there are few years. */
export async function readCoverage(request: PageRequest) {
  const { page, pages, shown } = paginate(request, await allSeries(request), SERIES_A_PAGE)
  const head = await seriesHeads(request, shown)
  const ids = shown.map(({ id }) => id)
  const intervals = await readCoverageIntervals(request, ids)
  const geos = await geosBySeries(request, ids)
  const listed = shown.map((row) => {
    const lines = timelines(intervals.get(row.id)!)
    return { row, lines, reach: findReach(lines) }
  })
  const years = listed.flatMap(({ row, reach }) =>
    reach ? [localYear(row.time_zone, reach.from), localYear(row.time_zone, reach.to - 1)] : [],
  )
  const unit = Math.max(...years) - Math.min(...years) < MAX_MONTH_YEARS ? ('month' as const) : ('year' as const)
  const series = listed.map(({ row, lines, reach }) => {
    const borders = reach ? periodBorders(row.time_zone, reach, unit) : []
    const periods = computePeriods(lines, borders, geos.get(row.id) ?? [])
    const isRequested = ({ shares }: StripPeriod): boolean => Object.keys(shares).some((state) => state !== 'none')
    const name = (at: number): string => localDate(row.time_zone, at).slice(0, unit === 'year' ? 4 : 7)
    const named = periods.map((period, i) => ({ name: name(borders[i]!), ...period }))
    return { ...head(row), periods: named.slice(named.findIndex(isRequested), named.findLastIndex(isRequested) + 1) }
  })
  const used = [...new Set(series.flatMap(({ periods }) => periods.map(({ name }) => name)))].sort()
  const places = used
    .map((name) => name.split('-').map(Number))
    .map(([year, month]) => (month ? year! * 12 + month : year!))
  /** The columns; null stands for periods that no series has. */
  const names = used.flatMap((name, i) => (i > 0 && places[i]! > places[i - 1]! + 1 ? [null, name] : [name]))
  return { series, unit, names, page, pages }
}

/** The requested geo: null for all together, and for a geo that was only requested with all others. */
async function requestedGeo(request: PageRequest, lines: Timelines, geos: readonly number[]): Promise<number | null> {
  const chosen = request.query.get('geo')
  if (!chosen) return null
  const geo = wholeNumber(chosen) ?? -1
  const known = [...new Set([...lines.keys(), ...geos])].sort((a, b) => a - b)
  if (!known.includes(geo)) throw badParameter('geo', chosen, geoList(await namedGeos(request, known)))
  return lines.has(geo) ? geo : null
}

/** Counts the rows of a series that could not be read. */
async function countRejects({ store }: PageRequest, seriesId: number): Promise<number> {
  const { count } = await store.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('q.resolved_at', 'is', null)
    .where('f.series_id', '=', seriesId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Lists what every known geo lacks for the same reason once, for all geos. */
function joinGeos(holes: readonly CoverageInterval[], geoIds: readonly number[]): readonly CoverageInterval[] {
  if (geoIds.length < 2) return holes
  const equal = Map.groupBy(holes, ({ from, to, reason, missing, jobId }) => [from, to, reason, missing, jobId].join())
  return [...equal.values()].flatMap((group) => {
    const lacking = new Set(group.map(({ geoId }) => geoId))
    return geoIds.every((geoId) => lacking.has(geoId)) ? [{ ...group[0]!, geoId: ALL_GEOS }] : group
  })
}

/** Reads the coverage of a series: its years by month, and one year by day with its missing data. */
export async function readSeriesCoverage(request: PageRequest) {
  const row = await findSeriesByPath(request, request.params.id)
  const zone = row.time_zone
  const judged = (await readCoverageIntervals(request, [row.id])).get(row.id)!
  const geoIds = (await geosBySeries(request, [row.id])).get(row.id) ?? []
  // What was withdrawn within the lookback may come back, and is no gap yet.
  const withdrawn = joinWithdrawn(await readWithdrawn(request.store, row.id, geoIds)).filter(
    (part) => !judged.some((gap) => gap.reason !== null && gap.geoId === part.geoId && overlaps(gap, part)),
  )
  const intervals = [...judged, ...withdrawn]
  const geoLines = timelines(intervals)
  const geo = await requestedGeo(request, geoLines, geoIds)
  const lines: Timelines = geo === null ? geoLines : new Map([[geo, geoLines.get(geo)!]])
  const facts = await readCommandFacts(request.store)
  const { jobs, unknown, findJob } = facts
  const nextRuns = await readNextRuns(request.store, request.now)
  const lacking = await findLackingGeos(request.store, request.now)
  const head = {
    ...(await seriesHeads(request, [row]))(row),
    jobFiles: await readJobFiles(request.store),
    geo,
    rejected: await countRejects(request, row.id),
    geos: await namedGeos(request, [...geoLines.keys()]),
  }
  /** The mistake of the job that causes a gap, if any. */
  const findMistake = (geo: number, reason: GapReason): 'unknown id' | LackingGeos | null => {
    if (unknown.has(`${row.kind} ${row.indicator_id}`)) return 'unknown id'
    if (reason !== 'no values') return null
    const ofSeries = lacking.filter(({ series_id }) => series_id === row.id)
    return ofSeries.find(({ geoIds }) => geoIds.length === 0 || geoIds.includes(geo)) ?? null
  }
  const reach = findReach(lines)
  if (!reach) return { ...head, year: null, years: [], days: [], holes: [], more: 0 }
  const chosen = numberIn(request.query, 'year', { from: 1970, to: 2099 })
  const year = chosen ?? localYear(zone, Math.max(reach.from, Math.min(request.now, reach.to - 1)))
  const [from, to] = [year, year + 1].map((january) => startOfDate(zone, `${january}-01-01`)!) as [number, number]
  // A chosen year may lie outside the requested range.
  const outside = chosen === year ? subtract([{ from, to: Math.max(from, Math.min(to, request.now)) }], [reach]) : []
  // A geo that was only requested with all others has the gaps of all.
  const isRepeated = ({ geoId, reason, from, to }: CoverageInterval): boolean =>
    geoId !== ALL_GEOS &&
    intervals.some((all) => all.geoId === ALL_GEOS && all.reason === reason && all.from <= from && all.to >= to)
  const listed: CoverageInterval[] = intervals
    .filter(({ geoId }) => geo === null || geoId === geo || geoId === ALL_GEOS)
    .filter((interval) => interval.reason !== null && overlaps(interval, { from, to }))
    .filter((interval) => !isRepeated(interval))
    .concat(outside.map((part) => ({ ...UNREQUESTED, geoId: geo ?? ALL_GEOS, ...part })))
    .sort((a, b) => a.from - b.from || a.to - b.to)
  const holes = geo === null ? joinGeos(listed, geoIds) : listed
  const years = periodBorders(zone, reach, 'year').slice(0, -1)
  const months = (january: number) =>
    computePeriods(lines, periodBorders(zone, periodAt(zone, january, 'year'), 'month'), geoIds)
  // Whole months from the first to the last one with data or a gap.
  const first = Math.max(from, floorTo(zone, reach.from, 'month'))
  const last = Math.min(to, ceilTo(zone, reach.to, 'month'))
  const days = periodBorders(zone, { from: Math.min(first, last), to: last }, 'day')
  const causes = await readCauses(request.store, row.id, holes.slice(0, MAX_HOLES))
  return {
    ...head,
    year,
    years: years.map((january) => ({ year: localYear(zone, january), months: months(january) })),
    days: computePeriods(lines, days, geoIds).map((period, i) => ({ date: localDate(zone, days[i]!), ...period })),
    holes: holes.slice(0, MAX_HOLES).map(({ geoId, from, to, jobId: gapJob, ...hole }, i) => {
      const jobId = hole.mayReturn ? (findJob(row.id, geoId)?.id ?? null) : gapJob
      const { kind, indicator_id } = row
      const closable = { series_id: row.id, kind, indicator_id, geo_id: geoId, job_id: jobId, reason: hole.reason! }
      return {
        ...hole,
        cause: causes[i] ?? null,
        nextRuns: nextRuns.get(jobId ?? 0),
        geo: geoId,
        job: ((jobId === null ? null : jobs.get(jobId)) ?? findJob(row.id, geoId))?.name ?? null,
        from: formatLocal(zone, from),
        to: formatLocal(zone, to),
        mistake: findMistake(geoId, hole.reason!),
        // Commands take whole local days.
        command: gapCommand(facts, closable, [localDate(zone, from), localDate(zone, ceilTo(zone, to, 'day'))]),
      }
    }),
    more: Math.max(0, holes.length - MAX_HOLES),
  }
}

type CoverageData = Awaited<ReturnType<typeof readSeriesCoverage>>

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
    return html`<td class="${state}${isMixed && ` mixed at-${signPlace(parts, state)}`}${weekday !== undefined && ` weekday-${weekday}`}"><a href="${href}">${name}: ${sharesText(request, shares)}${isMixed && cellPicture(parts)}</a></td>`
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
  return html`<form action="${link(path)}" method="get"><label>${words.coverage.geoLabel} <select name="geo">${options([['', words.coverage.together], ...choices], String(geo ?? ''))}</select></label> <input type="hidden" name="year" value="${year}"><button>${words.common.show}</button></form>`
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
  // A small screen has these first, because a year of days is long.
  const problems = data.days.filter(({ shares }) => PROBLEM_STATES.includes(worstState(shares))).reverse()
  return html`<h2 id="days">${caption}</h2>${request.isLive && html`<p class="soft">${coverage.daysHint}</p>`}
${problems.length > 0 && html`<p class="problem-days">${coverage.problemDays}: ${problems.slice(0, MAX_PROBLEM_DAYS).map(({ date, shares }) => html`<a href="${request.link(`/series/${data.path}`, { geo: data.geo || undefined, day: date })}">${SIGNS[worstState(shares)]} ${date.slice(5)}</a> `)}${problems.length > MAX_PROBLEM_DAYS && '…'}</p>`}
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

function holeTable(data: CoverageData, year: number, request: PageRequest): Html {
  const { coverage, common } = request.words
  const caption = coverage.holes(String(year))
  if (data.holes.length === 0) return html`<h2>${caption}</h2><p class="good">${coverage.noHoles}</p>`
  const names = new Map(data.geos.map(({ id, name }) => [id, name]))
  const time = (at: string): Html => html`<time>${at.replace('T', ' ').replace(/:00(?=[+-])/, '')}</time>`
  return html`<h2>${caption}</h2>
${table(caption, data.holes, [
  [coverage.from, ({ from }) => time(from)],
  [coverage.to, ({ to }) => time(to)],
  [common.geo, ({ geo }) => (geo === ALL_GEOS ? common.allGeos : serviceText(`${geo} ${names.get(geo) ?? ''}`))],
  [
    common.why,
    ({ state, reason, cause }) =>
      html`<span class="cell ${state}" aria-hidden="true">${SIGNS[state]}</span> ${coverage.reasons[reason!]} ${causeLinks(cause, request)}`,
  ],
  data.holes.some(({ missing }) => missing !== null) && [coverage.count, ({ missing }) => missing, 'number'],
  [coverage.mend, (hole) => remedy(hole, data, request)],
])}${data.rejected > 0 && html`<p><a href="${request.link('/quarantine')}">${request.words.home.quarantined(data.rejected)}</a></p>`}${data.more > 0 && html`<p>${coverage.more(data.more)}</p>`}`
}

/** `/coverage/ID`: the coverage of a series, and its missing data with reasons and commands. */
export const seriesCoverageView = view({
  read: readSeriesCoverage,
  title: (data, request) => `${request.words.common.pages.coverage}: ${headName(request, data)}`,
  show(data, request) {
    const { link, words } = request
    return html`<p><a href="${link(`/series/${data.path}`)}">${words.common.viewValues}</a></p>
${
  data.year === null
    ? html`<p>${words.coverage.none}</p>`
    : html`${geoForm(data, request)}${holeTable(data, data.year, request)}${yearTable(data, request)}${data.days.length > 0 && dayTable(data, data.year, request)}${stateLegend(request)}`
}`
  },
})
