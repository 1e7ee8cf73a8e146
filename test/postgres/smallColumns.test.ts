import { expect, onTestFinished, test } from 'vitest'
import { openReader, openStore, takeOver } from '../../src/db/open.ts'
import { queryRows } from '../../src/db/postgres/connection/statements.ts'
import { currentValues } from '../../src/db/queries/values.ts'
import type { Store } from '../../src/db/store.ts'
import { servePage } from '../page/site.ts'
import { json, ms, runJob, serve, tempFolder } from '../support/kit.ts'
import { migratedDatabase, withClient } from './database.ts'

/* Ids and steps of values have four bytes on PostgreSQL. */

const NOW = ms('2025-11-04T12:00:00Z')
const FROM = ms('2025-09-30T22:00:00Z') / 1000
const JOB = 'series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-02 } }]'
const TOO_LARGE = 3_000_000_000

async function open(): Promise<Store> {
  const store = await openStore(await migratedDatabase())
  onTestFinished(() => store.close())
  return store
}

/** A day of hours, the first of which has another geo. */
const body = (geoId: number, more: object = {}) => ({
  indicator: {
    id: 1739,
    name: 'x',
    values: Array.from({ length: 24 }, (_, i) => ({
      value: i,
      datetime: new Date((FROM + i * 3600) * 1000).toISOString().replace('Z', '+00:00'),
      geo_id: i === 0 ? geoId : 3,
    })),
    ...more,
  },
})

const count = async ({ kysely }: Store, sql: string) => (await queryRows<{ n: number }>(kysely, sql))[0]!.n

test('a value of a geo that is too large is quarantined, and the others are stored', async () => {
  const store = await open()
  const server = await serve((_request, response) => json(response, JSON.stringify(body(TOO_LARGE))))
  const summary = await runJob(store, server, JOB, { now: NOW })
  expect(summary.outcome).toBe('partial')
  expect(await queryRows(store.kysely, 'select reason from _quarantine')).toEqual([
    { reason: 'geo_id 3000000000 is beyond 2147483647' },
  ])
  expect(await count(store, 'select count(*) as n from observation')).toBe(23)
})

test('a geo that is too large in the list of geos changes nothing', async () => {
  const store = await open()
  const geos = [{ geo_id: TOO_LARGE, geo_name: 'Far away' }]
  const server = await serve((_request, response) => json(response, JSON.stringify(body(3, { geos }))))
  expect((await runJob(store, server, JOB, { now: NOW })).outcome).toBe('done')
  expect(await count(store, 'select count(*) as n from observation')).toBe(24)
  expect(await count(store, `select count(*) as n from geo_text where id = ${TOO_LARGE}`)).toBe(1)
})

test('a page of a geo that is too large is refused', async () => {
  const file = await migratedDatabase()
  await withClient(file, (client) =>
    client.query(
      `insert into indicator (kind, id, first_seen_at) values ('indicator', 600, '');
       insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, 'Europe/Madrid', '')`,
    ),
  )
  const { url } = await servePage(file)
  const statusOf = async (geo: number) => (await fetch(`${url}/series/600?geo=${geo}`)).status
  expect([await statusOf(3), await statusOf(TOO_LARGE)]).toEqual([200, 400])
})

test.each(['geo_id', 'step_s', 'fetch_id'])('the copy of a file refuses a %s that is too large', async (column) => {
  const file = `${await tempFolder()}/x.db`
  const source = await openStore(file)
  const row = { series_id: 1, geo_id: 3, at: FROM, value: 1, step_s: 3600, fetch_id: 1, [column]: TOO_LARGE }
  await source.write((tx) => tx.insertInto('observation').values(row).execute())
  await source.close()
  const reader = openReader(file)
  onTestFinished(() => reader.close())
  await expect(takeOver(reader, await migratedDatabase(), () => undefined)).rejects.toMatchObject({
    code: 'number-too-large',
    message: `The ${column} 3000000000 is too large for PostgreSQL (largest: 2147483647).`,
  })
})

/** A database with values of a thousand days of ten series and ten geos, enough for plans by the key. */
async function filled(): Promise<Store> {
  const store = await open()
  await queryRows(
    store.kysely,
    `insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
     select s, g, ${FROM} - 86400 * d, d, 86400, 1 from generate_series(1, 10) s, generate_series(1, 10) g, generate_series(1, 1000) d`,
  )
  await queryRows(
    store.kysely,
    `insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
     select series_id, geo_id, at, 0, value, step_s, 1 from observation`,
  )
  await queryRows(store.kysely, 'analyze observation, observation_revision')
  return store
}

test('statements read values along the key, with parameters of 32 and 64 bits', async () => {
  const { kysely } = await filled()
  const plan = async (sql: string, parameters: unknown[]) =>
    (await queryRows<{ 'QUERY PLAN': string }>(kysely, `explain ${sql}`, parameters))
      .map((row) => row['QUERY PLAN'])
      .join('\n')
  const range = [FROM - 86_400 * 20, FROM]
  for (const table of ['observation', 'observation_revision'])
    for (const type of ['integer', 'bigint']) {
      const where = `from ${table} where series_id = $1::${type} and at >= $3 and at < $4 and geo_id`
      for (const condition of [`= any($2::${type}[])`, `in (select g from unnest($2::${type}[]) g)`]) {
        const text = await plan(`select at ${where} ${condition}`, [3, [4, 5], ...range])
        expect(text).toMatch(/Index Cond: .*series_id = .*geo_id/)
        expect(text).not.toMatch(/Seq Scan/)
      }
    }
  const joined = await plan(
    `select count(*) from observations where series_id = 3 and geo_id = 4 and at >= ${range[0]} and at < ${FROM}`,
    [],
  )
  expect(joined).not.toMatch(/Seq Scan on observation/)
  expect((await currentValues.all(kysely, { seriesId: 3, geoId: 4, from: range[0]!, to: FROM })).length).toBe(20)
})

test('steps of views have 64 bits, so that their products do not overflow', async () => {
  const { kysely } = await open()
  const wide = await queryRows<{ view: string; type: string }>(
    kysely,
    `select table_name as view, data_type as type from information_schema.columns c join pg_views v on v.viewname = c.table_name
     where table_schema = 'public' and column_name in ('series_id', 'geo_id', 'step_s') and data_type <> 'bigint'`,
  )
  expect(wide).toEqual([])
})
