import type { Store } from '../db/open.ts'
import { findSeries } from '../db/series.ts'
import { identityValues, type SeriesIdentity } from '../job/ask.ts'

/** The number of a series, which is made when it is asked for the first time; its indicator too. */
export function seriesId(store: Store, series: SeriesIdentity, timeZone: string, now: string): number {
  const identity = identityValues(series)
  const known = findSeries(store, identity)
  if (known !== undefined) return known
  store.run('insert into indicator (kind, id, first_seen_at) values (?, ?, ?) on conflict do nothing', [
    series.kind,
    series.indicatorId,
    now,
  ])
  store.run(
    `insert into series (kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids, time_zone, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...identity, timeZone, now],
  )
  return findSeries(store, identity) as number
}
