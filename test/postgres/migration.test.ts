import { expect, test } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { ensureJudged } from '../../src/load/spans/recordSpans.ts'
import { deriveStoredTimelines } from '../../src/load/timelines/deriveTimelines.ts'
import { SERVICES } from '../../src/service/services.ts'
import * as expected from '../db/schemaOneRows.ts'
import { EXPECTED_PRICES, I90_VALUES, PRICES, toSchemaTwo } from '../db/schemaTwo.ts'
import { restoreSchemaOne } from '../fixtures/schemaOne.ts'
import { ms } from '../support/kit.ts'
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
  const before = new Map<string, Row[]>()
  for (const [what, query] of queries) before.set(what, await rowsOf(url, query))
  const ranges = await listsOf(url, expected.RANGES.before)

  expect(await migrate(url)).toEqual(expected.EXPECTED_GAPS)

  for (const [what, query] of queries) expect(await rowsOf(url, query), what).toEqual(before.get(what))
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

test('a migrated database of schema 1 has the schema of a new one', async () => {
  const url = await tempDatabase()
  await restoreSchemaOne(url)
  await migrate(url)
  const shape = async (address: string) => ({
    columns: await rowsOf(
      address,
      `select table_name, column_name, data_type, is_nullable from information_schema.columns
       where table_schema = 'public' order by table_name, column_name`,
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
    views: await rowsOf(address, "select viewname, definition from pg_views where schemaname = 'public' order by 1"),
  })
  const migrated = await shape(url)
  const fresh = await shape(await migratedDatabase())
  for (const part of Object.keys(fresh) as (keyof typeof fresh)[]) expect(migrated[part], part).toEqual(fresh[part])
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
