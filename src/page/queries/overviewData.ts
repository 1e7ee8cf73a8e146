import { gapsAt, isMissed } from '../../reports/findGaps.ts'
import { findReaches, type Reach } from '../../reports/lag.ts'
import { findFailedRuns, findRunningRun, findUnfinishedRuns, withDeadRuns } from '../../reports/lastRuns.ts'
import { readFailures } from '../../reports/readStatus.ts'
import { type Remedies, readRemedies } from '../../reports/remedies.ts'
import { findRhythms } from '../../reports/rhythm.ts'
import { isHere } from '../../util/host.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { floorTo, formatLocal } from '../../util/time/zone.ts'
import { type PageRequest, paginate } from '../page.ts'
import { computeShares, geosBySeries, readCoverageIntervals, timelines } from './intervals.ts'
import { geoNames, requestNames, seriesUnits } from './names.ts'
import { lastDays, periodBorders } from './periods.ts'
import { latestValue } from './series/seriesQuery.ts'
import { readDays, sixDigits } from './series/window.ts'
import { allSeries, findSeries, type SeriesRow, seriesHeads } from './seriesPaths.ts'

/** Days of the strip. */
export const STRIP_DAYS = 90
/** Series on one page, and failures and runs that are listed. */
const [LINES_A_PAGE, FAILURES, RUNS_SHOWN] = [40, 8, 5]
/** How many gaps and late series are named. */
const PROBLEMS_SHOWN = 8
/** Days of the small picture of a series. */
const TREND_DAYS = 30

/**
 * Reads the gaps of each series by reason: their count, range and length, and one of the jobs that select them. Mistakes of jobs are
 * listed as such, not as gaps.
 */
async function gapsBySeries({ store, now }: PageRequest, { findMistake, gapCommand }: Remedies) {
  const gaps = await store.kysely
    .selectFrom(gapsAt(now))
    .select(({ fn, eb }) => [
      'series_id',
      'geo_id',
      'reason',
      fn.min('kind').as('kind'),
      fn.min('indicator_id').as('indicator_id'),
      fn.countAll<number>().as('count'),
      fn.min('from_at').as('from'),
      fn.max('to_at').as('to'),
      fn.sum<number>(eb('to_at', '-', eb.ref('from_at'))).as('seconds'),
      fn.min('job_id').as('job_id'),
    ])
    .select((eb) => isMissed(eb).as('isGap'))
    .groupBy(['series_id', 'geo_id', 'reason', 'isGap'])
    .execute()
  // A condition on the view would make SQLite read whole tables.
  const missed = gaps.filter((gap) => Boolean(gap.isGap) && findMistake(gap) === null)
  return [...Map.groupBy(missed, ({ series_id, reason }) => `${series_id} ${reason}`).values()].map((group) => ({
    ...group[0]!,
    count: group.reduce((sum, { count }) => sum + Number(count), 0),
    from: Math.min(...group.map(({ from }) => from)),
    to: Math.max(...group.map(({ to }) => to)),
    seconds: group.reduce((sum, { seconds }) => sum + Number(seconds), 0),
    geos: group.length,
    command: gapCommand(group[0]!),
  }))
}

type SeriesGap = Awaited<ReturnType<typeof gapsBySeries>>[number]

const WORST = ['failed', 'unverified', 'withdrawn', 'absent', 'null', 'no values', 'late', 'never requested']

/** The worst gaps with the names of their series. */
async function worstGaps(request: PageRequest, gaps: readonly SeriesGap[], series: readonly SeriesRow[]) {
  const rows = new Map(series.map((row) => [row.id, row]))
  const worst = gaps
    .filter(({ series_id }) => rows.has(series_id))
    .sort((a, b) => WORST.indexOf(a.reason) - WORST.indexOf(b.reason) || b.seconds - a.seconds)
    .slice(0, PROBLEMS_SHOWN)
  const heads = worst.map(({ series_id }) => rows.get(series_id)!)
  const head = await seriesHeads(request, heads)
  return worst.map(({ series_id, ...gap }) => ({ ...gap, ...head(rows.get(series_id)!) }))
}

/** Reads the rows of the overview. */
async function readLines(
  request: PageRequest,
  found: Awaited<ReturnType<typeof findSeries>>,
  reach: ReadonlyMap<number, Reach>,
  gaps: ReadonlyMap<number, readonly SeriesGap[]>,
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
    const { lastAt = null, behindS = null, usualS = null, checkedAt = null, late = null } = reach.get(row.id) ?? {}
    const geoIds = geos.get(row.id) ?? []
    const geo = foundGeo ?? request.service.mainGeos.find((id) => geoIds.includes(id)) ?? geoIds[0] ?? 0
    const line = { seriesId: row.id, geoId: geo, zone: row.time_zone }
    const trend = await readDays(request.store, line, trendRange, null)
    const latest = await latestValue.first(request.store.kysely, { series: row.id, geo, now: request.now })
    const days = periodBorders(row.time_zone, lastDays(row.time_zone, request.now, STRIP_DAYS), 'day')
    lines.push({
      ...head(row),
      /** The geo of the value and of the small picture. */
      geo: named.get(geo) ?? null,
      geos: geoIds.length,
      lastLocal: lastAt === null ? null : formatLocal(row.time_zone, lastAt),
      behindS,
      usualS,
      checkedAt,
      late: late !== null,
      unit: units.get(row.id) ?? null,
      /** The value of the main geo now, or the last one before, and the local time at which it begins. */
      value: latest?.value ?? null,
      valueLocal: latest ? formatLocal(row.time_zone, latest.at) : null,
      /** Daily means of that geo; null for a day without values. */
      trend: trend.map(([, { mean }]) => sixDigits(mean)),
      gaps: (gaps.get(row.id) ?? []).reduce((sum, { count }) => sum + count, 0),
      /** Shares of states by day. */
      days: computeShares(timelines(intervals.get(row.id)!), days, geoIds),
    })
  }
  return lines
}

export type SeriesLine = Awaited<ReturnType<typeof readLines>>[number]

/** Whether every service that was called runs on this computer, such as the emulator. */
async function hasLocalSources({ kysely }: PageRequest['store']): Promise<boolean> {
  const sources = await kysely.selectFrom('_source').select('host').execute()
  return sources.length > 0 && sources.every(({ host }) => isHere(`http://${host}`))
}

/** Reads whether the copy is complete and fresh, and the problems to fix. */
export async function readOverview(request: PageRequest) {
  const { store, now, query } = request
  const reach = new Map((await findReaches(store, now)).map((series) => [series.seriesId, series]))
  const remedies = await readRemedies(store)
  const stored = await allSeries(request)
  const gaps = await gapsBySeries(request, remedies)
  const seriesGaps = Map.groupBy(gaps, ({ series_id }) => series_id)
  const isLate = (row: SeriesRow): boolean => Boolean(reach.get(row.id)?.late)
  // Series that need attention come first.
  const rank = (row: SeriesRow): number => (isLate(row) ? 0 : seriesGaps.has(row.id) ? 1 : 2)
  const all = stored.sort((a, b) => rank(a) - rank(b))
  const filter = (query.get('q') ?? '').slice(0, 100)
  const { page, pages, shown } = paginate(request, await findSeries(request, all, filter), LINES_A_PAGE)
  const runs = await findFailedRuns(store)
  const running = await findRunningRun(store)
  // One cause is one problem: the command of a failed run repeats its failed requests and sends the others.
  const ownRuns = new Set(runs.map(({ run }) => run))
  const wholeJobs = new Set(runs.flatMap(({ jobId, part }) => (part === null && jobId !== null ? jobId : [])))
  const open = await readFailures(store)
  const keyJobs = new Set(open.flatMap(({ outcome, jobId, job }) => (outcome === 'key' ? `${jobId} ${job}` : [])))
  const failures = open.filter(({ runId }) => !ownRuns.has(runId))
  // A run in progress requests what its job lacks.
  const isFetching = ({ reason, job_id }: SeriesGap): boolean =>
    reason === 'never requested' && job_id !== null && remedies.jobs.get(job_id)?.name === running?.job
  const isOfRun = ({ reason, job_id }: SeriesGap): boolean =>
    (reason === 'failed' || reason === 'never requested') && job_id !== null && wholeJobs.has(job_id)
  const rhythms = await findRhythms(store, now)
  const named = gaps.filter((gap) => !isOfRun(gap) && !isFetching(gap))
  const listed = failures.slice(0, FAILURES)
  const name = await requestNames(request, listed)
  const quarantine = store.kysely.selectFrom('_quarantine').where('resolved_at', 'is', null)
  return {
    health: {
      series: all.length,
      late: all.filter(isLate).length,
      /** Those that `retry` may repair. The service does not know the items of the others. */
      failures: failures.filter(({ next_at }) => next_at === null).length,
      quarantined: (await quarantine.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n,
      missed: rhythms
        .filter(({ missedFrom }) => now > missedFrom)
        .map(({ job, jobId, lastAt, usualS }) => ({ job, jobId, lastAt: formatUtc(lastAt), usualS })),
      lackingGeos: remedies.lacking,
      /** `key`: the service refused the key. */
      failedRuns: runs.map((run) => ({ ...run, key: keyJobs.has(`${run.jobId} ${run.job}`) })),
      unfinishedRuns: await findUnfinishedRuns(store),
      /** The run that is requesting missing data. */
      fetchingRun: gaps.some(isFetching) ? running!.id : null,
      gaps: await worstGaps(request, named, all),
      moreGaps: Math.max(0, named.length - PROBLEMS_SHOWN),
    },
    /** The next runs by schedule; `isDue`: it should have begun, and is not yet missed. */
    next: rhythms.flatMap(({ job, jobId, nextAt, missedFrom }) =>
      nextAt !== null && now <= missedFrom ? { job, jobId, at: formatUtc(nextAt), isDue: nextAt <= now } : [],
    ),
    jobFiles: remedies.files,
    /** A command with the file of the job of a run, or the one that forgets a job whose file is gone. */
    runCommand: remedies.runCommand,
    /** Whether the data is for practice: no service elsewhere was called. */
    isPractice: await hasLocalSources(store),
    failures: listed.map((failure) => {
      const { target, outcome, message, hint, code, next_at } = failure
      const command = remedies.failureCommand(failure)
      return { name: name(failure), target, outcome, message, hint, code, next_at, command }
    }),
    runs: await withDeadRuns(store, await store.kysely.selectFrom('runs').selectAll().limit(RUNS_SHOWN).execute()),
    series: await readLines(request, shown, reach, seriesGaps),
    filter,
    page,
    pages,
  }
}

export type Overview = Awaited<ReturnType<typeof readOverview>>
