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
const upsertOf = (rows: number, told: boolean): string =>
  `with common (series_id, geo_id, step_s, fetch_id) as (values (?, ?, ?, ?))
   insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
   select c.series_id, c.geo_id, v.column1, v.column2, c.step_s, c.fetch_id
   from common c cross join (values ${Array.from({ length: rows }, () => '(?, ?)')}) v where true
   on conflict (series_id, geo_id, at) do update
   set value = excluded.value${told ? ', step_s = excluded.step_s' : ''}, fetch_id = excluded.fetch_id
   where observation.value is not excluded.value${told ? ' or observation.step_s is not excluded.step_s' : ''}`
const upserts = (told: boolean): readonly string[] =>
  Array.from({ length: BATCH + 1 }, (_, rows) => (rows === 0 ? '' : upsertOf(rows, told)))
/** By number of rows; a length that is only guessed leaves the stored one alone. */
const TOLD = upserts(true)
const GUESSED = upserts(false)

/** Longer periods follow the calendar: what lies beside them is longer or shorter. */
const SHORT = 20 * 3600

/** How long the nearest stored values of a geo last. */
const stepNear = (store: Store, seriesId: number, geoId: number, at: number): number | undefined =>
  ['<= ? order by at desc', '> ? order by at']
    .map((near) =>
      store.get(`select step_s from observation where series_id = ? and geo_id = ? and at ${near} limit 1`, [
        ...[seriesId, geoId, at],
      ]),
    )
    .find((step): step is number => typeof step === 'number' && step < SHORT)

/** The same values, where their length is only guessed, as long as those that are stored beside them. */
export function likeStored(store: Store, seriesId: number, rows: Observations): Observations {
  const { geoIds, at, steps, guessed } = rows
  if (!guessed || typeof steps !== 'number' || steps >= SHORT) return rows
  const near = new Map<number, number>()
  for (const [i, geoId] of geoIds.entries())
    if (!near.has(geoId)) near.set(geoId, stepNear(store, seriesId, geoId, at[i]!) ?? steps)
  return { ...rows, steps: geoIds.map((geoId) => near.get(geoId)!) }
}

/** How many versions of values of a geo between two instants, both included, a fetch has superseded. */
const supersededBy = (store: Store, fetchId: number, where: readonly number[]): number =>
  store.get(
    `select count(*) from observation_revision
     where series_id = ? and geo_id = ? and at between ? and ? and superseded_by = ?`,
    [...where, fetchId],
  ) as number

/** How many values of a geo are held between two instants, both included. */
const countHeld = (store: Store, where: readonly number[]): number =>
  store.get(
    'select count(*) from observation where series_id = ? and geo_id = ? and at between ? and ?',
    where,
  ) as number

/** What an upsert did, and the geos of which more is held in the window than the answer has. */
interface Upserted extends Written {
  readonly surplus: ReadonlySet<number>
}

/**
 * Writes values with statements prepared once; a changed value's old version goes to the history by a trigger. The values
 * of a geo stand together, lie in the window, and none is there twice.
 */
export function upsertObservations(
  store: Store,
  seriesId: number,
  fetchId: number,
  window: Interval | null,
  rows: Observations,
): Upserted {
  const { geoIds, at, values, steps } = rows
  const upsert = rows.guessed ? GUESSED : TOLD
  const stepOf = (i: number): number => (typeof steps === 'number' ? steps : steps[i]!)
  const surplus = new Set<number>()
  let changed = 0
  let revised = 0
  for (let first = 0, last = 0; first < at.length; first = last) {
    const geoId = geoIds[first]!
    while (last < at.length && geoIds[last] === geoId) last++
    const where = [seriesId, geoId, window?.from ?? at[first]!, window ? window.to - 1 : at[last - 1]!]
    const held = countHeld(store, where)
    let written = 0
    for (let i = first; i < last; ) {
      const step = stepOf(i)
      let end = i
      while (end < last && end - i < BATCH && stepOf(end) === step) end++
      const parameters: unknown[] = [seriesId, geoId, step, fetchId]
      for (; i < end; i++) parameters.push(at[i], values[i])
      written += store.run(upsert[(parameters.length - 4) / 2]!, parameters)
    }
    // Counted where they lie: what the connection changed in all has the index of texts in it.
    const superseded = held > 0 && written > 0 ? supersededBy(store, fetchId, where) : 0
    if (held > last - first - (written - superseded)) surplus.add(geoId)
    changed += written
    revised += superseded
  }
  return { fresh: changed - revised, unchanged: at.length - changed, revised, surplus }
}

/**
 * Moves to the history what is stored inside a window for some geos of a complete answer and is not in it: the service
 * withdrew it, or serves the window in another resolution now. Answers how many rows went.
 */
export function withdrawObservations(
  store: Store,
  seriesId: number,
  fetchId: number,
  { from, to }: Interval,
  { geoIds, at }: Observations,
  surplus: ReadonlySet<number>,
): number {
  let withdrawn = 0
  for (const geoId of surplus) {
    const first = geoIds.indexOf(geoId)
    const answered = JSON.stringify(at.slice(first, geoIds.lastIndexOf(geoId) + 1))
    const where = [seriesId, geoId, from, to - 1]
    const gone = `series_id = ? and geo_id = ? and at between ? and ? and at not in (select value from json_each(?))`
    store.run(
      `insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
       select series_id, geo_id, at, fetch_id, value, step_s, ? from observation where ${gone}`,
      [fetchId, ...where, answered],
    )
    withdrawn += store.run(`delete from observation where ${gone}`, [...where, answered])
  }
  return withdrawn
}
