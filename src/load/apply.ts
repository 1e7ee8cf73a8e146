import { formatMillis } from '../base/instant.ts'
import type { Store } from '../db/open.ts'
import type { Ask } from '../job/ask.ts'
import type { Rows } from '../tables/rows.ts'
import { tableOf } from '../tables/schema.ts'
import { cover } from './coverage.ts'
import { markListing, replaceOwned } from './listing.ts'
import { upsertObservations, withdrawObservations } from './observations.ts'
import { addWritten, NOTHING_WRITTEN, upsertRows, type Written } from './upsert.ts'

/** A reply that was recorded and understood. */
export interface Meaning {
  readonly fetchId: number
  readonly seriesId: number | null
  readonly ask: Ask
  readonly rows: Rows
  /** When it was recorded (epoch milliseconds). */
  readonly ms: number
}

/** What the rows of a reply did. */
export interface Applied extends Written {
  readonly withdrawn: number
}

/**
 * Writes what a reply means: its rows, the versions they supersede, what is held now, and the counters of its record.
 * Part of a transaction; the same whether the reply has just come or lay on the tape.
 */
export function applyRows(store: Store, { fetchId, seriesId, ask, rows, ms }: Meaning): Applied {
  const now = formatMillis(ms)
  let written = NOTHING_WRITTEN
  let withdrawn = 0
  const stamps = { fetch_id: fetchId, first_seen_at: now }
  for (const table of rows.tables) written = addWritten(written, upsertRows(store, table, stamps))
  for (const owned of rows.owned) {
    written = addWritten(written, upsertRows(store, owned, stamps))
    replaceOwned(store, owned, tableOf(owned.table).key)
  }
  if (rows.listing) withdrawn += markListing(store, rows.listing, now)
  if (rows.observations && seriesId !== null) {
    const { observations } = rows
    written = addWritten(written, upsertObservations(store, seriesId, fetchId, observations))
    for (const geoId of new Set(observations.geoIds))
      store.run('insert into series_geo (series_id, geo_id) values (?, ?) on conflict do nothing', [seriesId, geoId])
    const sound = rows.rejects.length === 0
    if (ask.window && sound) withdrawn += withdrawObservations(store, seriesId, fetchId, ask.window, observations)
    cover(store, seriesId, ask, observations, Math.floor(ms / 1000), !sound)
  }
  store.run(
    `update _fetch set outcome = ?, rows_new = ?, rows_unchanged = ?, rows_revised = ?, rows_withdrawn = ?, rows_rejected = ?,
       rows_outside = ?, step_s = ?, resolution_id = ?, source_updated_at = ?, message = null, hint = null, evidence = null
     where id = ?`,
    [
      rows.empty ? 'empty' : 'ok',
      written.fresh,
      written.unchanged,
      written.revised,
      withdrawn,
      rows.rejects.length,
      rows.outside,
      rows.stepS,
      rows.resolutionId,
      rows.sourceUpdatedAt,
      fetchId,
    ],
  )
  return { ...written, withdrawn }
}
