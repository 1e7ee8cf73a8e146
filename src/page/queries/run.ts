import { isFailure, NO_FAILURE } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import type { FetchOutcome } from '../../db/tables/codes.ts'
import { secondsOf } from './runList.ts'

/** Requests that one page lists, those that failed apart. */
const REQUESTS = 40
/** Requests that are drawn and added up by route: a run may have a hundred thousand. */
export const MOST_DRAWN = 1000

/** The requests of a run from `_fetch`, the latest first. */
const requestsOfRun = ({ kysely }: Reader, run: number) =>
  kysely.selectFrom('_fetch as f').where('f.run_id', '=', run).orderBy('f.id', 'desc')

/**
 * The requests of a run that failed, the latest first. They are searched among all failures, which have an index, because the
 * run may have a hundred thousand other requests. The sum keeps the planner from the index of runs.
 */
const failedOf = ({ kysely }: Reader, run: number) =>
  kysely
    .selectFrom('_fetch as f')
    .where(({ eb, lit }) => eb(eb('f.run_id', '+', lit(0)), '=', run))
    .where('f.outcome', 'not in', NO_FAILURE)
    .orderBy('f.id', 'desc')

const COLUMNS = [
  ...(['f.id', 'f.entry', 'f.route', 'f.target', 'f.series_id', 'f.geo_ids', 'f.started_at', 'f.outcome'] as const),
  ...(['f.status', 'f.attempts', 'f.ms', 'f.bytes', 'f.reason', 'f.message', 'f.hint'] as const),
  ...(['f.rows_new', 'f.rows_revised', 'f.rows_withdrawn', 'f.rows_rejected'] as const),
] as const

/** A request as the page of its run lists it. */
export type RequestRow = NonNullable<Awaited<ReturnType<typeof readRun>>>['requests'][number]

/** A request as it is drawn: when it was sent, seconds after the run began, and how long it took. */
export interface Dot {
  readonly route: string
  readonly failed: boolean
  readonly at: number
  readonly ms: number
}

/** The requests of a route, summed up. */
export interface RouteRow {
  readonly route: string
  readonly requests: number
  readonly failed: number
  readonly attempts: number
  readonly bytes: number
  /** Their median time and the longest one, in milliseconds. */
  readonly median: number
  readonly slowest: number
}

function byRoute(
  requests: readonly { route: string; outcome: FetchOutcome; attempts: number; bytes: number; ms: number }[],
) {
  const routes = Map.groupBy(requests, ({ route }) => route)
  return [...routes].map(([route, rows]): RouteRow => {
    const times = rows.map(({ ms }) => ms).sort((a, b) => a - b)
    return {
      route,
      requests: rows.length,
      failed: rows.filter(({ outcome }) => isFailure(outcome)).length,
      attempts: rows.reduce((sum, { attempts }) => sum + attempts, 0),
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      median: times[times.length >> 1]!,
      slowest: times.at(-1)!,
    }
  })
}

/** One run with its requests, the latest first: those that failed apart, and a part of the others; null when there is no such run. */
export async function readRun(db: Reader, id: number, before: number | null) {
  const run = await db.kysely.selectFrom('_run').selectAll().where('id', '=', id).executeTakeFirst()
  if (!run) return null
  const failed = run.failed === 0 ? [] : await failedOf(db, id).select(COLUMNS).limit(REQUESTS).execute()
  const requests = await requestsOfRun(db, id)
    .select(COLUMNS)
    .$if(before !== null, (of) => of.where('f.id', '<', before!))
    .limit(REQUESTS + 1)
    .execute()
  const drawn = await requestsOfRun(db, id)
    .select(['f.route', 'f.outcome', 'f.started_at', 'f.attempts', 'f.bytes', 'f.ms'])
    .limit(MOST_DRAWN)
    .execute()
  const began = Date.parse(run.started_at)
  return {
    run: { ...run, seconds: secondsOf(run) },
    routes: byRoute(drawn),
    dots: drawn.map(
      ({ route, outcome, started_at, ms }): Dot => ({
        route,
        ms,
        failed: isFailure(outcome),
        at: (Date.parse(started_at) - began) / 1000,
      }),
    ),
    /** Whether only the last requests of the run are drawn and added up. */
    cut: drawn.length === MOST_DRAWN,
    failed,
    requests: requests.slice(0, REQUESTS),
    older: requests.length > REQUESTS ? requests[REQUESTS - 1]!.id : null,
  }
}
