import { readJobFiles } from '../../db/queries/jobRuns.ts'
import type { LakeState } from '../../lake/state.ts'
import { isMissed } from '../../reports/findGaps.ts'
import { findLackingGeos, storedNamedGeos } from '../../reports/lackingGeos.ts'
import { findReaches, type Reach } from '../../reports/lag.ts'
import { failedRuns, unfinishedRuns, withDeadRuns } from '../../reports/lastRuns.ts'
import { type OpenFailure, openFailures } from '../../reports/readStatus.ts'
import { findRhythms } from '../../reports/rhythm.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { dayIntervalAt, localDay } from '../../util/time/localDay.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { type PageRequest, pageNumber } from '../page.ts'
import { coverageIntervalsOf, geosBySeries, lastDays, sharesOf, timelines } from './intervals.ts'
import { geoNames, requestNames, seriesUnits } from './names.ts'
import { latestValue } from './series/seriesQuery.ts'
import { allSeries, matchingSeries, type SeriesRow, seriesHeads } from './seriesPaths.ts'

/** Days of the strip. */
export const STRIP_DAYS = 90
/** Series on one page, and failures and runs that are listed. */
const [LINES_A_PAGE, FAILURES, RUNS_SHOWN] = [40, 8, 5]
/** How many gaps and late series are named. */
const PROBLEMS_SHOWN = 8
/** Days of the small picture of a series. */
const TREND_DAYS = 30

const countQuarantine = async ({ store }: PageRequest): Promise<number> => {
  const open = store.kysely.selectFrom('_quarantine').where('resolved_at', 'is', null)
  return (await open.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
}

/** The gaps of each series by reason: how many, from when to when, how long together, and one of the jobs that want them. */
const gapsBySeries = async ({ store }: PageRequest) => {
  const all = await store.kysely
    .selectFrom('gaps')
    .select(({ fn, eb }) => [
      'series_id',
      'reason',
      fn.countAll<number>().as('count'),
      fn.min('from_at').as('from'),
      fn.max('to_at').as('to'),
      fn.sum<number>(eb('to_at', '-', eb.ref('from_at'))).as('seconds'),
      fn.count<number>('geo_id').distinct().as('geos'),
      fn.min('job').as('job'),
    ])
    .select((of) => isMissed(of).as('isGap'))
    .groupBy(['series_id', 'reason', 'isGap'])
    .execute()
  // Grouped and not filtered: a condition on the view makes SQLite read whole tables.
  return all.filter(({ isGap }) => Boolean(isGap))
}

type SeriesGap = Awaited<ReturnType<typeof gapsBySeries>>[number]

/** The order of problems: what failed comes first. */
const WORST = ['failed', 'unverified', 'absent', 'never requested']

/** The worst gaps with the names of their series; the others are only counted. */
async function worstGaps(request: PageRequest, gaps: readonly SeriesGap[], series: readonly SeriesRow[]) {
  const rows = new Map(series.map((row) => [row.id, row]))
  const worst = gaps
    .filter(({ series_id }) => rows.has(series_id))
    .sort((a, b) => WORST.indexOf(a.reason) - WORST.indexOf(b.reason) || b.seconds - a.seconds)
    .slice(0, PROBLEMS_SHOWN)
  const head = await seriesHeads(
    request,
    worst.map(({ series_id }) => rows.get(series_id)!),
  )
  return worst.map(({ series_id, ...gap }) => ({ ...gap, ...head(rows.get(series_id)!) }))
}

/** The jobs whose run is missed. */
const missed = async ({ store, now }: PageRequest) =>
  (await findRhythms(store, now))
    .filter(({ missedFrom }) => now > missedFrom)
    .map(({ job, lastAt, usualS }) => ({ job, lastAt: formatUtc(lastAt), usualS }))

/**
 * How the lakes of jobs compare with the database; `state` is a sentence where that cannot be determined, null where there is no
 * lake yet. The code that reads a lake is loaded where there is one.
 */
async function lakesOf({ store, lakes }: PageRequest): Promise<{ folder: string; state: LakeState | string | null }[]> {
  const folders = (await lakes?.()) ?? []
  if (folders.length === 0) return []
  const { lakeStateIn } = await import('../../lake/state.ts')
  const found = await Promise.all(folders.map(async (folder) => ({ folder, state: await lakeStateIn(store, folder) })))
  return found.flatMap(({ folder, state }) => (state === undefined ? [] : [{ folder, state }]))
}

/** Failures with what they were for, and the job that last requested it. */
async function listFailures(request: PageRequest, failures: readonly OpenFailure[]) {
  const rows = await Promise.all(
    failures.map(({ target }) =>
      request.store.kysely
        .selectFrom('_fetch as f')
        .leftJoin('_run as r', 'r.id', 'f.run_id')
        .select(['r.job', 'f.code', 'f.route', 'f.params', 'f.from_at', 'f.to_at'])
        .where('f.target', '=', target)
        .orderBy('f.id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow(),
    ),
  )
  const name = await requestNames(request, rows)
  return failures.map((failure, i) => ({ ...failure, name: name(rows[i]!), job: rows[i]!.job, code: rows[i]!.code }))
}

/** The daily means of the last local days of some series: by series and geo, then by day. */
async function readTrends({ store, now, service: { timeZone } }: PageRequest, ids: readonly number[]) {
  const days = lastDays(timeZone, now, TREND_DAYS).borders.slice(0, -1)
  const keys = days.map((at) => localDay(timeZone, dayIntervalAt(timeZone, at).day))
  const rows = await store.kysely
    .selectFrom('_day')
    .select(['series_id', 'geo_id', 'month', 'day', 'count', 'sum'])
    .where('series_id', 'in', [...ids])
    .where('month', '>=', keys[0]!.month)
    .execute()
  const key = (...parts: number[]): string => parts.join(' ')
  const means = new Map(
    rows.map((row) => [
      key(row.series_id, row.geo_id, row.month, row.day),
      row.count === 0 || row.sum === null ? null : row.sum / row.count,
    ]),
  )
  return (seriesId: number, geoId: number): (number | null)[] =>
    keys.map(({ month, dayOfMonth }) => means.get(key(seriesId, geoId, month, dayOfMonth)) ?? null)
}

/** The lines of some series. */
async function readLines(
  request: PageRequest,
  series: readonly SeriesRow[],
  reach: ReadonlyMap<number, Reach>,
  gaps: ReadonlyMap<number, readonly SeriesGap[]>,
) {
  const ids = series.map(({ id }) => id)
  const geos = await geosBySeries(request, ids)
  const intervals = await coverageIntervalsOf(request, ids)
  const head = await seriesHeads(request, series)
  const named = await geoNames(
    request,
    [...geos.values()].flatMap((of) => (of.length === 1 ? of : [])),
  )
  const trends = await readTrends(request, ids)
  const units = await seriesUnits(request, ids)
  const found = []
  for (const row of series) {
    const { lastAt = null, behindS = null, usualS = null, checkedAt = null, late = null } = reach.get(row.id) ?? {}
    const of = geos.get(row.id) ?? []
    const geo = request.service.mainGeos.find((id) => of.includes(id)) ?? of[0] ?? 0
    const latest = await latestValue.first(request.store.kysely, { series: row.id, geo, now: request.now })
    const { borders } = lastDays(row.time_zone, request.now, STRIP_DAYS)
    found.push({
      ...head(row),
      /** The only geo, where there is one. */
      geo: of.length === 1 ? (named.get(of[0]!) ?? null) : null,
      geos: of.length,
      lastLocal: lastAt === null ? null : formatLocal(row.time_zone, lastAt),
      behindS,
      usualS,
      checkedAt,
      late: late !== null,
      unit: units.get(row.id) ?? null,
      /** The value that holds now, of the main geo, or the last one before; and when it begins, in local time. */
      value: latest?.value ?? null,
      valueLocal: latest ? formatLocal(row.time_zone, latest.at) : null,
      /** Means of the last local days of that geo; null for a day without values. */
      trend: trends(row.id, geo),
      gaps: (gaps.get(row.id) ?? []).reduce((sum, { count }) => sum + count, 0),
      /** Shares of the states in the last local days, the latest last. */
      days: sharesOf(timelines(intervals.get(row.id)!), borders, of),
    })
  }
  return found
}

/** A series as the overview shows it. */
export type SeriesLine = Awaited<ReturnType<typeof readLines>>[number]

/** What the overview shows: whether the copy is complete and fresh, and what to do where it is not. */
export async function readOverview(request: PageRequest) {
  const { store, now, query } = request
  const reach = new Map((await findReaches(store, now)).map((of) => [of.seriesId, of]))
  // Series that need attention come first.
  const gaps = await gapsBySeries(request)
  const gapsOf = Map.groupBy(gaps, ({ series_id }) => series_id)
  const isLate = (row: SeriesRow): boolean => Boolean(reach.get(row.id)?.late)
  const rank = (row: SeriesRow): number => (isLate(row) ? 0 : gapsOf.has(row.id) ? 1 : 2)
  const all = (await allSeries(request)).sort((a, b) => rank(a) - rank(b))
  const filter = (query.get('q') ?? '').slice(0, 100)
  const { page, pages, shown } = pageNumber(request, await matchingSeries(request, all, filter), LINES_A_PAGE)
  const failures = await openFailures(store)
  return {
    health: {
      series: all.length,
      late: all.filter(isLate).length,
      failures: failures.length,
      quarantined: await countQuarantine(request),
      missed: await missed(request),
      lackingGeos: (await findLackingGeos(store, await storedNamedGeos(store))).length,
      failedRuns: await failedRuns(store),
      unfinishedRuns: await unfinishedRuns(store),
      gaps: await worstGaps(request, gaps, all),
      moreGaps: Math.max(0, gaps.length - PROBLEMS_SHOWN),
    },
    jobFiles: await readJobFiles(store),
    lakes: await lakesOf(request),
    failures: await listFailures(request, failures.slice(0, FAILURES)),
    runs: await withDeadRuns(store, await store.kysely.selectFrom('runs').selectAll().limit(RUNS_SHOWN).execute()),
    series: await readLines(request, shown, reach, gapsOf),
    filter,
    page,
    pages,
  }
}

export type Overview = Awaited<ReturnType<typeof readOverview>>
