import type { Transaction } from 'kysely'
import { formatMillis } from '../base/instant.ts'
import { prepared } from '../db/prepared.ts'
import { findSeries } from '../db/series.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'

/** The number of a request's series, which is made when it is asked for the first time, with its indicator; null where it asks for none. */
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

const ofSeries = prepared((db, of: { id: number }) =>
  db.selectFrom('series').select(['lookback_s', 'time_zone']).where('id', '=', of.id),
)

/** The longest lookback that a series was ever asked with, in seconds; null where nobody said. */
export const readLookback = async (tx: Transaction<Database>, id: number): Promise<number | null> =>
  (await ofSeries.first(tx, { id }))?.lookback_s ?? null

/** The zone in which the days of a series are counted. */
export const readZone = async (tx: Transaction<Database>, id: number): Promise<string> =>
  (await ofSeries.first(tx, { id }))!.time_zone
