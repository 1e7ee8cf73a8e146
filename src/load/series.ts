import type { Transaction } from 'kysely'
import { formatMillis } from '../base/instant.ts'
import { prepared } from '../db/prepared.ts'
import { findSeries, geosOf } from '../db/series.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'

/** The number of a request's series, which is made when it is requested for the first time, with its indicator; null where it requests none. */
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

/** Makes an indicator of which only the number is known. */
export async function insertIndicator(tx: Transaction<Database>, kind: string, id: number, now: string): Promise<void> {
  await tx
    .insertInto('indicator')
    .values({ kind, id, first_seen_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What a transaction knows of a stored series: read once, for it does not change within. */
export interface StoredSeries {
  readonly id: number
  /** The longest lookback that it was ever requested with, in seconds; null where nobody said. */
  readonly lookbackS: number | null
  /** The zone in which its days are counted. */
  readonly timeZone: string
  /** The geos of which values ever came. */
  readonly geoIds: readonly number[]
}

const ofSeries = prepared((db, of: { id: number }) =>
  db.selectFrom('series').select(['lookback_s', 'time_zone']).where('id', '=', of.id),
)

/** Reads a stored series. */
export async function readSeries(tx: Transaction<Database>, id: number): Promise<StoredSeries> {
  const { lookback_s, time_zone } = (await ofSeries.first(tx, { id }))!
  return { id, lookbackS: lookback_s, timeZone: time_zone, geoIds: await geosOf(tx, id) }
}
