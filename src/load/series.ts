import { formatMillis } from '../base/instant.ts'
import type { Store } from '../db/open.ts'
import { findSeries } from '../db/series.ts'
import { identityValues, type PlannedRequest } from '../job/plannedRequest.ts'

/** The number of an ask's series, which is made when it is asked for the first time, with its indicator; null where it asks for none. */
export function seriesIdOf(store: Store, { series, timeZone }: PlannedRequest, ms: number): number | null {
  if (!series) return null
  const identity = identityValues(series)
  const known = findSeries(store, identity)
  if (known !== undefined) return known
  const now = formatMillis(ms)
  insertIndicator(store, series.kind, series.indicatorId, now)
  store.run(
    `insert into series (kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids, time_zone, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...identity, timeZone, now],
  )
  return findSeries(store, identity) as number
}

/** Makes an indicator of which only the number is known. */
export function insertIndicator(store: Store, kind: string, id: number, now: string): void {
  store.run('insert into indicator (kind, id, first_seen_at) values (?, ?, ?) on conflict do nothing', [kind, id, now])
}
