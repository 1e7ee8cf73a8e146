import type { Kysely } from 'kysely'
import { prepared } from '../prepared.ts'
import type { Database } from '../tables/schema.ts'

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
export const geosOf = async (db: Kysely<Database>, seriesId: number): Promise<number[]> =>
  (await geosOfSeries.all(db, { seriesId })).map(({ geo_id }) => geo_id)
