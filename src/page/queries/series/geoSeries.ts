import { endOfValues } from '../../../db/queries/seriesLookup.ts'
import type { Instant } from '../../../util/time/instant.ts'
import { NotFound, type PageRequest } from '../../page.ts'
import { geoNames, indicatorNames, type LocaleRequest } from '../names.ts'
import { findSeriesByPath, type SeriesRow, seriesPath } from '../seriesPaths.ts'
import type { GeoSeries } from './window.ts'

/** A geo with its name, where one is held. */
export interface NamedGeo {
  readonly id: number
  readonly name: string | null
}

/** A series of one geo, with its names, unit and grouping. */
export interface NamedGeoSeries extends GeoSeries {
  /** Its name in addresses: `600`. */
  readonly path: string
  readonly kind: string
  readonly indicator: number
  readonly name: string
  readonly unit: string | null
  /** The step and the aggregation; null for a native series. */
  readonly trunc: string | null
  readonly agg: string | null
  readonly geoAgg: string | null
  readonly geoTrunc: string | null
  readonly geo: NamedGeo
  readonly geos: readonly NamedGeo[]
  /** The first and the last instant with a value; null where there is none. */
  readonly first: Instant | null
  readonly last: Instant | null
}

/** The geo to show: the named one, else a main one of the service, else the first. */
function chosen(
  { service: { mainGeos } }: Pick<PageRequest, 'service'>,
  series: SeriesRow,
  ids: readonly number[],
  named: string | null,
): number {
  if (named === null || named === '') return mainGeos.find((id) => ids.includes(id)) ?? ids[0] ?? 0
  const id = Number(named)
  if (!Number.isSafeInteger(id) || (!ids.includes(id) && ids.length > 0))
    throw new NotFound(`series ${seriesPath(series)} geo ${named}`)
  return id
}

/** A series of one geo, from an address. */
export async function readNamedGeoSeries(
  request: LocaleRequest & Pick<PageRequest, 'service'>,
  name: string | undefined,
  geo: string | null,
): Promise<NamedGeoSeries> {
  const series = await findSeriesByPath(request, name)
  const held = await request.store.kysely
    .selectFrom('series_geo')
    .select('geo_id')
    .where('series_id', '=', series.id)
    .orderBy('geo_id')
    .execute()
  const ids = held.map(({ geo_id }) => geo_id)
  const geoId = chosen(request, series, ids, geo)
  const line = { seriesId: series.id, geoId }
  const names = await geoNames(request, ids)
  const { magnitude = null } =
    (await request.store.kysely
      .selectFrom('indicator')
      .select('magnitude')
      .where('kind', '=', series.kind)
      .where('id', '=', series.indicator_id)
      .executeTakeFirst()) ?? {}
  const named = (await indicatorNames(request, [series.indicator_id])).get(`${series.kind} ${series.indicator_id}`)
  return {
    ...line,
    zone: series.time_zone,
    path: seriesPath(series),
    kind: series.kind,
    indicator: series.indicator_id,
    name: named ?? `${series.kind} ${series.indicator_id}`,
    unit: magnitude,
    trunc: series.time_trunc,
    agg: series.time_agg,
    geoAgg: series.geo_agg,
    geoTrunc: series.geo_trunc,
    geo: { id: geoId, name: names.get(geoId) ?? null },
    geos: ids.map((id) => ({ id, name: names.get(id) ?? null })),
    first: await endOfValues(request.store, line, 'first'),
    last: await endOfValues(request.store, line, 'last'),
  }
}
