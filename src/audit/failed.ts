import type { RouteName } from '../api/routes.ts'
import type { Reader } from '../db/open.ts'
import type { FailedRequest } from '../job/ask.ts'
import { identityOf } from './held.ts'

/** Fetches whose last sending failed and whose window nobody has held since. To be used after `from _fetch f where`. */
export const STILL_FAILED = `f.id = (select max(l.id) from _fetch l where l.target = f.target)
  and f.outcome not in ('ok', 'empty', 'coarse')
  and not exists (
    select 1 from _coverage c
    where c.series_id = f.series_id and c.from_at <= f.from_at and c.to_at >= f.to_at
      and (c.geo_id = 0 or cast(c.geo_id as text) = f.geo_ids))`

interface FailedRow {
  readonly entry: string
  readonly route: RouteName
  readonly params: string
  readonly asked: string | null
  readonly from_at: number | null
  readonly to_at: number | null
  readonly id: number | null
  readonly time_zone: string | null
}

/** Every request that is still unanswered, to be asked again as it was. */
export function failedRequests(db: Reader): FailedRequest[] {
  const rows = db.all(`select f.entry, f.route, f.params, f.geo_ids as asked, f.from_at, f.to_at, s.*
    from _fetch f left join series s on s.id = f.series_id where ${STILL_FAILED} order by f.id`) as FailedRow[]
  return rows.map((row) => ({
    where: row.entry,
    route: row.route,
    params: JSON.parse(row.params),
    series: row.id === null ? null : identityOf(row as unknown as Parameters<typeof identityOf>[0]),
    geoIds: row.asked === null ? null : row.asked.split(',').map(Number),
    window: row.from_at === null || row.to_at === null ? null : { from: row.from_at, to: row.to_at },
    timeZone: row.time_zone ?? 'Europe/Madrid',
  }))
}
