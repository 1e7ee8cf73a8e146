import { formatUtc } from '../../base/time/instant.ts'
import { formatLocal } from '../../base/time/zone.ts'
import { type Reach, reaches } from '../../checks/lag.ts'
import { failedRuns, unfinishedRuns, withDeadRuns } from '../../checks/lastRuns.ts'
import { rhythms } from '../../checks/rhythm.ts'
import { openFailures } from '../../checks/status.ts'
import { readJobFiles } from '../../db/queries/jobFiles.ts'
import type { LakeState } from '../../lake/state.ts'
import type { PageRequest } from '../page.ts'
import { lastDays } from './days.ts'
import { coverageIntervalsOf, geosBySeries, type Shares, sharesOf, timelines } from './intervals.ts'
import { geoNames, indicatorNames } from './names.ts'
import { allSeries, type SeriesRow, seriesHead } from './seriesPaths.ts'

/** Days of the strip. */
export const STRIP_DAYS = 90
/** Series on one page. */
const LINES_A_PAGE = 40
/** How many failures are listed. */
const FAILURES = 20
const RUNS_SHOWN = 5

/** A series as the overview shows it. */
export interface SeriesLine {
  readonly path: string
  readonly kind: string
  readonly indicatorId: number
  readonly name: string | null
  readonly timeTrunc: string | null
  readonly geoAgg: string | null
  /** The only geo, where there is one. */
  readonly geo: string | null
  readonly geos: number
  readonly lastLocal: string | null
  readonly behindS: number | null
  readonly usualS: number | null
  readonly checkedAt: string | null
  readonly late: boolean
  /** Shares of the states in the last local days, the latest last. */
  readonly days: readonly Shares[]
}

const countQuarantine = async ({ store }: PageRequest): Promise<number> => {
  const { open } = await store.kysely
    .selectFrom('_quarantine')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .where('resolved_at', 'is', null)
    .executeTakeFirstOrThrow()
  return open
}

/** How many gaps there are for each reason, with one of the jobs that want them. */
const gapsByReason = ({ store }: PageRequest) =>
  store.kysely
    .selectFrom('gaps')
    .select(({ fn }) => ['reason', fn.countAll<number>().as('count'), fn.min('job').as('job')])
    .groupBy('reason')
    .orderBy('reason')
    .execute()

/** The jobs whose run is missed. */
async function missed({ store, now }: PageRequest): Promise<{ job: string; lastAt: string; usualS: number }[]> {
  return (await rhythms(store, now))
    .filter(({ missedFrom }) => now > missedFrom)
    .map(({ job, lastAt, usualS }) => ({ job, lastAt: formatUtc(lastAt), usualS }))
}

/**
 * How the lakes of jobs compare with the database; `state` is a sentence where that cannot be determined, null where there is no
 * lake yet. The code that reads a lake is loaded where there is one.
 */
async function lakesOf({ store, lakes }: PageRequest): Promise<{ folder: string; state: LakeState | string | null }[]> {
  const folders = (await lakes?.()) ?? []
  if (folders.length === 0) return []
  const { lakeStateIn } = await import('../../lake/state.ts')
  const found: { folder: string; state: LakeState | string | null }[] = []
  for (const folder of folders) {
    const state = await lakeStateIn(store, folder)
    if (state !== undefined) found.push({ folder, state })
  }
  return found
}

/** The job that last requested something. */
async function jobOf({ store }: PageRequest, target: string): Promise<string | null> {
  const row = await store.kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .select('r.job')
    .where('f.target', '=', target)
    .orderBy('f.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.job ?? null
}

/** The lines of some series. */
async function readLines(
  request: PageRequest,
  series: readonly SeriesRow[],
  reach: ReadonlyMap<number, Reach>,
): Promise<SeriesLine[]> {
  const ids = series.map(({ id }) => id)
  const geos = await geosBySeries(request, ids)
  const intervals = await coverageIntervalsOf(request, ids)
  const names = await indicatorNames(
    request,
    series.map(({ indicator_id }) => indicator_id),
  )
  const named = await geoNames(
    request,
    [...geos.values()].flatMap((of) => (of.length === 1 ? of : [])),
  )
  const found: SeriesLine[] = []
  for (const row of series) {
    const { lastAt = null, behindS = null, usualS = null, checkedAt = null, late = null } = reach.get(row.id) ?? {}
    const of = geos.get(row.id) ?? []
    const { borders } = lastDays(row.time_zone, request.now, STRIP_DAYS)
    found.push({
      ...seriesHead(row, names),
      geo: of.length === 1 ? (named.get(of[0]!) ?? null) : null,
      geos: of.length,
      lastLocal: lastAt === null ? null : formatLocal(row.time_zone, lastAt),
      behindS,
      usualS,
      checkedAt,
      late: late !== null,
      days: sharesOf(timelines(intervals.get(row.id)!), borders, of),
    })
  }
  return found
}

/** What the overview shows: whether the copy is complete and fresh, and what to do where it is not. */
export async function readHome(request: PageRequest) {
  const { store, now, query } = request
  const reach = new Map((await reaches(store, now)).map((of) => [of.seriesId, of]))
  // Series that need attention come first.
  const late = (row: SeriesRow): number => (reach.get(row.id)?.late ? 0 : 1)
  const all = (await allSeries(request)).sort((a, b) => late(a) - late(b))
  const pages = Math.max(1, Math.ceil(all.length / LINES_A_PAGE))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query.get('page') ?? 1)) || 1))
  const failures = await openFailures(store)
  const listed = []
  for (const failure of failures.slice(0, FAILURES))
    listed.push({ ...failure, job: await jobOf(request, failure.target) })
  return {
    health: {
      series: all.length,
      late: all.filter((row) => late(row) === 0).length,
      failures: failures.length,
      quarantined: await countQuarantine(request),
      missed: await missed(request),
      failedRuns: await failedRuns(store),
      unfinishedRuns: await unfinishedRuns(store),
      gaps: await gapsByReason(request),
    },
    jobFiles: await readJobFiles(store),
    lakes: await lakesOf(request),
    failures: listed,
    runs: await withDeadRuns(store, await store.kysely.selectFrom('runs').selectAll().limit(RUNS_SHOWN).execute()),
    series: await readLines(request, all.slice((page - 1) * LINES_A_PAGE, page * LINES_A_PAGE), reach),
    page,
    pages,
  }
}

export type Home = Awaited<ReturnType<typeof readHome>>
