import type { Instant } from '../../util/time/instant.ts'
import type { Reader } from '../store.ts'

/** The first or the last instant with a value of a series and geo, or the one next to an instant: the first one beyond it, or the last one. */
export async function endOfValues(
  { kysely }: Pick<Reader, 'kysely'>,
  { seriesId, geoId }: { readonly seriesId: number; readonly geoId: number },
  which: 'first' | 'last',
  {
    beyond,
    table = 'observation',
  }: { readonly beyond?: Instant; readonly table?: 'observation' | 'observation_revision' } = {},
): Promise<Instant | null> {
  const row = await kysely
    .selectFrom(table)
    .select('at')
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .$if(beyond !== undefined, (of) => of.where('at', which === 'first' ? '>' : '<', beyond!))
    .orderBy('at', which === 'first' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}
