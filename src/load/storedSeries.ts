import type { Transaction } from 'kysely'
import type { Engine } from '../db/engine.ts'
import { prepareQuery } from '../db/prepared.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Expectation } from '../job/expectation.ts'
import { type PlannedRequest, toIdentityRow } from '../job/plannedRequest.ts'
import type { Timeline } from '../judge/stored.ts'
import { readTimelines } from '../state/judgeInput.ts'
import { formatMillis } from '../util/time/instant.ts'

/** Finds the id of a request's series, or inserts the series and its indicator. Null if the request is not about a series. */
export async function findOrInsertSeries(
  tx: Transaction<Database>,
  { series, timeZone }: Pick<PlannedRequest, 'series' | 'timeZone'>,
  ms: number,
): Promise<number | null> {
  if (!series) return null
  const identity = toIdentityRow(series)
  const stored = await findSeries(tx, identity)
  if (stored !== undefined) return stored.id
  const now = formatMillis(ms)
  await insertIndicator(tx, series.kind, series.indicatorId, now)
  const inserted = await tx
    .insertInto('series')
    .values({ ...identity, time_zone: timeZone, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return inserted.id
}

/** Inserts an indicator with nothing but its id. */
export async function insertIndicator(tx: Transaction<Database>, kind: string, id: number, now: string): Promise<void> {
  await tx
    .insertInto('indicator')
    .values({ kind, id, first_seen_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** A stored series. */
export interface StoredSeries {
  readonly id: number
  readonly indicatorId: number
  /** The step by which the service groups its values; null for native values. */
  readonly timeTrunc: string | null
  /** The longest lookback of its requests, in seconds; null if none had one. */
  readonly lookbackS: number | null
  /** The time zone of its local days. */
  readonly timeZone: string
  /** The cadence that a job expects; null if its values decide. */
  readonly expect: Expectation | null
  /** The geos that ever had values. */
  readonly geoIds: readonly number[]
  /** The timelines of these geos. */
  readonly timelines: readonly Timeline[]
}

/** A series in a transaction that changes its values or what follows from them. */
export interface SeriesTransaction {
  readonly tx: Transaction<Database>
  readonly engine: Engine
  readonly seriesId: number
  /** The time zone of its local days. */
  readonly zone: string
  /** The reply that causes the changes. */
  readonly fetchId: number
}

const seriesById = prepareQuery((db, { id }: { id: number }) =>
  db
    .selectFrom('series')
    .select(['indicator_id', 'time_trunc', 'lookback_s', 'time_zone', 'expect'])
    .where('id', '=', id),
)

/** Reads a stored series. */
export async function readStoredSeries(tx: Transaction<Database>, id: number): Promise<StoredSeries> {
  const row = (await seriesById.first(tx, { id }))!
  const timelines = await readTimelines(tx, id)
  return {
    id,
    indicatorId: row.indicator_id,
    timeTrunc: row.time_trunc,
    lookbackS: row.lookback_s,
    timeZone: row.time_zone,
    expect: row.expect as Expectation | null,
    geoIds: timelines.map(({ geoId }) => geoId),
    timelines,
  }
}
