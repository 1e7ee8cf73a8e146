import type { Instant } from '../base/instant.ts'
import type { Stretch } from '../db/engine.ts'
import type { Reader } from '../db/open.ts'

/** The last instant of which a replaced or withdrawn value is held; 0 where there is none. */
export async function lastVersionAt(
  { kysely }: Reader,
  { seriesId, geoId }: Pick<Stretch, 'seriesId' | 'geoId'>,
): Promise<Instant> {
  const last = await kysely
    .selectFrom('observation_revision')
    .select('at')
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.at ?? 0
}
