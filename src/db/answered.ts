import { type Interval, intersect, merge, subtract } from '../base/interval.ts'
import type { Reader } from './open.ts'

/** A recorded request for a window of a series, or for anything else by its target. */
export interface Recorded {
  readonly fetchId: number
  readonly target: string
  /** Null where it asked for no series. */
  readonly seriesId: number | null
  /** Null where it asked for no range. */
  readonly window: Interval | null
  /** Null for all geos. */
  readonly geoIds: readonly number[] | null
}

/** What of a request is not answered yet: all of it, or stretches of a geo (0 for all). */
export interface Left {
  readonly geoId: number
  readonly intervals: readonly Interval[]
}

interface LaterRow extends Interval {
  readonly id: number
  readonly geo_ids: string | null
}

const ALL = 0

/** The stretches that later answers brought, of one geo; what was answered for all geos was answered for each. */
const broughtFor = (
  later: readonly (LaterRow & { readonly geos: readonly number[] | null })[],
  geoId: number,
): Interval[] => merge(later.filter(({ geos }) => geos === null || geos.includes(geoId)))

const knownGeos = (db: Reader, seriesId: number): readonly number[] =>
  (db.all('select geo_id as "geoId" from series_geo where series_id = ?', [seriesId]) as Left[]).map(
    ({ geoId }) => geoId,
  )

/** Whether all that an answer of `_fetch` had and nobody understood was dismissed. */
const ACCEPTED = `(exists (select 1 from _quarantine q where q.fetch_id = _fetch.id and q.dismissed is not null)
  and not exists (select 1 from _quarantine q where q.fetch_id = _fetch.id and q.resolved_at is null))`

/**
 * Tells of recorded requests what later answers left open, by however many requests and geos they came. `sound`: answers
 * with something in them that could not be understood do not count. Empty when nothing is left.
 */
export function createAnswered(db: Reader, sound: boolean): (request: Recorded) => Left[] {
  const understood = sound ? `and (rows_rejected = 0 or ${ACCEPTED})` : ''
  const well = `outcome in ('ok', 'empty') ${understood}`
  return ({ fetchId, target, seriesId, window, geoIds }) => {
    if (seriesId === null || window === null) {
      const again = db.get(`select 1 from _fetch where target = ? and id > ? and ${well} limit 1`, [target, fetchId])
      return again === undefined ? [{ geoId: ALL, intervals: window ? [window] : [] }] : []
    }
    const rows = db.all(
      `select id, from_at as "from", to_at as "to", geo_ids from _fetch
       where series_id = ? and id > ? and ${well} and from_at < ? and to_at > ?`,
      [seriesId, fetchId, window.to, window.from],
    ) as LaterRow[]
    const later = rows.map((row) => ({
      ...row,
      geos: row.geo_ids === null ? null : row.geo_ids.split(',').map(Number),
    }))
    // What was read soundly of every known geo by itself was read of all of them.
    const known = sound && geoIds === null ? knownGeos(db, seriesId) : []
    const ofEach = known
      .map((geoId) => broughtFor(later, geoId))
      .reduce((a, b) => intersect(a, b), known.length > 0 ? [window] : [])
    return (geoIds ?? [ALL]).flatMap((geoId): Left[] => {
      const intervals = subtract([window], [...broughtFor(later, geoId), ...ofEach])
      return intervals.length === 0 ? [] : [{ geoId, intervals }]
    })
  }
}
