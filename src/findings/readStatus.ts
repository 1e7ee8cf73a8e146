import { expressionBuilder } from 'kysely'
import type { Reader } from '../db/store.ts'
import type { FailureOutcome, GapReason } from '../db/tables/codes.ts'
import type { Database, TableName } from '../db/tables/schema.ts'
import { unknownNext } from '../judge/distances.ts'
import { findOpenFailures } from '../state/failedRequests.ts'
import { withDeadRuns } from '../state/lastRuns.ts'
import { measureReplyStore, type ReplyStoreState } from '../state/replies.ts'
import { readUnknown } from '../state/unknownItems.ts'
import { formatUtc, HOUR, type Instant, toInstant } from '../util/time/instant.ts'
import { findFindings } from './findFindings.ts'
import { countGaps } from './findGaps.ts'
import type { Finding } from './finding.ts'
import { itemKey } from './kinds/requests.ts'

/** A request that failed and has not succeeded since. */
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
  /** If the service does not know the id: the earliest time (UTC) at which a sync requests it again; null if the next sync does. */
  readonly next_at: string | null
}

/** Reads the last failure of every request that has not fully succeeded since, with its job and next request. */
async function readFailures(db: Reader) {
  const unknown = await readUnknown(db)
  return (await findOpenFailures(db)).map((failure) => {
    const item = unknown.get(itemKey(failure))
    return { ...failure, next_at: item ? formatUtc(unknownNext(item)) : null }
  })
}

/** Reads open failures without their job and series. */
export const readOpenFailures = async (db: Reader): Promise<OpenFailure[]> =>
  (await readFailures(db)).map((request) => {
    const { entry, route, target, outcome, failed_at, message, hint, next_at } = request
    return { entry, route, target, outcome, failed_at, message, hint, next_at }
  })

/** A series of one geo with its first and last value. */
export interface StatusSeries
  extends Pick<
    Database['freshness'],
    'series_id' | 'indicator_id' | 'indicator_name' | 'geo_id' | 'geo_name' | 'first_utc' | 'last_local' | 'checked_at'
  > {
  /** The step by which the service grouped the values; null for the native series. */
  readonly time_trunc: string | null
  /** Hours since the end of the last period, negative for the future. */
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
  /** What is wrong, each cause once, as `check` lists it without reading every value. */
  readonly findings: readonly Finding[]
  /** Number of gaps by reason. */
  readonly gaps: Readonly<Record<GapReason, number>>
  /** Number of open quarantine entries. */
  readonly quarantined: number
  /** The size of the stored replies. */
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

const countAll = expressionBuilder<Database>().fn.countAll<number>().as('count')

/** Counting more rows takes seconds: the estimate of the query planner replaces it. */
const SLOW_COUNT_ROWS = 5_000_000

async function readFreshness({ kysely }: Reader, now: Instant): Promise<StatusSeries[]> {
  const rows = await kysely
    .selectFrom('freshness as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select(['f.series_id', 'f.indicator_id', 'f.indicator_name', 's.time_trunc', 'f.geo_id', 'f.geo_name'])
    .select(['f.first_utc', 'f.last_local', 'f.last_utc', 'f.checked_at'])
    .select((eb) =>
      eb
        .selectFrom('observation as o')
        .select('o.step_s')
        .whereRef('o.series_id', '=', 'f.series_id')
        .whereRef('o.geo_id', '=', 'f.geo_id')
        .orderBy('o.at', 'desc')
        .limit(1)
        .as('step'),
    )
    .orderBy('f.kind')
    .orderBy('f.indicator_id')
    .orderBy('f.series_id')
    .orderBy('f.geo_id')
    .execute()
  return rows.map(({ last_utc, checked_at, step, ...row }) => {
    const hours = (now - Date.parse(last_utc) / 1000 - (step ?? 0)) / HOUR
    return { ...row, lag_hours: Math.round(hours * 10) / 10, checked_at }
  })
}

/** Reads the state of a database at an instant. Times are UTC, except `last_local`. */
export async function readStatus(db: Reader, now: Instant = toInstant(Date.now())): Promise<Status> {
  const { kysely, engine } = db
  const count = async (table: TableName) =>
    (await kysely.selectFrom(table).select(countAll).executeTakeFirstOrThrow()).count
  const rows: Record<string, number> = {}
  const estimated: string[] = []
  for (const table of COUNTED_TABLES) {
    const estimate = await engine.estimateRows(table)
    if (estimate > SLOW_COUNT_ROWS) estimated.push(table)
    rows[table] = estimate > SLOW_COUNT_ROWS ? estimate : await count(table)
  }
  const quarantined = kysely.selectFrom('_quarantine').select(countAll).where('resolved_at', 'is', null)
  return {
    runs: await withDeadRuns(db, await kysely.selectFrom('runs').selectAll().limit(5).execute()),
    series: await readFreshness(db, now),
    failures: await readOpenFailures(db),
    findings: await findFindings(db, now, { depth: 'state' }),
    gaps: await countGaps(db, now),
    quarantined: (await quarantined.executeTakeFirstOrThrow()).count,
    replies: await measureReplyStore(db),
    rows,
    estimated,
  }
}
