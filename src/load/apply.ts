import { formatMillis } from '../base/instant.ts'
import type { Store } from '../db/open.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Observations, Reject, Rows } from '../tables/rows.ts'
import { tableOf } from '../tables/schema.ts'
import { cover } from './coverage.ts'
import { writeDays } from './days.ts'
import { undismissed } from './dismissed.ts'
import { markListing, replaceOwned } from './listing.ts'
import { likeStored, upsertObservations, withdrawObservations } from './observations.ts'
import { addWritten, NOTHING_WRITTEN, upsertRows, type Written, withoutTold } from './upsert.ts'

/** A reply that was recorded and understood. */
export interface UnderstoodReply {
  readonly fetchId: number
  readonly seriesId: number | null
  readonly planned: PlannedRequest
  readonly rows: Rows
  /** When it was recorded (epoch milliseconds). */
  readonly ms: number
}

/** What the rows of a reply did. */
export interface Applied extends Written {
  readonly withdrawn: number
  /** What could not be understood and was not dismissed before. */
  readonly rejects: readonly Reject[]
  readonly rejected: number
}

/**
 * Writes what a reply means: its rows, the versions they supersede, what is held now, and the counters of its record.
 * Part of a transaction; the same whether the reply has just come or lay in the reply store.
 */
export function applyRows(store: Store, { fetchId, seriesId, planned, rows, ms }: UnderstoodReply): Applied {
  const now = formatMillis(ms)
  const open = undismissed(store, { seriesId, target: planned.request.target, fetchId }, rows)
  let written = NOTHING_WRITTEN
  let withdrawn = 0
  const [first] = planned.service.locales
  const stamps = { fetch_id: fetchId, first_seen_at: now }
  for (const table of rows.tables) written = addWritten(written, upsertRows(store, table, stamps, first))
  for (const listed of rows.owned) {
    const owned = withoutTold(store, listed, first)
    written = addWritten(written, upsertRows(store, owned, stamps, first))
    replaceOwned(store, owned, tableOf(owned.table).key)
  }
  if (rows.listing) withdrawn += markListing(store, rows.listing, now)
  if (rows.observations && seriesId !== null) {
    const observations = likeStored(store, seriesId, rows.observations)
    const upserted = upsertObservations(store, seriesId, fetchId, planned.window, observations)
    written = addWritten(written, upserted)
    const born = [...new Set(observations.geoIds)].filter(
      (geoId) =>
        store.run('insert into series_geo (series_id, geo_id) values (?, ?) on conflict do nothing', [
          seriesId,
          geoId,
        ]) > 0,
    )
    const sound = rows.rejects.length === 0
    const window = sound ? planned.window : null
    const gone = window ? withdrawObservations(store, seriesId, fetchId, window, observations, upserted.surplus) : 0
    withdrawn += gone
    if (upserted.fresh + upserted.revised + gone > 0)
      writeDays(store, { seriesId, rows: observations, window, withdrawn: gone > 0 })
    const dismissed = open.rejects.length === 0 ? rows.rejects.map(({ place }) => place) : []
    cover(store, seriesId, planned, observations, Math.floor(ms / 1000), {
      open: open.rejects.length > 0,
      born,
      dismissed,
    })
  }
  store.run(
    `update _fetch set outcome = ?, rows_new = ?, rows_unchanged = ?, rows_revised = ?, rows_withdrawn = ?, rows_rejected = ?,
       rows_outside = ?, last_at = ?, step_s = ?, resolution_id = ?, source_updated_at = ?, message = null, hint = null, evidence = null
     where id = ?`,
    [
      rows.empty ? 'empty' : 'ok',
      written.fresh,
      written.unchanged,
      written.revised,
      withdrawn,
      open.rejected,
      rows.outside,
      rows.observations && lastOf(rows.observations),
      rows.stepS,
      rows.resolutionId,
      rows.sourceUpdatedAt,
      fetchId,
    ],
  )
  return { ...written, withdrawn, ...open }
}

/** The last instant with a value; null without one. */
function lastOf({ at, values }: Observations): number | null {
  let last: number | null = null
  for (let i = 0; i < at.length; i++) if (values[i] !== null && (last === null || at[i]! > last)) last = at[i]!
  return last
}
