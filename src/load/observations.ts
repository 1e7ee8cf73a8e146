import type { Interval } from '../base/interval.ts'
import type { Store } from '../db/open.ts'
import type { Observations } from '../tables/rows.ts'
import type { Written } from './upsert.ts'

/** Rows a statement: fifty beat one by a third, and five hundred fifty by next to nothing. */
const BATCH = 64

/**
 * The upsert of so many values of one geo that last equally long: null-safe and guarded, so that an equal value writes
 * nothing. What they share is bound once, for binding costs a fifth of the whole.
 */
const upsertOf = (rows: number): string =>
  `with common (series_id, geo_id, step_s, fetch_id) as (values (?, ?, ?, ?))
   insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
   select c.series_id, c.geo_id, v.column1, v.column2, c.step_s, c.fetch_id
   from common c cross join (values ${Array.from({ length: rows }, () => '(?, ?)')}) v where true
   on conflict (series_id, geo_id, at) do update
   set value = excluded.value, step_s = excluded.step_s, fetch_id = excluded.fetch_id
   where observation.value is not excluded.value or observation.step_s is not excluded.step_s`
/** By number of rows. */
const UPSERTS = Array.from({ length: BATCH + 1 }, (_, rows) => (rows === 0 ? '' : upsertOf(rows)))

/** Writes values with statements prepared once; a changed value's old version goes to the history by a trigger. */
export function upsertObservations(store: Store, seriesId: number, fetchId: number, rows: Observations): Written {
  const { geoIds, at, values, steps } = rows
  const stepOf = (i: number): number => (typeof steps === 'number' ? steps : steps[i]!)
  const before = store.totalChanges()
  let changed = 0
  for (let i = 0; i < at.length; ) {
    const geoId = geoIds[i]!
    const step = stepOf(i)
    let end = i
    while (end < at.length && end - i < BATCH && geoIds[end] === geoId && stepOf(end) === step) end++
    const parameters: unknown[] = [seriesId, geoId, step, fetchId]
    for (; i < end; i++) parameters.push(at[i], values[i])
    changed += store.run(UPSERTS[(parameters.length - 4) / 2]!, parameters)
  }
  // Every row that is written is a change, and so is every version that is kept of one.
  const revised = store.totalChanges() - before - changed
  return { fresh: changed - revised, unchanged: at.length - changed, revised }
}

/**
 * Moves to the history what is stored inside a window for the geos of a complete answer and is not in it: the service
 * withdrew it, or serves the window in another resolution now. Answers how many rows went.
 */
export function withdrawObservations(
  store: Store,
  seriesId: number,
  fetchId: number,
  { from, to }: Interval,
  { geoIds, at }: Observations,
): number {
  let withdrawn = 0
  for (let first = 0; first < at.length; ) {
    const geoId = geoIds[first]!
    let end = first
    while (end < at.length && geoIds[end] === geoId) end++
    const where = [seriesId, geoId, from, to - 1]
    const stored = store.get(
      'select count(*) from observation where series_id = ? and geo_id = ? and at between ? and ?',
      where,
    ) as number
    if (stored > end - first) {
      const answered = JSON.stringify(at.slice(first, end))
      const gone = `series_id = ? and geo_id = ? and at between ? and ? and at not in (select value from json_each(?))`
      store.run(
        `insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
         select series_id, geo_id, at, fetch_id, value, step_s, ? from observation where ${gone}`,
        [fetchId, ...where, answered],
      )
      withdrawn += store.run(`delete from observation where ${gone}`, [...where, answered])
    }
    first = end
  }
  return withdrawn
}
