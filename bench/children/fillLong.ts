import { rebuildDays } from '../../src/db/queries/values.ts'
/* Adds one long series to a filled database, indicator 500: ten years every five minutes, revised on each of its last thirty nights: `node fillLong.ts database`. */

import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { addUnits, startOfDate } from '../../src/util/time/zone.ts'
import { openStore } from '../../test/support/testStore.ts'

/** Another name of the zone of the other series, so that only the days of this one are added up. */
const ZONE = 'Europe/Paris'
const GEO = 8741
const NIGHTS = 30
const from = startOfDate(ZONE, '2015-01-01')!
const to = startOfDate(ZONE, '2025-01-01')!

const store = await openStore(process.argv[2]!, { durability: 'none' })
const id = (store.get('select max(id) from series') as number) + 1
const moment = (at: number): string => new Date(at * 1000).toISOString()

/** The request of a night, and the run that it belongs to. */
function fetched(first: number, end: number, at: number): number {
  store.run(
    `insert into _run (command, job, version, started_at, finished_at, outcome, requests, failed, bytes, rows_new, rows_unchanged,
       rows_revised, rows_withdrawn, rows_rejected) values ('sync', 'bench', '0', ?, ?, 'done', 1, 0, 0, 0, 0, 0, 0, 0)`,
    [moment(at), moment(at)],
  )
  store.run(
    `insert into _fetch (run_id, entry, route, target, params, series_id, from_at, to_at, started_at, finished_at, outcome,
       attempts, ms, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside, last_at)
     select max(id), 'series[0]', 'indicator', '/indicators/500', '{}', ?, ?, ?, ?, ?, 'ok', 1, 1, 1, 1, 0, 1, 0, 0, 0, ? from _run`,
    [id, first, end, moment(at), moment(at), end - 300],
  )
  return store.get('select max(id) from _fetch') as number
}

/** Values of an interval, other ones at every request. */
const write = (first: number, end: number, fetch: number): number =>
  store.run(
    `with recursive five (at) as (select ? union all select at + 300 from five where at + 300 < ?)
     insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
     select ?, ?, at, 25000 + (at / 300 * 104729 + iif(at >= ? - 172800, ? * 7, 0)) % 20000 / 10.0, 300, ? from five where true
     on conflict do update set value = excluded.value, fetch_id = excluded.fetch_id where value <> excluded.value`,
    [first, end, id, GEO, end, fetch, fetch],
  )

await store.write((tx) => rememberZone(tx, ZONE))
await store.write(async () => {
  store.run(
    `insert into indicator (kind, id, magnitude, payload, first_seen_at) values ('indicator', 500, 'MW', '{}', ?)`,
    [moment(to)],
  )
  store.run(
    `insert into indicator_text (kind, id, locale, name, fetch_id) values ('indicator', 500, 'es', 'Demanda', 1)`,
    [],
  )
  store.run(
    `insert into series (id, kind, indicator_id, time_zone, created_at, lookback_s) values (?, 'indicator', 500, ?, ?, 172800)`,
    [id, ZONE, moment(to)],
  )
  store.run('insert into series_geo (series_id, geo_id) values (?, ?)', [id, GEO])
  store.run(
    `insert into _coverage (series_id, geo_id, from_at, to_at, state, fetched_at, settled_s) values (?, 0, ?, ?, 'values', ?, 0)`,
    [id, from, to, to],
  )
  const first = addUnits(ZONE, to, 'day', -NIGHTS)
  write(from, first, fetched(from, first, first))
  for (let night = 1; night <= NIGHTS; night++) {
    const end = addUnits(ZONE, first, 'day', night)
    const begin = addUnits(ZONE, end, 'day', -4)
    write(begin, end, fetched(begin, end, end))
  }
})
await store.write((tx) => rebuildDays(tx, ZONE))
store.tidy()
process.stdout.write(`${store.get('select count(*) from observation_revision')}\n`)
await store.close()
