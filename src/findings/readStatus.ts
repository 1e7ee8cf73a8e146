import { expressionBuilder } from 'kysely'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type FailureOutcome, type GapReason } from '../db/tables/codes.ts'
import type { Database, TableName } from '../db/tables/schema.ts'
import { parseWindow } from '../job/moment.ts'
import { unknownNext } from '../judge/distances.ts'
import { findOpenFailures } from '../state/failedRequests.ts'
import { withDeadRuns } from '../state/lastRuns.ts'
import { measureReplyStore, type ReplyStoreState } from '../state/replies.ts'
import { readUnknown } from '../state/unknownItems.ts'
import { parseNumbers } from '../util/json.ts'
import { formatUtc, HOUR, type Instant, toInstant } from '../util/time/instant.ts'
import { findFindings } from './findFindings.ts'
import { countGaps, gapsAt } from './findGaps.ts'
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
  /** Whether every job that selects it has a window with a fixed end, which has passed, and none of its data is missing. */
  readonly has_ended: boolean
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

type SeriesGeo = Pick<StatusSeries, 'series_id' | 'geo_id'>

/** Whether the end of a stored window is a day or instant, which does not move with the time. */
function isFixedEnd(window: string): boolean {
  const kind = parseWindow(window)?.to.kind
  return kind === 'date' || kind === 'local' || kind === 'instant'
}

/** Finds the series and geos that are complete up to the fixed ends of all windows that select them. */
async function findEnded({ kysely }: Reader, now: Instant): Promise<(row: SeriesGeo) => boolean> {
  const rows = await kysely.selectFrom('_duty').select(['series_id', 'geo_ids', 'window_text', 'to_at']).execute()
  const duties = Map.groupBy(rows, ({ series_id }) => series_id)
  const gaps = await kysely.selectFrom(gapsAt(now)).select(['gaps.series_id', 'gaps.geo_id']).distinct().execute()
  const missing = new Set(gaps.map(({ series_id, geo_id }) => `${series_id} ${geo_id}`))
  return ({ series_id, geo_id }) => {
    const selecting = (duties.get(series_id) ?? []).filter(
      ({ geo_ids }) => geo_ids === '' || (parseNumbers(geo_ids) ?? []).includes(geo_id),
    )
    const isPast = selecting.every(({ window_text, to_at }) => isFixedEnd(window_text) && to_at <= now)
    const isMissing = [geo_id, ALL_GEOS].some((geo) => missing.has(`${series_id} ${geo}`))
    return selecting.length > 0 && isPast && !isMissing
  }
}

async function readFreshness(db: Reader, now: Instant): Promise<StatusSeries[]> {
  const { kysely } = db
  const hasEnded = await findEnded(db, now)
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
    return { ...row, lag_hours: Math.round(hours * 10) / 10, has_ended: hasEnded(row), checked_at }
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
