import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../util/time/instant.ts'
import { prepared } from '../prepared.ts'
import type { Reader } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { type Measure, measureSql } from '../tables/sql/expressions.ts'

/** What makes a series, by the columns of its table. */
export type IdentityRow = Pick<
  Database['series'],
  'kind' | 'indicator_id' | 'time_trunc' | 'time_agg' | 'geo_agg' | 'geo_trunc' | 'geo_ids'
>

const ofIdentity = prepared((db, row: IdentityRow) =>
  db
    .selectFrom('series')
    .select(['id', 'window_s'])
    .where('kind', '=', row.kind)
    .where('indicator_id', '=', row.indicator_id)
    .where('time_trunc', 'is not distinct from', row.time_trunc)
    .where('time_agg', 'is not distinct from', row.time_agg)
    .where('geo_agg', 'is not distinct from', row.geo_agg)
    .where('geo_trunc', 'is not distinct from', row.geo_trunc)
    .where('geo_ids', 'is not distinct from', row.geo_ids),
)

/** The stored series that has this identity; undefined when there is none. */
export const findSeries = (
  db: Kysely<Database>,
  identity: IdentityRow,
): Promise<{ readonly id: number; readonly window_s: number | null } | undefined> => ofIdentity.first(db, identity)

const geosOfSeries = prepared((db, of: { seriesId: number }) =>
  db.selectFrom('series_geo').select('geo_id').where('series_id', '=', of.seriesId),
)

/** The geos for which a series ever had values. */
export const readGeos = async (db: Kysely<Database>, seriesId: number): Promise<number[]> =>
  (await geosOfSeries.all(db, { seriesId })).map(({ geo_id }) => geo_id)

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

/** How the energy of a series follows from its values; null if they are no energy. */
export async function seriesMeasure({ kysely }: Pick<Reader, 'kysely'>, id: number): Promise<Measure | null> {
  const row = await kysely
    .selectFrom('series as s')
    .select(sql.raw<Measure | null>(measureSql('s')).as('measure'))
    .where('s.id', '=', id)
    .executeTakeFirst()
  return row?.measure ?? null
}
