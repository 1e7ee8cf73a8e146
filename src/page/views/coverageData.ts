import { readJobFiles } from '../../db/queries/jobRuns.ts'
import { ALL_GEOS, type GapReason } from '../../db/tables/codes.ts'
import { gapCommand, readCommandFacts } from '../../findings/commands.ts'
import { readNextRuns } from '../../findings/nextRuns.ts'
import { findLackingGeos } from '../../findings/readers/lackingGeos.ts'
import type { LackingGeos } from '../../findings/trouble.ts'
import { hull, type Interval, overlaps, subtract } from '../../util/time/interval.ts'
import { ceilTo, floorTo, formatLocal, localDate, startOfDate } from '../../util/time/zone.ts'
import { badParameter, numberIn, type PageRequest, paginate, wholeNumber } from '../page.ts'
import { readCauses } from '../queries/causes.ts'
import {
  type CoverageInterval,
  computePeriods,
  geosBySeries,
  joinWithdrawn,
  readCoverageIntervals,
  type StripPeriod,
  type Timelines,
  timelines,
} from '../queries/intervals.ts'
import { geoList, namedGeos } from '../queries/names.ts'
import { periodAt, periodBorders } from '../queries/periods.ts'
import { allSeries, findSeriesByPath, seriesHeads } from '../queries/seriesPaths.ts'
import { MAX_WITHDRAWN, readWithdrawn } from '../queries/withdrawn.ts'

/* The data of the pages of coverage. */

/** Series on one page. */
const SERIES_A_PAGE = 40
const MAX_HOLES = 25
const UNREQUESTED = { state: 'none', reason: 'never requested', missing: null, nextAt: null, jobId: null } as const

const localYear = (zone: string, at: number): number => Number(localDate(zone, at).slice(0, 4))

/** The extent of timelines; undefined if there are none. */
function findExtent(lines: Timelines): Interval | undefined {
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
    return { row, lines, extent: findExtent(lines) }
  })
  const years = listed.flatMap(({ row, extent }) =>
    extent ? [localYear(row.time_zone, extent.from), localYear(row.time_zone, extent.to - 1)] : [],
  )
  const unit = Math.max(...years) - Math.min(...years) < MAX_MONTH_YEARS ? ('month' as const) : ('year' as const)
  const series = listed.map(({ row, lines, extent }) => {
    const borders = extent ? periodBorders(row.time_zone, extent, unit) : []
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

/** A series as it is stored. */
type Series = Awaited<ReturnType<typeof findSeriesByPath>>

/** Reads the intervals of a series: what is stored or missing, and withdrawn values. `hasMore`: whether there are more of these. */
async function readIntervals(request: PageRequest, series: Series, geoIds: readonly number[]) {
  const judged = (await readCoverageIntervals(request, [series.id])).get(series.id)!
  const { values, hasMore } = await readWithdrawn(request.store, series.id, geoIds)
  // A value that was withdrawn within the lookback may come back: the judged intervals have it as a gap.
  const withdrawn = joinWithdrawn(values).filter(
    (part) => !judged.some((gap) => gap.reason !== null && gap.geoId === part.geoId && overlaps(gap, part)),
  )
  return { intervals: [...judged, ...withdrawn], hasMore }
}

/** Lists the gaps of a series that overlap a year, in order of time; of one geo, or of all. */
function listGaps(intervals: readonly CoverageInterval[], geo: number | null, year: Interval): CoverageInterval[] {
  // A geo that was only requested with all others has the gaps of all.
  const isRepeated = ({ geoId, reason, from, to }: CoverageInterval): boolean =>
    geoId !== ALL_GEOS &&
    intervals.some((all) => all.geoId === ALL_GEOS && all.reason === reason && all.from <= from && all.to >= to)
  return intervals
    .filter(({ geoId }) => geo === null || geoId === geo || geoId === ALL_GEOS)
    .filter((interval) => interval.reason !== null && overlaps(interval, year))
    .filter((interval) => !isRepeated(interval))
}

const byTime = (a: Interval, b: Interval): number => a.from - b.from || a.to - b.to

/** Describes gaps: the job and the request that caused each, its mistake, and the command that closes it. */
async function describeGaps(request: PageRequest, series: Series, gaps: readonly CoverageInterval[]) {
  const { store, now } = request
  const { id: series_id, kind, indicator_id, time_zone: zone } = series
  const facts = await readCommandFacts(store)
  const nextRuns = await readNextRuns(store, now)
  const lacking = (await findLackingGeos(store, now)).filter((geos) => geos.series_id === series_id)
  const causes = await readCauses(store, series_id, gaps)
  /** The mistake of the job that causes a gap, if any. */
  const findMistake = (geo: number, reason: GapReason): 'unknown id' | LackingGeos | null => {
    if (facts.unknown.has(`${kind} ${indicator_id}`)) return 'unknown id'
    if (reason !== 'no values') return null
    return lacking.find(({ geoIds }) => geoIds.length === 0 || geoIds.includes(geo)) ?? null
  }
  return gaps.map(({ geoId, from, to, jobId: gapJob, ...gap }, i) => {
    const reason = gap.reason!
    const job = facts.findJob(series_id, geoId)
    const jobId = gap.mayReturn ? (job?.id ?? null) : gapJob
    const closable = { series_id, kind, indicator_id, geo_id: geoId, job_id: jobId, reason }
    return {
      ...gap,
      cause: causes[i] ?? null,
      nextRuns: nextRuns.get(jobId ?? 0),
      geo: geoId,
      job: ((jobId === null ? null : facts.jobs.get(jobId)) ?? job)?.name ?? null,
      from: formatLocal(zone, from),
      to: formatLocal(zone, to),
      mistake: findMistake(geoId, reason),
      // Commands take whole local days.
      command: gapCommand(facts, closable, [localDate(zone, from), localDate(zone, ceilTo(zone, to, 'day'))]),
    }
  })
}

/** The shares of the months of each year of an extent. */
function computeYears(lines: Timelines, geoIds: readonly number[], extent: Interval, zone: string) {
  const januaries = periodBorders(zone, extent, 'year').slice(0, -1)
  return januaries.map((january) => {
    const months = periodBorders(zone, periodAt(zone, january, 'year'), 'month')
    return { year: localYear(zone, january), months: computePeriods(lines, months, geoIds) }
  })
}

/** The shares of the days of a year, in whole months from the first to the last one with data or a gap. */
function computeDays(lines: Timelines, geoIds: readonly number[], extent: Interval, year: Interval, zone: string) {
  const first = Math.max(year.from, floorTo(zone, extent.from, 'month'))
  const last = Math.min(year.to, ceilTo(zone, extent.to, 'month'))
  const days = periodBorders(zone, { from: Math.min(first, last), to: last }, 'day')
  return computePeriods(lines, days, geoIds).map((period, i) => ({ date: localDate(zone, days[i]!), ...period }))
}

/** Reads the coverage of a series: its years by month, and one year by day with its missing data. */
export async function readSeriesCoverage(request: PageRequest) {
  const { store, now } = request
  const series = await findSeriesByPath(request, request.params.id)
  const zone = series.time_zone
  const geoIds = (await geosBySeries(request, [series.id])).get(series.id) ?? []
  const { intervals, hasMore } = await readIntervals(request, series, geoIds)
  const geoLines = timelines(intervals)
  const geo = await requestedGeo(request, geoLines, geoIds)
  const lines: Timelines = geo === null ? geoLines : new Map([[geo, geoLines.get(geo)!]])
  const head = {
    ...(await seriesHeads(request, [series]))(series),
    jobFiles: await readJobFiles(store),
    geo,
    rejected: await countRejects(request, series.id),
    geos: await namedGeos(request, [...geoLines.keys()]),
    /** The number of withdrawn values of a geo that are read at most, if there are more. */
    withdrawnLimit: hasMore ? MAX_WITHDRAWN : null,
  }
  const extent = findExtent(lines)
  if (!extent) return { ...head, year: null, years: [], days: [], holes: [], more: 0 }
  const chosen = numberIn(request.query, 'year', { from: 1970, to: 2099 })
  const year = chosen ?? localYear(zone, Math.max(extent.from, Math.min(now, extent.to - 1)))
  const from = startOfDate(zone, `${year}-01-01`)!
  const to = startOfDate(zone, `${year + 1}-01-01`)!
  // A chosen year may lie outside the requested range.
  const outside = chosen === year ? subtract([{ from, to: Math.max(from, Math.min(to, now)) }], [extent]) : []
  const unrequested = outside.map((part) => ({ ...UNREQUESTED, geoId: geo ?? ALL_GEOS, ...part }))
  const gaps = [...listGaps(intervals, geo, { from, to }), ...unrequested].sort(byTime)
  const joined = geo === null ? joinGeos(gaps, geoIds) : gaps
  return {
    ...head,
    year,
    years: computeYears(lines, geoIds, extent, zone),
    days: computeDays(lines, geoIds, extent, { from, to }, zone),
    holes: await describeGaps(request, series, joined.slice(0, MAX_HOLES)),
    more: Math.max(0, joined.length - MAX_HOLES),
  }
}

export type CoverageData = Awaited<ReturnType<typeof readSeriesCoverage>>
