import type { Reader } from '../db/open.ts'
import { findSeries } from '../db/series.ts'
import { identityValues, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Neighbours } from '../job/plannerState.ts'

/** What is known of the resolution around and inside the window of an ask. */
export function neighboursOf(db: Reader, planned: PlannedRequest): Neighbours {
  const id = planned.series ? findSeries(db, identityValues(planned.series)) : undefined
  if (id === undefined || !planned.window) return { steps: [], bordered: false }
  const { from, to } = planned.window
  const step = (where: string) =>
    `select (select step_s from observation where series_id = g.series_id and geo_id = g.geo_id and ${where} limit 1) as step
     from series_geo g where g.series_id = ?`
  const [before, after] = ['at < ? order by at desc', 'at >= ? order by at']
  const rows = db.all(
    [before, after, before, after].map((where) => step(where!)).join(' union '),
    [from, from, to, to].flatMap((at) => [at, id]),
  ) as { step: number | null }[]
  const bordered = db.get('select count(*) from _resolution where series_id = ? and from_at in (?, ?)', [
    id,
    from,
    to,
  ]) as number
  return { steps: rows.flatMap(({ step }) => step ?? []), bordered: bordered > 0 }
}

/** The service's numbers for the resolutions in which single days of an ask's series came. */
export function dayIdsOf(db: Reader, planned: PlannedRequest): readonly number[] {
  const id = planned.series ? findSeries(db, identityValues(planned.series)) : undefined
  if (id === undefined) return []
  const ids = db.all(
    `select distinct resolution_id as id from _fetch
     where series_id = ? and outcome = 'ok' and to_at - from_at <= 25 * 3600 and resolution_id is not null`,
    [id],
  ) as { id: number }[]
  return ids.map(({ id }) => id)
}
