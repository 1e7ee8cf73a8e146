import { ABSENT_COLUMNS, COVERAGE_COLUMNS } from '../db/queries/coverageColumns.ts'
import { GOOD_OUTCOMES, REPEAT } from '../db/queries/fetchOutcomes.ts'
import type { Reader } from '../db/store.ts'
import { isAboutValues } from '../db/tables/rows.ts'
import type { Job } from '../job/job.ts'
import { hasBudget } from '../job/pace.ts'
import { fromIdentityRow, seriesKey } from '../job/plannedRequest.ts'
import type { Timeline } from '../judge/stored.ts'
import { NO_ATTEMPTS, type PlannerState, type SeriesState, UNKNOWN_SERIES } from '../plan/plannerState.ts'
import { readCatalogue } from '../state/catalogue.ts'
import { toTimeline } from '../state/judgeInput.ts'
import { readUnknown } from '../state/unknownItems.ts'
import { floorToSecond, type Instant } from '../util/time/instant.ts'
import { readAttempts } from './readAttempts.ts'

const groupBySeries = <T extends { readonly series_id: number }>(rows: readonly T[]): ReadonlyMap<number, T[]> =>
  Map.groupBy(rows, ({ series_id }) => series_id)

/** Every series with the last period of its first geo. */
const seriesWithPeriods = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('series_geo as g')
          .select(['g.series_id', ({ fn }) => fn.min('g.geo_id').as('geo_id')])
          .groupBy('g.series_id')
          .as('f'),
      (join) => join.onRef('f.series_id', '=', 's.id'),
    )
    .leftJoin('observation as p', (join) =>
      join
        .onRef('p.series_id', '=', 's.id')
        .onRef('p.geo_id', '=', 'f.geo_id')
        .on('p.at', '=', (eb) =>
          eb
            .selectFrom('observation as o')
            .select(({ fn }) => fn.max('o.at').as('at'))
            .whereRef('o.series_id', '=', 's.id')
            .whereRef('o.geo_id', '=', 'f.geo_id'),
        ),
    )
    .selectAll('s')
    .select(['p.at as period_at', 'p.step_s as period_s'])
    .execute()

/** The ends of the values of every series and geo. */
async function readTimelines({ kysely }: Reader): Promise<ReadonlyMap<number, Timeline[]>> {
  const rows = await kysely
    .selectFrom('series_geo')
    .select(['series_id', 'geo_id', 'first_at', 'last_at', 'step_s', 'kind'])
    .orderBy('series_id')
    .orderBy('geo_id')
    .execute()
  return new Map([...groupBySeries(rows)].map(([seriesId, ofSeries]) => [seriesId, ofSeries.map(toTimeline)]))
}

/**
 * The times of the last replies to requests without a window, by path and query. The last one has the highest id, not the latest
 * time: the clock may have been set back.
 */
async function readLastReplies({ kysely }: Reader): Promise<ReadonlyMap<string, Instant>> {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['target', 'finished_at'])
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('_fetch')
        .select(({ fn }) => fn.max('id').as('id'))
        .where((eb) => eb.or([eb('series_id', 'is', null), eb('from_at', 'is', null)]))
        .where('outcome', 'in', GOOD_OUTCOMES)
        .groupBy('target'),
    )
    .execute()
  return new Map(rows.map(({ target, finished_at }) => [target, floorToSecond(finished_at)]))
}

/** Since when the replies about one instant have open rejects about values, by path and query. */
async function readRejectedInstants({ kysely }: Reader): Promise<ReadonlyMap<string, Instant>> {
  const rows = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.path', 'f.target', 'f.finished_at'])
    .where('q.resolved_at', 'is', null)
    .where('f.series_id', 'is not', null)
    .where('f.from_at', 'is', null)
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .orderBy('f.id', 'desc')
    .execute()
  // The first one comes last, and replaces the others.
  return new Map(rows.filter(isAboutValues).map(({ target, finished_at }) => [target, floorToSecond(finished_at)]))
}

/** The times at which each stored job last sent a repeat. */
async function readRepeatTimes({ kysely }: Reader): Promise<ReadonlyMap<number, Instant>> {
  const requests = kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .where('f.reason', '=', REPEAT)
    .where('r.job_id', 'is not', null)
  const last = requests.select(({ fn }) => fn.max('f.id').as('id')).groupBy('r.job_id')
  const rows = await requests.where('f.id', 'in', last).select(['r.job_id', 'f.finished_at']).execute()
  return new Map(rows.map(({ job_id, finished_at }) => [job_id!, floorToSecond(finished_at)]))
}

/** Reads the state of the database for the planner of some jobs. */
export async function readPlannerState(db: Reader, jobs: readonly Job[] = []): Promise<PlannerState> {
  const coverage = await db.kysely
    .selectFrom('_coverage')
    .select(['series_id', ...COVERAGE_COLUMNS])
    .orderBy('series_id')
    .orderBy('geo_id')
    .orderBy('from_at')
    .execute()
  const changes = await db.kysely
    .selectFrom('_resolution')
    .select(['series_id', 'from_at'])
    .orderBy('from_at')
    .execute()
  const absences = await db.kysely
    .selectFrom('_absent')
    .select(['series_id', ...ABSENT_COLUMNS])
    .orderBy('series_id')
    .orderBy('from_at')
    .execute()
  const coverageBySeries = groupBySeries(coverage)
  const timelinesBySeries = await readTimelines(db)
  const changesBySeries = groupBySeries(changes)
  const absencesBySeries = groupBySeries(absences)
  const series = new Map(
    (await seriesWithPeriods(db)).map((row): [string, SeriesState] => [
      seriesKey(fromIdentityRow(row)),
      {
        coverage: coverageBySeries.get(row.id) ?? [],
        timelines: timelinesBySeries.get(row.id) ?? [],
        changes: (changesBySeries.get(row.id) ?? []).map(({ from_at }) => from_at),
        windowS: row.window_s,
        lookbackS: row.lookback_s,
        period: row.period_at === null || row.period_s === null ? undefined : { at: row.period_at, step: row.period_s },
        absences: absencesBySeries.get(row.id) ?? [],
      },
    ]),
  )
  const lastReplies = await readLastReplies(db)
  const rejectedInstants = await readRejectedInstants(db)
  const repeatTimes = await readRepeatTimes(db)
  const unknown = await readUnknown(db)
  return {
    repeatRequestedAt: (jobId) => repeatTimes.get(jobId),
    unknown: (route, id) => unknown.get(`${route} ${id}`),
    series: (key) => series.get(key) ?? UNKNOWN_SERIES,
    lastReplyAt: (target) => lastReplies.get(target),
    rejectedSince: (target) => rejectedInstants.get(target),
    attempts: jobs.some(({ pace }) => hasBudget(pace)) ? await readAttempts(db) : NO_ATTEMPTS,
  }
}

/** Reads the state of the database and the catalogue for the planner. */
export const readStateAndCatalogue = async (db: Reader, jobs: readonly Job[]) => ({
  plannerState: await readPlannerState(db, jobs),
  catalogue: await readCatalogue(db),
})
