import { type Kysely, type Selectable, sql } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { ABSENT_COLUMNS, COVERAGE_COLUMNS } from '../db/queries/coverageColumns.ts'
import { COARSE, GOOD_OUTCOMES, isUserRange, NO_FAILURE, UNKNOWN_STATUSES } from '../db/queries/fetchOutcomes.ts'
import type { Reason } from '../db/tables/bookkeeping.ts'
import type { Database } from '../db/tables/schema.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import type { EarlierLookback } from '../job/duty.ts'
import { DEFAULT_LOOKBACK_S } from '../job/normalize.ts'
import { borderUnit } from '../judge/finality.ts'
import { findLag, graceSeconds } from '../judge/growth.ts'
import type { JudgeInput, Requirement } from '../judge/judgeTypes.ts'
import type { RefusalTimes, Timeline } from '../judge/stored.ts'
import { findAllowedLag, findUsualLag } from '../judge/usualLag.ts'
import { parseNumbers } from '../util/json.ts'
import { CLOCK_ERROR_S, floorToSecond, formatMillis, HOUR, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/* Reads the input of the judgement of one series, by a few queries by key. */

type Db = Kysely<Database>

const selectSeries = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db.selectFrom('series').select(['time_zone', 'time_trunc', 'lookback_s']).where('id', '=', seriesId),
)

const selectTimelines = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('series_geo')
    .select(['geo_id', 'first_at', 'last_at', 'step_s', 'kind'])
    .where('series_id', '=', seriesId)
    .orderBy('geo_id'),
)

const selectDuties = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_duty as d')
    .innerJoin('_job as j', 'j.id', 'd.job_id')
    .select([
      'j.id',
      'j.name',
      'j.usual_s',
      'd.geo_ids',
      'd.window_text',
      'd.from_at',
      'd.to_at',
      'd.lookback_s',
      'd.earlier_lookbacks',
      'd.refresh_s',
      'd.since_at',
    ])
    .where('d.series_id', '=', seriesId)
    .orderBy('j.name')
    .orderBy('j.id')
    .orderBy('d.geo_ids')
    .orderBy('d.window_text'),
)

const selectCoverage = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_coverage')
    .select(COVERAGE_COLUMNS)
    .where('series_id', '=', seriesId)
    .orderBy('geo_id')
    .orderBy('from_at'),
)

/** The missing periods that overlap or touch an interval. The index by end finds recent ones. */
export const selectAbsences = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('_absent')
    .select(ABSENT_COLUMNS)
    .where('series_id', '=', seriesId)
    .where('to_at', '>=', from)
    .where('from_at', '<=', to)
    .orderBy('geo_id')
    .orderBy('from_at'),
)

const selectFailures = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_fetch')
    .innerJoin('_run', '_run.id', '_fetch.run_id')
    .select([
      '_fetch.run_id',
      '_fetch.from_at',
      '_fetch.to_at',
      'geo_ids',
      '_fetch.finished_at',
      'status',
      '_run.command',
      'reason',
    ])
    .where('series_id', '=', seriesId)
    .where('_fetch.outcome', 'not in', NO_FAILURE)
    .orderBy('_fetch.id'),
)

/** Parts of coarse replies that were not requested again are missing, too. */
const selectCoarse = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_fetch')
    .innerJoin('_run', '_run.id', '_fetch.run_id')
    .select(['_fetch.from_at', '_fetch.to_at', 'geo_ids', '_fetch.finished_at', '_run.command', 'reason'])
    .where('series_id', '=', seriesId)
    .where('_fetch.outcome', '=', COARSE)
    .where('_fetch.from_at', 'is not', null),
)

const selectLastGoodRun = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_fetch')
    .select(({ fn }) => fn.max('run_id').as('id'))
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES),
)

const selectAccepted = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_accept')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to'])
    .where('series_id', '=', seriesId)
    .orderBy('id'),
)

/** Fetches of a series by which its lag is judged. */
export const LAST_FETCHES = 30

/**
 * The condition of the index `_fetch_recent`, which spares the windows of a backfill. What reached the present also reached the border of
 * settled values, which is never in the future.
 */
const REACHED_BORDER = sql<boolean>`to_at >= coalesce(settled_before, 0) - 3600`

/**
 * The last fetches that reached the present, by id, because clocks may be set back. Times in the future are wrong. A reply with rejects
 * does not show how far the source is behind.
 */
const selectLastFetches = prepareQuery((db, { seriesId, until }: { seriesId: number } & { readonly until: string }) =>
  db
    .selectFrom('_fetch')
    .select(['finished_at', 'last_at', 'step_s'])
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('rows_rejected', '=', 0)
    .where(REACHED_BORDER)
    // As `<=`, it would make SQLite read all fetches by time, and sort them by id.
    .where(({ eb, not }) => not(eb('finished_at', '>', until)))
    .where((fetch) => fetch('to_at', '>=', fetch(epochSeconds(fetch, 'finished_at'), '-', HOUR)))
    .orderBy('id', 'desc')
    .limit(LAST_FETCHES),
)

/** Reads how far a series usually is behind when it is fetched, in seconds; null if too little is known. */
export const readUsualLag = async (db: Db, seriesId: number, now: Instant): Promise<number | null> =>
  findUsualLag(await selectLastFetches.all(db, { seriesId, until: formatMillis((now + CLOCK_ERROR_S) * 1000) }))

const selectLastPeriod = prepareQuery((db, { seriesId, geo }: { seriesId: number } & { readonly geo: number }) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s as step'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geo)
    .orderBy('at', 'desc')
    .limit(1),
)

type TimelineRow = Pick<Selectable<Database['series_geo']>, 'geo_id' | 'first_at' | 'last_at' | 'step_s' | 'kind'>

/** Makes a timeline of a row of `series_geo`. */
export const toTimeline = ({ geo_id, first_at, last_at, step_s, kind }: TimelineRow): Timeline => ({
  geoId: geo_id,
  kind,
  extent:
    first_at === null || last_at === null || step_s === null ? null : { first: first_at, last: last_at, step: step_s },
})

/** Reads the timelines of a series. */
export const readTimelines = async (db: Db, seriesId: number): Promise<Timeline[]> =>
  (await selectTimelines.all(db, { seriesId })).map(toTimeline)

/** Reads what jobs require of a series. */
const readRequirements = async (db: Db, seriesId: number): Promise<Requirement[]> =>
  (await selectDuties.all(db, { seriesId })).map((duty) => ({
    job: duty.name,
    jobId: duty.id,
    geoIds: parseNumbers(duty.geo_ids || null),
    from: duty.from_at,
    to: duty.to_at,
    lagS: findLag(duty.window_text),
    lookbackS: duty.lookback_s,
    earlierLookbacks: JSON.parse(duty.earlier_lookbacks ?? '[]') as EarlierLookback[],
    refreshS: duty.refresh_s,
    sinceAt: duty.since_at,
    graceS: graceSeconds(duty.usual_s),
  }))

type FailureRow = { readonly run_id: number; readonly finished_at: string; readonly status: number | null }

const isRefusal = ({ status }: FailureRow): boolean => status !== null && UNKNOWN_STATUSES.includes(status)

/**
 * The times at which the service refused the id of a series, in the runs since the last one with a good reply: the order of requests
 * within a run depends on chance.
 */
async function readRefusals(db: Db, seriesId: number, refusals: readonly FailureRow[]): Promise<RefusalTimes | null> {
  if (refusals.length === 0) return null
  const lastGoodRun = (await selectLastGoodRun.first(db, { seriesId }))?.id ?? 0
  const open = refusals.filter(({ run_id }) => run_id > lastGoodRun)
  if (open.length === 0) return null
  return { sinceAt: floorToSecond(open[0]!.finished_at), lastAt: floorToSecond(open.at(-1)!.finished_at) }
}

/** The range of a failed request. */
const toFailedRange = (row: {
  readonly from_at: number | null
  readonly to_at: number | null
  readonly geo_ids: string | null
  readonly finished_at: string
  readonly command: string
  readonly reason: Reason | null
}) =>
  row.from_at === null || row.to_at === null
    ? []
    : {
        from: row.from_at,
        to: row.to_at,
        geoIds: parseNumbers(row.geo_ids),
        failedAt: floorToSecond(row.finished_at),
        isUserRange: isUserRange(row),
      }

/** The input of the judgement of a series, without missing periods. */
interface SeriesToJudge {
  readonly requirements: readonly Requirement[]
  readonly stored: Omit<JudgeInput, 'absences'>
  /** Whether the service ever refused the id: that postpones the next request of every missing period. */
  readonly wasRefused: boolean
}

/** Reads what jobs require of a series, and what is stored of it at an instant. */
export async function readJudgeInput(db: Db, seriesId: number, now: Instant): Promise<SeriesToJudge> {
  const { time_zone, time_trunc, lookback_s } = (await selectSeries.first(db, { seriesId }))!
  const lookbackS = lookback_s ?? DEFAULT_LOOKBACK_S
  const timelines = await readTimelines(db, seriesId)
  const [first] = timelines
  const hasCadence = timelines.some(({ kind }) => kind !== null && kind !== 'irregular')
  const failures = await selectFailures.all(db, { seriesId })
  const refusals = failures.filter(isRefusal)
  const until = formatMillis((now + CLOCK_ERROR_S) * 1000)
  const readPeriod = async () => {
    if (!first) return null
    if (first.extent) return { at: first.extent.last, step: first.extent.step }
    return (await selectLastPeriod.first(db, { seriesId, geo: first.geoId })) ?? null
  }
  const stored = {
    zone: time_zone,
    unit: borderUnit(time_trunc),
    lookbackS,
    timelines,
    period: await readPeriod(),
    coverage: await selectCoverage.all(db, { seriesId }),
    failures: [...failures, ...(await selectCoarse.all(db, { seriesId }))].flatMap(toFailedRange),
    accepted: await selectAccepted.all(db, { seriesId }),
    unknown: await readRefusals(db, seriesId, refusals),
    allowedLagS: hasCadence ? findAllowedLag(await selectLastFetches.all(db, { seriesId, until })) : null,
  }
  return { requirements: await readRequirements(db, seriesId), stored, wasRefused: refusals.length > 0 }
}
