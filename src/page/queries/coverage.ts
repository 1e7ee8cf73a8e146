import { readJobFiles } from '../../db/queries/jobRuns.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { addUnits, floorTo, formatLocal, localDate, startOfDate } from '../../util/time/zone.ts'
import { NotFound, type PageRequest } from '../page.ts'
import { type Days, daysBetween } from './days.ts'
import {
  type CoverageInterval,
  coverageIntervalsOf,
  geosBySeries,
  type Shares,
  sharesOf,
  type TimelinePiece,
  timelines,
} from './intervals.ts'
import { geoNames, indicatorNames } from './names.ts'
import { allSeries, findSeriesByPath, seriesHead } from './seriesPaths.ts'

/** Series on one page. */
const SERIES_A_PAGE = 40
/** How many gaps are listed. */
const HOLES_SHOWN = 25

type Lines = ReadonlyMap<number, readonly TimelinePiece[]>

/** The first instant and the end of some timelines; undefined where there is nothing. */
function extentOf(lines: Lines): { from: number; to: number } | undefined {
  const all = [...lines.values()].filter(({ length }) => length > 0)
  if (all.length === 0) return undefined
  return { from: Math.min(...all.map((line) => line[0]!.from)), to: Math.max(...all.map((line) => line.at(-1)!.to)) }
}

const localYear = (zone: string, at: number): number => Number(localDate(zone, at).slice(0, 4))

/** The local years of an interval, and their borders. */
function localYears(zone: string, { from, to }: { from: number; to: number }): { years: number[]; borders: number[] } {
  const [first, last] = [localYear(zone, from), localYear(zone, to - 1)]
  const years = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return {
    years,
    borders: [...years, last + 1].map((year) => startOfDate(zone, `${String(year).padStart(4, '0')}-01-01`)!),
  }
}

/** Every series with the shares of its years. */
export async function readCoverage(request: PageRequest) {
  const all = await allSeries(request)
  const pages = Math.max(1, Math.ceil(all.length / SERIES_A_PAGE))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(request.query.get('page') ?? 1)) || 1))
  const shown = all.slice((page - 1) * SERIES_A_PAGE, page * SERIES_A_PAGE)
  const names = await indicatorNames(
    request,
    shown.map(({ indicator_id }) => indicator_id),
  )
  const ids = shown.map(({ id }) => id)
  const intervals = await coverageIntervalsOf(request, ids)
  const geos = await geosBySeries(request, ids)
  const series = []
  for (const row of shown) {
    const lines = timelines(intervals.get(row.id)!)
    const extent = extentOf(lines)
    const { years, borders } = extent ? localYears(row.time_zone, extent) : { years: [], borders: [] }
    const shares = sharesOf(lines, borders, geos.get(row.id) ?? [])
    series.push({ ...seriesHead(row, names), years: years.map((year, i) => ({ year, shares: shares[i]! })) })
  }
  return { series, page, pages }
}

export type Coverage = Awaited<ReturnType<typeof readCoverage>>

/** The requested geo: null for all together, and for a geo with values that was only ever requested with all others. */
async function requestedGeo({ query, store }: PageRequest, seriesId: number, lines: Lines): Promise<number | null> {
  const chosen = query.get('geo')
  if (chosen === null || chosen === '') return null
  const geo = /^\d{1,15}$/.test(chosen) ? Number(chosen) : -1
  if (lines.has(geo)) return geo
  const held = await store.kysely
    .selectFrom('series_geo')
    .select('geo_id')
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geo)
    .executeTakeFirst()
  if (!held) throw new NotFound(`geo ${chosen}`)
  return null
}

/** The months of a year in a zone, with the shares of each. */
function monthsOf(zone: string, lines: Lines, january: number, geos: readonly number[]): Shares[] {
  const borders = [january]
  while (borders.length <= 12) borders.push(addUnits(zone, borders.at(-1)!, 'month', 1))
  return sharesOf(lines, borders, geos)
}

/** The days of a year by month. */
function daysWithShares(
  lines: Lines,
  { dates, borders }: Days,
  geos: readonly number[],
): { date: string; shares: Shares }[] {
  const shares = sharesOf(lines, borders, geos)
  return dates.map((date, i) => ({ date, shares: shares[i]! }))
}

/** The gaps between two instants, worst first. */
const holesIn = (intervals: readonly CoverageInterval[], from: number, to: number): CoverageInterval[] =>
  intervals
    .filter((interval) => interval.reason !== null && interval.from < to && interval.to > from)
    .sort((a, b) => a.from - b.from || a.to - b.to)

/** The jobs that want a series. */
const jobsOf = async ({ store }: PageRequest, seriesId: number): Promise<string[]> =>
  (
    await store.kysely
      .selectFrom('_job_range')
      .select('job')
      .distinct()
      .where('series_id', '=', seriesId)
      .orderBy('job')
      .execute()
  ).map(({ job }) => job)

/** One series: its years by month, one year by day, and what is missing in it. */
export async function readCoverageOf(request: PageRequest) {
  const row = await findSeriesByPath(request, request.params.id)
  const zone = row.time_zone
  const intervals = (await coverageIntervalsOf(request, [row.id])).get(row.id)!
  const all = timelines(intervals)
  const geo = await requestedGeo(request, row.id, all)
  const lines: Lines = geo === null ? all : new Map([[geo, all.get(geo)!]])
  const names = await indicatorNames(request, [row.indicator_id])
  const geos = await geoNames(request, [...all.keys()])
  const known = (await geosBySeries(request, [row.id])).get(row.id) ?? []
  const head = {
    ...seriesHead(row, names),
    jobs: await jobsOf(request, row.id),
    jobFiles: await readJobFiles(request.store),
    geo,
    geos: [...all.keys()].map((id) => ({ id, name: geos.get(id) ?? null })),
  }
  const extent = extentOf(lines)
  if (!extent) return { ...head, year: null, years: [], days: [], holes: [], more: 0 }
  const { years, borders } = localYears(zone, extent)
  const requestedYear = Number(request.query.get('year') ?? localYear(zone, Math.min(request.now, extent.to - 1)))
  const nth = years.includes(requestedYear) ? years.indexOf(requestedYear) : years.length - 1
  const [from, to] = [borders[nth]!, borders[nth + 1]!]
  const found = holesIn(
    geo === null ? intervals : intervals.filter(({ geoId }) => geoId === geo || geoId === ALL_GEOS),
    from,
    to,
  )
  return {
    ...head,
    year: years[nth]!,
    years: years.map((year, i) => ({ year, months: monthsOf(zone, lines, borders[i]!, known) })),
    days: daysWithShares(lines, daysBetween(zone, from, to), known),
    holes: found.slice(0, HOLES_SHOWN).map((hole) => ({
      geo: hole.geoId,
      state: hole.state,
      reason: hole.reason,
      missing: hole.missing,
      nextAt: hole.nextAt,
      from: formatLocal(zone, hole.from),
      to: formatLocal(zone, hole.to),
      // Whole local days, because commands take those.
      fromDate: localDate(zone, floorTo(zone, hole.from, 'day')),
      toDate: endDate(zone, hole.to),
    })),
    more: Math.max(0, found.length - HOLES_SHOWN),
  }
}

/** The first local day that begins at or after an instant. */
function endDate(zone: string, at: number): string {
  const day = floorTo(zone, at, 'day')
  return localDate(zone, day === at ? at : addUnits(zone, day, 'day', 1))
}

export type CoverageOf = Awaited<ReturnType<typeof readCoverageOf>>
