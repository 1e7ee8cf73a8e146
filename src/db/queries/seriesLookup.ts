import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../util/time/instant.ts'
import { prepareQuery } from '../prepared.ts'
import type { Reader } from '../store.ts'
import type { Database } from '../tables/schema.ts'
import { type Measure, measureSql } from '../tables/sql/expressions.ts'

/** The columns that identify a series, of `series as s`. */
export const IDENTITY_COLUMNS = [
  's.kind',
  's.indicator_id',
  's.time_trunc',
  's.time_agg',
  's.geo_agg',
  's.geo_trunc',
  's.geo_ids',
] as const

/** The values of these columns. */
export type IdentityRow = Pick<
  Database['series'],
  'kind' | 'indicator_id' | 'time_trunc' | 'time_agg' | 'geo_agg' | 'geo_trunc' | 'geo_ids'
>

const byIdentity = prepareQuery((db, row: IdentityRow) =>
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

/** Finds the stored series with an identity. */
export const findSeries = (
  db: Kysely<Database>,
  identity: IdentityRow,
): Promise<{ readonly id: number; readonly window_s: number | null } | undefined> => byIdentity.first(db, identity)

const geosOfSeries = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db.selectFrom('series_geo').select('geo_id').where('series_id', '=', seriesId),
)

/** Reads the geos for which a series ever had values. */
export const readGeos = async (db: Kysely<Database>, seriesId: number): Promise<number[]> =>
  (await geosOfSeries.all(db, { seriesId })).map(({ geo_id }) => geo_id)

/** The ids of series that this version has not judged: an earlier one loaded them. */
export async function readUnjudged({ kysely }: Pick<Reader, 'kysely'>): Promise<number[]> {
  const rows = await kysely
    .selectFrom('series_geo')
    .select('series_id')
    .distinct()
    .where('kind', 'is', null)
    .orderBy('series_id')
    .execute()
  return rows.map(({ series_id }) => series_id)
}

/** Reads the first or last instant with a value of a series and geo, optionally after or before an instant. */
export async function readEndOfValues(
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
    .$if(beyond !== undefined, (query) => query.where('at', which === 'first' ? '>' : '<', beyond!))
    .orderBy('at', which === 'first' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** Reads how the energy of a series follows from its values; null if they are not energy. */
export async function readMeasure({ kysely }: Pick<Reader, 'kysely'>, id: number): Promise<Measure | null> {
  const row = await kysely
    .selectFrom('series as s')
    .select(sql.raw<Measure | null>(measureSql('s')).as('measure'))
    .where('s.id', '=', id)
    .executeTakeFirst()
  return row?.measure ?? null
}
