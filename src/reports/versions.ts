import type { SeriesRange } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import type { Instant } from '../util/time/instant.ts'

/** The last instant with a superseded or withdrawn value; 0 where there is none. */
export async function lastVersionAt(
  { kysely }: Reader,
  { seriesId, geoId }: Pick<SeriesRange, 'seriesId' | 'geoId'>,
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
