import type { Reader } from '../db/open.ts'
import { findSeries } from '../db/series.ts'
import { type Ask, identityValues } from '../job/ask.ts'
import type { Neighbours } from '../job/memory.ts'

/** What is known of the resolution around and inside the window of an ask. */
export function neighboursOf(db: Reader, ask: Ask): Neighbours {
  const id = ask.series ? findSeries(db, identityValues(ask.series)) : undefined
  if (id === undefined || !ask.window) return { steps: [], bordered: false, ids: [] }
  const { from, to } = ask.window
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
  const ids = db.all(
    `select distinct resolution_id as id from _fetch
     where series_id = ? and outcome = 'ok' and to_at - from_at <= 25 * 3600 and resolution_id is not null`,
    [id],
  ) as { id: number }[]
  return { steps: rows.flatMap(({ step }) => step ?? []), bordered: bordered > 0, ids: ids.map(({ id }) => id) }
}
