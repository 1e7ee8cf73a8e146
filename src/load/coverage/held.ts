import type { Transaction } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import type { Interval } from '../../base/time/interval.ts'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../tables/schema.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import { type Grid, isRegular } from './regular.ts'

/* Reads of the stored values of a series inside a transaction. */

/** The values of a geo in an interval. */
export const valuesOfGeo = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  db
    .selectFrom('observation')
    .select(['at', 'value', 'step_s as step'])
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('at', '>=', of.from)
    .where('at', '<', of.to)
    .orderBy('at'),
)

const valueOfGeo = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  db
    .selectFrom('observation')
    .select('at')
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('at', '>=', of.from)
    .where('at', '<', of.to)
    .limit(1),
)
// Geo by geo, each by its key: without the join, all values of the series would be read.
const valueOfAny = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('series_geo as g')
    .crossJoin('observation as o')
    .select('o.at')
    .where('g.series_id', '=', of.seriesId)
    .whereRef('o.series_id', '=', 'g.series_id')
    .whereRef('o.geo_id', '=', 'g.geo_id')
    .where('o.at', '>=', of.from)
    .where('o.at', '<', of.to)
    .limit(1),
)

/** Whether values of a window are stored. */
export async function hasValues(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  { from, to }: Interval,
): Promise<boolean> {
  const found =
    geoId === ALL_GEOS
      ? await valueOfAny.first(tx, { seriesId, from, to })
      : await valueOfGeo.first(tx, { seriesId, geoId, from, to })
  return found !== undefined
}

const endOfGeo = (order: 'asc' | 'desc') =>
  prepared((db, of: { seriesId: number; geoId: number }) =>
    db
      .selectFrom('observation')
      .select('at')
      .where('series_id', '=', of.seriesId)
      .where('geo_id', '=', of.geoId)
      .orderBy('at', order)
      .limit(1),
  )
/** The first and the last stored value of a geo. */
export const [firstValueOf, lastValueOf] = [endOfGeo('asc'), endOfGeo('desc')]

const valuesBeside = (side: 'before' | 'after') =>
  prepared((db, of: { seriesId: number; geoId: number; at: Instant }) =>
    db
      .selectFrom('observation')
      .select(['at', 'step_s as step'])
      .where('series_id', '=', of.seriesId)
      .where('geo_id', '=', of.geoId)
      .where('at', side === 'before' ? '<' : '>=', of.at)
      .orderBy('at', side === 'before' ? 'desc' : 'asc')
      .limit(NEARBY),
  )

/** How many values on each side of a window are read to find the step. */
export const NEARBY = 16
const [valuesBefore, valuesAfter] = [valuesBeside('before'), valuesBeside('after')]

/** The stored values of one geo near a window, in order: they show whether the series follows a step. */
export async function nearbyValues(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number | undefined,
  { from, to }: Interval,
): Promise<Grid> {
  if (geoId === undefined) return { at: [], steps: [] }
  const earlier = await valuesBefore.all(tx, { seriesId, geoId, at: from })
  const rows = [...earlier.reverse(), ...(await valuesAfter.all(tx, { seriesId, geoId, at: to }))]
  return { at: rows.map(({ at }) => at), steps: rows.map(({ step }) => step) }
}
/** Whether the stored values of a geo near a window follow a step; those of events do not. */
export const followsStep = async (
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  window: Interval,
): Promise<boolean> => isRegular(await nearbyValues(tx, seriesId, geoId, window))
