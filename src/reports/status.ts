import type { Reader } from '../db/store.ts'
import type { FailureOutcome, GapReason } from '../db/tables/codes.ts'
import type { Database, TableName } from '../db/tables/schema.ts'
import { unknownNext } from '../job/plannerState.ts'
import type { AnyParams } from '../service/routes.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { failures } from './failedRequests.ts'
import { findGaps, gapCounts, gapText } from './gaps.ts'
import { staleSeries } from './lag.ts'
import { withDeadRuns } from './lastRuns.ts'
import { type ReplyStoreState, replyStoreState } from './replies.ts'
import { missedRuns } from './rhythm.ts'
import { readUnknown } from './unknownItems.ts'

/** A request that failed and has not been answered since. */
export interface OpenFailure {
  /** The path of the entry in the job file. */
  readonly entry: string
  /** The route of the request. */
  readonly route: string
  /** Path and query of the request. */
  readonly target: string
  /** The kind of failure. */
  readonly outcome: FailureOutcome
  /** When it last failed, UTC. */
  readonly failed_at: string
  /** What failed. */
  readonly message: string | null
  /** What to do about it. */
  readonly hint: string | null
  /** Where the service does not know the id: the earliest time at which a sync requests it again (UTC); null where the next sync does. */
  readonly next_at: string | null
}

/** The last failure of every request that has not been answered in full since. */
export const openFailures = async (db: Reader): Promise<OpenFailure[]> => {
  const unknown = await readUnknown(db)
  return (await failures(db)).map(({ entry, route, target, outcome, failed_at, message, hint, params }) => {
    const item = unknown.get(`${route} ${(JSON.parse(params) as AnyParams).id}`)
    const next_at = item ? formatUtc(unknownNext(item)) : null
    return { entry, route, target, outcome, failed_at, message, hint, next_at }
  })
}

/** A series of one geo with its first and last value. */
export interface StatusSeries
  extends Pick<
    Database['freshness'],
    'series_id' | 'indicator_id' | 'indicator_name' | 'geo_id' | 'geo_name' | 'first_utc' | 'last_local' | 'checked_at'
  > {
  /** The step by which the service grouped the values; null for the native series. */
  readonly time_trunc: string | null
  /** Hours since the beginning of the last period, negative for the future. */
  readonly lag_hours: number
}

/** The state of a database in a few numbers and lists. */
export interface Status {
  /** The last run of each job. */
  readonly runs: readonly Database['runs'][]
  /** Each series and geo with its first and last value. */
  readonly series: readonly StatusSeries[]
  /** Requests that failed and have not succeeded since. */
  readonly failures: readonly OpenFailure[]
  /** Sentences: jobs whose run is missed, and series that are further behind than usual. */
  readonly late: readonly string[]
  /** How many gaps there are for each reason. */
  readonly gaps: Readonly<Record<GapReason, number>>
  /** Sentences: ranges that a job wants and that were never requested. */
  readonly never_requested: readonly string[]
  /** Number of open quarantine entries. */
  readonly quarantined: number
  /** What the stored replies take up. */
  readonly replies: ReplyStoreState
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Large tables whose number of rows is an estimate from the statistics of the query planner. */
  readonly estimated: readonly string[]
}

const COUNTED_TABLES: readonly TableName[] = [
  'indicator',
  'observation',
  'observation_revision',
  'content',
  'archive',
  'archive_edition',
  'widget',
]

/** Counting more than this takes seconds. */
const SLOW_COUNT_ROWS = 5_000_000

/** The number of rows of a table; for a large one the estimate of the query planner, which is as old as the last run. */
async function rowCount({ kysely, engine }: Reader, table: TableName): Promise<{ rows: number; estimated: boolean }> {
  const known = await engine.rowsAtLeast(table)
  if (known > SLOW_COUNT_ROWS) return { rows: known, estimated: true }
  const { rows } = await kysely
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return { rows, estimated: false }
}

const HOUR_MS = 3_600_000

async function seriesEnds({ kysely }: Reader, now: Instant): Promise<StatusSeries[]> {
  const rows = await kysely
    .selectFrom('freshness as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select(['f.series_id', 'f.indicator_id', 'f.indicator_name', 's.time_trunc', 'f.geo_id', 'f.geo_name'])
    .select(['f.first_utc', 'f.last_local', 'f.last_utc', 'f.checked_at'])
    .orderBy('f.kind')
    .orderBy('f.indicator_id')
    .orderBy('f.series_id')
    .orderBy('f.geo_id')
    .execute()
  return rows.map(({ last_utc, checked_at, ...row }) => ({
    ...row,
    lag_hours: Math.round(((now * 1000 - Date.parse(last_utc)) / HOUR_MS) * 10) / 10,
    checked_at,
  }))
}

/** Reads what `status` shows at an instant. Times are UTC, except `last_local`. */
export async function readStatus(db: Reader, now: Instant = Math.floor(Date.now() / 1000)): Promise<Status> {
  const counts: { table: string; rows: number; estimated: boolean }[] = []
  for (const table of COUNTED_TABLES) counts.push({ table, ...(await rowCount(db, table)) })
  const { quarantined } = await db.kysely
    .selectFrom('_quarantine')
    .select(({ fn }) => fn.countAll<number>().as('quarantined'))
    .where('resolved_at', 'is', null)
    .executeTakeFirstOrThrow()
  const gaps = await findGaps(db)
  return {
    runs: await withDeadRuns(db, await db.kysely.selectFrom('runs').selectAll().limit(5).execute()),
    series: await seriesEnds(db, now),
    failures: await openFailures(db),
    late: [...(await missedRuns(db, now)), ...(await staleSeries(db, now))].map(({ what }) => what),
    gaps: gapCounts(gaps),
    never_requested: gaps.filter(({ reason }) => reason === 'never requested').map(gapText),
    quarantined,
    replies: await replyStoreState(db),
    rows: Object.fromEntries(counts.map(({ table, rows }) => [table, rows])),
    estimated: counts.filter(({ estimated }) => estimated).map(({ table }) => table),
  }
}
