import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { openStore, readSchemaState } from '../../src/db/open.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { ensureJudged } from '../../src/load/spans/recordSpans.ts'
import { deriveStoredTimelines } from '../../src/load/timelines/deriveTimelines.ts'
import { SERVICES } from '../../src/service/services.ts'
import * as expected from '../db/schemaOneRows.ts'
import { CHANGED_TABLES, TO_SCHEMA_THREE } from '../db/schemaThree.ts'
import { EXPECTED_PRICES, I90_VALUES, PRICES, toSchemaTwo } from '../db/schemaTwo.ts'
import { restoreSchemaOne } from '../fixtures/schemaOne.ts'
import { emulate, ms, runCommand, runJob, tempFolder } from '../support/kit.ts'
import { migratedDatabase, tempDatabase, withClient } from './database.ts'

/** Just after the last run of the fixture. */
const NOW = ms('2025-11-05T12:02:00Z')

type Row = Record<string, unknown>

const rowsOf = (url: string, query: string): Promise<Row[]> =>
  withClient(url, async (client) => (await client.query<Row>(query)).rows)

/** Rows as lists, with the numbers that the client returns as text. */
const listsOf = async (url: string, query: string): Promise<unknown[][]> =>
  (await rowsOf(url, query)).map((row) =>
    Object.values(row).map((value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)),
  )

/** Opens a database of schema 1, which migrates it, and judges it like `migrate`. Returns the kinds of its gaps. */
async function migrate(url: string): Promise<unknown[][]> {
  const store = await openWriter(url, 'migrate')
  await deriveStoredTimelines(store, SERVICES.generic, { nowMs: () => NOW })
  await ensureJudged(store, NOW)
  const gaps = await findGaps(store, NOW / 1000)
  await store.close()
  const kinds = new Map(
    gaps.map(({ indicator_id, geo_id, reason }) => [
      `${indicator_id} ${geo_id} ${reason}`,
      [indicator_id, geo_id, reason],
    ]),
  )
  return [...kinds.values()]
}

test('a database of schema 1 keeps its rows and is judged as in SQLite', async () => {
  const url = await tempDatabase()
  await restoreSchemaOne(url)
  const queries = Object.entries(expected.KEPT)
  const before = new Map<string, unknown[][]>()
  for (const [what, query] of queries) before.set(what, await listsOf(url, query))
  const ranges = await listsOf(url, expected.RANGES.before)

  expect(await migrate(url)).toEqual(expected.EXPECTED_GAPS)

  for (const [what, query] of queries) expect(await listsOf(url, query), what).toEqual(before.get(what))
  const sorted = (rows: unknown[][]) =>
    rows.map(([series, job, geos, ...more]) => [
      series,
      job,
      String(geos ?? '')
        .split(',')
        .sort()
        .join(),
      ...more,
    ])
  expect(sorted(await listsOf(url, expected.RANGES.after))).toEqual(sorted(ranges))
  expect(await listsOf(url, expected.JOBS)).toEqual(expected.EXPECTED_JOBS.map((job) => Object.values(job)))
  expect(await listsOf(url, expected.CADENCES)).toEqual(expected.EXPECTED_CADENCES)
  expect(await listsOf(url, expected.ABSENCES)).toEqual(expected.EXPECTED_ABSENCES)
})

test('a migration keeps the views of other programs', async () => {
  const url = await tempDatabase()
  await restoreSchemaOne(url)
  await rowsOf(
    url,
    `create schema other;
     create view other."my view" as select indicator_id, count(*) as n from observations group by indicator_id;
     create view public.of_mine as select max(n) as most from other."my view"`,
  )
  const before = await rowsOf(url, 'select * from of_mine')
  await migrate(url)
  expect(await rowsOf(url, 'select * from of_mine')).toEqual(before)
})

/** The columns, indexes, keys, triggers and views of a database, without those of other programs. */
async function readShape(address: string) {
  return {
    columns: await rowsOf(
      address,
      `select table_name, column_name, data_type, is_nullable from information_schema.columns
       where table_schema = 'public' and table_name <> 'of_mine' order by table_name, column_name`,
    ),
    indexes: await rowsOf(address, "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1"),
    keys: await rowsOf(
      address,
      `select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as key from pg_constraint
       where connamespace = 'public'::regnamespace and contype in ('p', 'f', 'u') order by 1, 2`,
    ),
    triggers: await rowsOf(
      address,
      `select tgrelid::regclass::text as "table", tgname, pg_get_triggerdef(oid) as code from pg_trigger
       where not tgisinternal order by 1, 2`,
    ),
    views: await rowsOf(
      address,
      "select viewname, definition from pg_views where schemaname = 'public' and viewname <> 'of_mine' order by 1",
    ),
  }
}

async function expectShapeOfNew(address: string): Promise<void> {
  const migrated = await readShape(address)
  const fresh = await readShape(await migratedDatabase())
  for (const part of Object.keys(fresh) as (keyof typeof fresh)[]) expect(migrated[part], part).toEqual(fresh[part])
}

test('a migrated database of schema 1 has the schema of a new one', async () => {
  const url = await tempDatabase()
  await restoreSchemaOne(url)
  await migrate(url)
  await expectShapeOfNew(url)
})

test('a database of schema 2 gets the prices of PVPC before June 2021 and the table of I90 workbooks, and keeps the views of other programs', async () => {
  const url = await migratedDatabase()
  for (const statement of toSchemaTwo('postgres')) await rowsOf(url, statement)
  await (await openWriter(url, 'migrate')).close()
  const prices = (await rowsOf(url, PRICES)).map((row) => ({ ...row, line: Number(row.line) }))
  expect(prices).toEqual(EXPECTED_PRICES)
  expect(await rowsOf(url, I90_VALUES)).toEqual([])
  expect(await rowsOf(url, 'select * from of_mine')).toHaveLength(2)
})

/** A database of schema 3 with values, revisions, and views of another program. */
async function schemaThree(): Promise<string> {
  const url = await migratedDatabase()
  const store = await openStore(url)
  const job =
    'series: [{ indicators: [600, 1739], window: { from: 2025-10-25, to: 2025-10-28 }, lookback: 30d, refresh: 1h }]'
  for (const night of [0, 1]) {
    const now = NOW + night * 86_400_000
    const faults = night === 1 ? [{ route: 'indicator' as const, every: 1, rows: 'revised' as const }] : []
    await runJob(store, await emulate({ now: now / 1000, faults }), job, { now })
  }
  await store.close()
  await withClient(url, async (client) => {
    await client.query('set search_path = public, compat')
    for (const statement of TO_SCHEMA_THREE) await client.query(statement)
  })
  return url
}

/** All rows of the changed tables, and of views that read them. */
const readValues = async (url: string): Promise<Row[][]> => {
  const rows: Row[][] = []
  for (const name of [...CHANGED_TABLES, 'observation_history', 'other."my view"', 'other.of_year', 'of_mine'])
    rows.push(await rowsOf(url, `select to_jsonb(t) as row from ${name} t order by 1`))
  return rows
}

const grantsOf = (url: string): Promise<Row[]> =>
  rowsOf(
    url,
    "select relname, relacl::text, reloptions from pg_class where relname in ('observations', 'of_year', 'my view') order by 1",
  )

const migrateOnly = async (url: string): Promise<void> => (await openWriter(url, 'migrate')).close()

test('a filled database of schema 3 keeps its rows and the views of other programs, and gets the schema of a new one', async () => {
  const url = await schemaThree()
  const before = await readValues(url)
  const grants = await grantsOf(url)
  for (const rows of before) expect(rows.length).toBeGreaterThan(0)
  expect(await rowsOf(url, 'select pg_typeof(step_s)::text as type from observation limit 1')).toEqual([
    { type: 'bigint' },
  ])

  await migrateOnly(url)

  expect(await readValues(url)).toEqual(before)
  expect(await grantsOf(url)).toEqual(grants)
  await expectShapeOfNew(url)
  // Statistics of the changed columns exist, also those of all partitions together.
  expect(
    await rowsOf(
      url,
      "select attname from pg_stats where tablename = 'observation' and attname in ('series_id', 'fetch_id') order by 1",
    ),
  ).toEqual([{ attname: 'fetch_id' }, { attname: 'series_id' }])
})

test('an interrupted migration of schema 3 changes nothing and can be repeated', async () => {
  const url = await schemaThree()
  const before = await readValues(url)
  await withClient(url, async (client) => {
    // The migration waits for this lock after it has dropped the views.
    await client.query('begin; lock table observation_revision in access share mode')
    const migrating = migrateOnly(url)
    migrating.catch(() => undefined)
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query ilike 'alter table observation_revision%'`
    let pids: Row[] = []
    for (let i = 0; i < 600 && pids.length === 0; i++) {
      await sleep(50)
      pids = await rowsOf(url, waiting)
    }
    expect(pids).toHaveLength(1)
    await client.query('select pg_terminate_backend($1)', [pids[0]!.pid])
    await expect(migrating).rejects.toThrow(/connection/i)
    await client.query('rollback')
  })
  expect(await readSchemaState(url)).toMatchObject({ version: 3, known: 5 })
  expect(await readValues(url)).toEqual(before)
  await migrateOnly(url)
  expect(await readValues(url)).toEqual(before)
})

test.each([
  ['observation', 'geo_id'],
  ['observation', 'step_s'],
  ['observation_revision', 'step_s'],
])('the migration of schema 3 refuses a number in %s.%s that is too large', async (table, column) => {
  const url = await schemaThree()
  await rowsOf(url, `update ${table} set ${column} = 3000000000 where ctid = (select min(ctid) from ${table})`)
  const before = await readValues(url)
  await expect(migrateOnly(url)).rejects.toMatchObject({
    code: 'number-too-large',
    message: expect.stringContaining(`${column} of ${table} contains 3000000000`),
  })
  expect(await readValues(url)).toEqual(before)
})

test('the migration of schema 3 refuses a materialized view of another program', async () => {
  const url = await schemaThree()
  await rowsOf(url, 'create materialized view other.kept as select * from observation')
  await expect(migrateOnly(url)).rejects.toMatchObject({
    code: 'materialized-view',
    message: expect.stringContaining('other.kept'),
  })
  await rowsOf(url, 'drop materialized view other.kept')
  await migrateOnly(url)
})

test('the command says that the migration of schema 3 takes minutes', async () => {
  const url = await schemaThree()
  const run = (...words: string[]) => runCommand(tempFolder(), ['migrate', '--database', url, ...words])
  expect((await run('--list')).out).toMatch(/ {2}pending {2}0004_small_columns\n {2}pending {2}0005_recent_fetches\n$/)
  const first = await run()
  expect(first.err).toMatch(/Updating schema 3 to 5\. With many values this takes minutes/)
  expect(first.out).toMatch(/ {2}applied {2}0004_small_columns\n {2}applied {2}0005_recent_fetches\n$/)
  expect((await run()).err).not.toMatch(/Updating/)
})
