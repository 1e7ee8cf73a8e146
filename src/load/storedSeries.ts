import type { Transaction } from 'kysely'
import { prepared } from '../db/prepared.ts'
import { findSeries, readGeos } from '../db/queries/seriesLookup.ts'
import type { Database } from '../db/tables/schema.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import { formatMillis } from '../util/time/instant.ts'

/** The id of a request's series, which is inserted with its indicator on the first request; null where no series is requested. */
export async function seriesIdOf(
  tx: Transaction<Database>,
  { series, timeZone }: Pick<PlannedRequest, 'series' | 'timeZone'>,
  ms: number,
): Promise<number | null> {
  if (!series) return null
  const identity = identityRow(series)
  const known = await findSeries(tx, identity)
  if (known !== undefined) return known.id
  const now = formatMillis(ms)
  await insertIndicator(tx, series.kind, series.indicatorId, now)
  const made = await tx
    .insertInto('series')
    .values({ ...identity, time_zone: timeZone, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return made.id
}

/** Inserts an indicator of which only the id is known. */
export async function insertIndicator(tx: Transaction<Database>, kind: string, id: number, now: string): Promise<void> {
  await tx
    .insertInto('indicator')
    .values({ kind, id, first_seen_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** A stored series, read once in a transaction. */
export interface StoredSeries {
  readonly id: number
  /** The longest lookback that it was ever requested with, in seconds; null where none was given. */
  readonly lookbackS: number | null
  /** The zone in which its days are counted. */
  readonly timeZone: string
  /** The geos for which values ever came. */
  readonly geoIds: readonly number[]
}

const ofSeries = prepared((db, of: { id: number }) =>
  db.selectFrom('series').select(['lookback_s', 'time_zone']).where('id', '=', of.id),
)

/** Reads a stored series. */
export async function readStoredSeries(tx: Transaction<Database>, id: number): Promise<StoredSeries> {
  const { lookback_s, time_zone } = (await ofSeries.first(tx, { id }))!
  return { id, lookbackS: lookback_s, timeZone: time_zone, geoIds: await readGeos(tx, id) }
}
