import type { Store } from '../db/open.ts'
import type { SeriesIdentity } from '../job/ask.ts'

/** The number of a series, which is made when it is asked for the first time; its indicator too. */
export function seriesId(store: Store, series: SeriesIdentity, timeZone: string, now: string): number {
  const { kind, indicatorId, timeTrunc, timeAgg, geoAgg, geoTrunc } = series
  const identity = [kind, indicatorId, timeTrunc, timeAgg, geoAgg, geoTrunc, series.geoIds?.join(',') ?? null]
  const find = (): unknown =>
    store.get(
      `select id from series where kind = ? and indicator_id = ? and time_trunc is ? and time_agg is ? and geo_agg is ?
       and geo_trunc is ? and geo_ids is ?`,
      identity,
    )
  const known = find()
  if (known !== undefined) return known as number
  store.run('insert into indicator (kind, id, first_seen_at) values (?, ?, ?) on conflict do nothing', [
    kind,
    indicatorId,
    now,
  ])
  store.run(
    `insert into series (kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids, time_zone, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...identity, timeZone, now],
  )
  return find() as number
}
