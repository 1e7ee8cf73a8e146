import { openNew } from '../support/preparedDatabase.ts'
import type { Store } from '../support/testStore.ts'

const MOMENT = '2025-06-01T00:00:00.000Z'

/** Adds a fetch that finished at an instant. */
export function addFetch(store: Store, id: number, finished = MOMENT): void {
  store.run(
    `insert into _fetch (id, run_id, entry, route, target, params, started_at, finished_at, outcome, attempts, ms, bytes,
       rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside)
     values (?, 1, 'series[0]', 'indicator', '/indicators/600?x=1', '{}', ?, ?, 'ok', 1, 1, 1, 0, 0, 0, 0, 0, 0)`,
    [id, finished, finished],
  )
}

/** A series; defaults: the native series of indicator 600. */
interface SeriesRow {
  readonly kind?: string
  readonly indicator?: number
  readonly trunc?: string | null
  readonly agg?: string | null
  readonly geoAgg?: string | null
  readonly geoTrunc?: string | null
  readonly geoIds?: string | null
  readonly zone?: string
}

/** Adds a series with values of one geo. */
export function addSeries(
  store: Store,
  id: number,
  row: SeriesRow,
  geo: number,
  values: readonly [string, number | null][],
): void {
  const { kind = 'indicator', indicator = 600, zone = 'Europe/Madrid' } = row
  const { trunc = null, agg = null, geoAgg = null, geoTrunc = null, geoIds = null } = row
  store.run(`insert into indicator (kind, id, payload, first_seen_at) values (?, ?, '{}', '') on conflict do nothing`, [
    kind,
    indicator,
  ])
  store.run('insert into geo (id) values (?) on conflict do nothing', [geo])
  store.run(
    `insert into series (id, kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids, time_zone, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [id, kind, indicator, trunc, agg, geoAgg, geoTrunc, geoIds, zone, MOMENT],
  )
  store.run('insert into series_geo (series_id, geo_id) values (?, ?)', [id, geo])
  for (const [at, value] of values)
    store.run('insert into observation (series_id, geo_id, at, value, step_s, fetch_id) values (?, ?, ?, ?, 3600, 1)', [
      id,
      geo,
      Date.parse(at) / 1000,
      value,
    ])
}

/** Creates a database with a run and a fetch, and rows that no service would send, then closes and checkpoints it. */
export async function fillBy(file: string, fill: (store: Store) => void): Promise<void> {
  const store = await openNew(file)
  store.run(
    `insert into _run (id, command, job, version, started_at, outcome, requests, failed, bytes, rows_new, rows_unchanged,
       rows_revised, rows_withdrawn, rows_rejected) values (1, 'sync', 'x', 'x', ?, 'done', 0, 0, 0, 0, 0, 0, 0, 0)`,
    [MOMENT],
  )
  addFetch(store, 1)
  for (const [zone, offset] of [
    ['Europe/Madrid', 3600],
    ['America/New_York', -18000],
  ] as const)
    store.run(
      'insert into time_zone_offset (zone, from_at, to_at, offset_s) values (?, -62135596800, 253402300800, ?)',
      [zone, offset],
    )
  fill(store)
  await store.tidy()
  await store.close()
}
