import { rebuildDays } from '../../src/db/queries/values.ts'
/* Fills a database by SQL, like a sync of this number of series: `node fill.ts database series`. */

import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { addUnits, startOfDate } from '../../src/util/time/zone.ts'
import { openStore } from '../../test/support/testStore.ts'

const file = process.argv[2]!
const series = Number(process.argv[3])
const ZONE = 'Europe/Madrid'
const GEOS = { 1: 'Portugal', 2: 'Francia', 3: 'España', 8741: 'Península', 8826: 'Alemania' }
const DAYS = 834
/** Days of a request. */
const WINDOW = 42
const from = startOfDate(ZONE, '2015-01-01')!
const to = addUnits(ZONE, from, 'day', DAYS)
const MOMENT = '2018-01-01T00:00:00.000Z'

const store = await openStore(file, { durability: 'none' })
await store.write((tx) => rememberZone(tx, ZONE))
store.run(
  `insert into _run (id, command, job, version, started_at, outcome, requests, failed, bytes, rows_new, rows_unchanged,
     rows_revised, rows_withdrawn, rows_rejected) values (1, 'sync', 'bench', '0', ?, 'done', 0, 0, 0, 0, 0, 0, 0, 0)`,
  [MOMENT],
)
for (const [id, name] of Object.entries(GEOS)) {
  store.run('insert into geo (id) values (?)', [id])
  store.run(`insert into geo_text (id, locale, name) values (?, 'es', ?)`, [id, name])
}
for (let id = 1; id <= series; id++)
  await store.write(async () => {
    store.run(
      `insert into indicator (kind, id, magnitude, payload, first_seen_at) values ('indicator', ?, 'Precio', '{}', ?)`,
      [600 + id, MOMENT],
    )
    store.run(
      `insert into indicator_text (kind, id, locale, name, fetch_id) values ('indicator', ?, 'es', 'Precio', 1)`,
      [600 + id],
    )
    store.run(
      `insert into series (id, kind, indicator_id, time_zone, created_at, lookback_s) values (?, 'indicator', ?, ?, ?, 172800)`,
      [id, 600 + id, ZONE, MOMENT],
    )
    store.run(
      `insert into _coverage (series_id, geo_id, from_at, to_at, state, fetched_at, settled_s) values (?, 0, ?, ?, 'values', unixepoch(?), 8640000)`,
      [id, from, to, MOMENT],
    )
    let fetchId = 0
    for (let at = from; at < to; at = addUnits(ZONE, at, 'day', WINDOW)) {
      store.run(
        `insert into _fetch (run_id, entry, route, target, params, series_id, from_at, to_at, started_at, finished_at, outcome,
           attempts, ms, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside, last_at)
         values (1, 'series[0]', 'indicator', '/indicators/' || ?, '{}', ?, ?, ?, ?, ?, 'ok', 1, 1, 1, 0, 0, 0, 0, 0, 0, ?)`,
        [600 + id, id, at, Math.min(to, addUnits(ZONE, at, 'day', WINDOW)), MOMENT, MOMENT, at],
      )
      fetchId = store.get('select max(id) from _fetch') as number
    }
    for (const geo of Object.keys(GEOS).map(Number)) {
      store.run('insert into series_geo (series_id, geo_id) values (?, ?)', [id, geo])
      store.run(
        `with recursive hour (at) as (select ? union all select at + 3600 from hour where at + 3600 < ?)
         insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
         select ?, ?, at, (at / 3600 * 104729 + ?) % 20000 / 100.0, 3600, ? from hour`,
        [from, to, id, geo, geo * 31, fetchId],
      )
    }
  })
await store.write((tx) => rebuildDays(tx, ZONE))
store.tidy()
await store.close()
