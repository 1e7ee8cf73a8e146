import { readJobFiles } from '../../db/queries/jobRuns.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { type FoundFinding, findWithFacts } from '../../findings/findFindings.ts'
import { findLackingGeos } from '../../findings/readers/lackingGeos.ts'
import { countTolerated, readMissingData } from '../../findings/readers/missingData.ts'
import type { MissingData } from '../../findings/trouble.ts'
import { findRunningRun, withDeadRuns } from '../../state/lastRuns.ts'
import { findRhythms } from '../../state/rhythm.ts'
import { isLoopback } from '../../util/host.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { floorTo, formatLocal } from '../../util/time/zone.ts'
import { type PageRequest, paginate } from '../page.ts'
import { computeShares, geosBySeries, readCoverageIntervals, type Timelines, timelines } from './intervals.ts'
import { geoNames, seriesUnits } from './names.ts'
import { lastDays, periodBorders } from './periods.ts'
import { latestValue } from './series/seriesQuery.ts'
import { readDays, sixDigits } from './series/window.ts'
import { allSeries, findSeries, type SeriesRow, seriesHeads } from './seriesPaths.ts'

/** Days of the strip. */
export const STRIP_DAYS = 90
/** Series on one page, and runs and findings that are listed. */
const LINES_A_PAGE = 40
const RUNS_SHOWN = 5
const FINDINGS_SHOWN = 24
/** Days of the small picture of a series. */
const TREND_DAYS = 30

/** Reads how far the values of each series reach, or of one of its geos, in seconds behind now, negative for the future. */
async function readReaches({ store, now }: PageRequest) {
  const rows = await store.kysely
    .selectFrom('series_geo')
    .select(['series_id', 'geo_id', 'last_at', 'step_s'])
    .execute()
  const bySeries = Map.groupBy(rows, ({ series_id }) => series_id)
  return (seriesId: number, geo: number | null) => {
    const ends = (bySeries.get(seriesId) ?? []).flatMap(({ geo_id, last_at, step_s }) =>
      last_at === null || (geo !== null && geo_id !== geo) ? [] : { lastAt: last_at, endAt: last_at + (step_s ?? 0) },
    )
    if (ends.length === 0) return { lastAt: null, behindS: null }
    const lastAt = Math.max(...ends.map((end) => end.lastAt))
    return { lastAt, behindS: now - Math.max(...ends.map(({ endAt }) => endAt)) }
  }
}

/** The timelines of one geo; without its own, that of all geos. */
const ofGeo = (lines: Timelines, geo: number): Timelines => {
  const own = lines.has(geo) ? geo : ALL_GEOS
  return new Map(lines.has(own) ? [[own, lines.get(own)!]] : [])
}

/** Reads the findings, each cause once, with the series that a link leads to. */
async function readFindings(request: PageRequest, series: readonly SeriesRow[]) {
  const found = await findWithFacts(request.store, request.now, 'state', { toCommand: request.command })
  const rows = new Map(series.map((row) => [row.id, row]))
  const rowOf = ({ trouble }: FoundFinding): SeriesRow | undefined => rows.get(trouble.seriesIds[0] ?? 0)
  const shown = found.slice(0, FINDINGS_SHOWN)
  const head = await seriesHeads(
    request,
    shown.flatMap((finding) => rowOf(finding) ?? []),
  )
  const findings = shown.map((finding) => {
    const row = rowOf(finding)
    return { ...finding, series: row ? head(row) : null }
  })
  return { findings, more: found.length - shown.length }
}

/** Reads the selected geos of each series that never had a value, although others of it have: each has a row of its own. */
async function readLackingGeos({ store, now }: PageRequest): Promise<ReadonlyMap<number, readonly number[]>> {
  const lacking = (await findLackingGeos(store, now)).filter(({ stored }) => stored.length > 0)
  const bySeries = Map.groupBy(lacking, ({ series_id }) => series_id)
  return new Map([...bySeries].map(([id, each]) => [id, [...new Set(each.flatMap(({ geoIds }) => geoIds))]]))
}

/** Removes what only geos without any value lack. */
const withoutLacking = (gaps: readonly MissingData[], lacking: readonly number[]): readonly MissingData[] =>
  gaps.filter(({ geoIds }) => !geoIds.every((geo) => lacking.includes(geo)))

/** Reads the rows of the overview. */
async function readLines(
  request: PageRequest,
  found: Awaited<ReturnType<typeof findSeries>>,
  reach: Awaited<ReturnType<typeof readReaches>>,
  gapsByGeo: ReadonlyMap<number | null, ReadonlyMap<number, readonly MissingData[]>>,
  lackingGeos: ReadonlyMap<number, readonly number[]>,
) {
  const series = found.map(({ row }) => row)
  const ids = series.map(({ id }) => id)
  const geos = await geosBySeries(request, ids)
  const intervals = await readCoverageIntervals(request, ids)
  const head = await seriesHeads(request, series)
  const named = await geoNames(request, [...geos.values()].flat())
  // Today is unfinished, so that its mean would mislead.
  const today = floorTo(request.service.timeZone, request.now, 'day')
  const trendRange = lastDays(request.service.timeZone, today - 1, TREND_DAYS)
  const units = await seriesUnits(request, ids)
  const lines = []
  for (const { row, geo: foundGeo } of found) {
    const { lastAt, behindS } = reach(row.id, foundGeo)
    const lacking = lackingGeos.get(row.id) ?? []
    const ofRow = gapsByGeo.get(foundGeo)?.get(row.id) ?? []
    const gaps = foundGeo === null ? withoutLacking(ofRow, lacking) : ofRow
    const coverage = timelines(intervals.get(row.id)!)
    const ownCoverage = new Map([...coverage].filter(([geoId]) => !lacking.includes(geoId)))
    const geoIds = geos.get(row.id) ?? []
    const geo = foundGeo ?? request.service.mainGeos.find((id) => geoIds.includes(id)) ?? geoIds[0] ?? 0
    const line = { seriesId: row.id, geoId: geo, zone: row.time_zone }
    const trend = await readDays(request.store, line, trendRange, null)
    const latest = await latestValue.first(request.store.kysely, { series: row.id, geo, now: request.now })
    const days = periodBorders(row.time_zone, lastDays(row.time_zone, request.now, STRIP_DAYS), 'day')
    lines.push({
      ...head(row),
      /** The geo that the filter names, of which the row is; null: the row is of all. */
      filteredGeo: foundGeo,
      /** The geo of the value and of the small picture. */
      geo: named.get(geo) ?? (geo === ALL_GEOS ? null : String(geo)),
      geos: geoIds.length,
      lastLocal: lastAt === null ? null : formatLocal(row.time_zone, lastAt),
      behindS,
      late: gaps.some(isLate),
      unit: units.get(row.id) ?? null,
      /** The value of the main geo now, or the last one before, and the local time at which it begins. */
      value: latest?.value ?? null,
      valueLocal: latest ? formatLocal(row.time_zone, latest.at) : null,
      /** Daily means of that geo; null for a day without values. */
      trend: trend.map(([, { mean }]) => sixDigits(mean)),
      gaps: gaps.reduce((sum, { count }) => sum + count, 0),
      /** Shares of states by day. */
      days:
        foundGeo === null
          ? computeShares(ownCoverage, days, geoIds)
          : computeShares(ofGeo(coverage, foundGeo), days, [foundGeo]),
    })
  }
  return lines
}

export type OverviewLine = Awaited<ReturnType<typeof readLines>>[number]

const isLate = ({ reason }: MissingData): boolean => reason === 'late'

/** Whether every service that was called runs on this computer, such as the emulator. */
export async function hasLocalSources({ kysely }: PageRequest['store']): Promise<boolean> {
  const sources = await kysely.selectFrom('_source').select('host').execute()
  return sources.length > 0 && sources.every(({ host }) => isLoopback(`http://${host}`))
}

/** Reads whether the copy is complete and fresh, and the problems to fix. */
export async function readOverview(request: PageRequest) {
  const { store, now, query } = request
  const stored = await allSeries(request)
  const readGaps = async (geo: number | null) =>
    Map.groupBy(await readMissingData(store, now, geo), ({ series_id }) => series_id)
  const gaps = await readGaps(null)
  // Series that need attention come first.
  const rank = ({ id }: SeriesRow): number => {
    const ofSeries = gaps.get(id)
    if (ofSeries === undefined) return 2
    return ofSeries.some(isLate) ? 0 : 1
  }
  const all = stored.sort((a, b) => rank(a) - rank(b))
  const filter = (query.get('q') ?? '').slice(0, 100)
  const lackingGeos = await readLackingGeos(request)
  const found = (await findSeries(request, all, filter)).flatMap((each) => [
    each,
    ...(each.geo === null ? (lackingGeos.get(each.row.id) ?? []).map((geo) => ({ ...each, geo })) : []),
  ])
  const { page, pages, shown } = paginate(request, found, LINES_A_PAGE)
  const gapsByGeo = new Map([[null, gaps] as readonly [number | null, typeof gaps]])
  for (const { geo } of shown) if (!gapsByGeo.has(geo)) gapsByGeo.set(geo, await readGaps(geo))
  const running = await findRunningRun(store)
  // A run in progress requests what its job lacks.
  const isFetching = ({ reason, jobId }: MissingData): boolean =>
    reason === 'never requested' && jobId === running?.job_id
  const rhythms = await findRhythms(store, now)
  return {
    health: {
      series: all.length,
      ...(await readFindings(request, all)),
      /** Lost periods that are tolerated. */
      tolerated: await countTolerated(store, now),
      /** The run that is requesting missing data. */
      fetchingRun: running && [...gaps.values()].flat().some(isFetching) ? running.id : null,
    },
    /** The next runs by schedule; `isDue`: it should have begun, and is not yet missed. */
    next: rhythms.flatMap(({ job, jobId, nextAt, missedFrom }) =>
      nextAt !== null && now <= missedFrom ? { job, jobId, at: formatUtc(nextAt), isDue: nextAt <= now } : [],
    ),
    jobFiles: await readJobFiles(store),
    /** Whether the data is for practice: no service elsewhere was called. */
    isPractice: await hasLocalSources(store),
    runs: await withDeadRuns(store, await store.kysely.selectFrom('runs').selectAll().limit(RUNS_SHOWN).execute()),
    series: await readLines(request, shown, await readReaches(request), gapsByGeo, lackingGeos),
    filter,
    page,
    pages,
  }
}

export type Overview = Awaited<ReturnType<typeof readOverview>>
