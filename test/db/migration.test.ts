import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/db/sqlite/schema.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { ensureJudged } from '../../src/load/spans/recordSpans.ts'
import { deriveStoredTimelines } from '../../src/load/timelines/deriveTimelines.ts'
import { SERVICES } from '../../src/service/services.ts'
import { replay } from '../../src/sync/replay.ts'
import { writeSchemaOne } from '../fixtures/schemaOne.ts'
import { fileFolder, ms, tempFolder, tempStore } from '../support/kit.ts'
import { openReader, openStore, openWriter } from '../support/testStore.ts'
import * as rows from './schemaOneRows.ts'
import { EXPECTED_PRICES, I90_VALUES, PRICES, toSchemaTwo } from './schemaTwo.ts'

/** Just after the last run of the fixture. */
const NOW = ms('2025-11-05T12:02:00Z')

type Row = Record<string, unknown>

/** The rows of a query. */
function rowsOf(file: string, query: string): Row[] {
  const db = new SQLite(file, { readonly: true })
  try {
    return db.prepare(query).all() as Row[]
  } finally {
    db.close()
  }
}
const listsOf = (file: string, query: string): unknown[][] => rowsOf(file, query).map((row) => Object.values(row))

/** Opens a database of schema 1, which migrates it, and judges it like `migrate`. */
async function migrate(file: string): Promise<number> {
  const store = await openWriter(file, 'migrate')
  const judged = await deriveStoredTimelines(store, SERVICES.generic, { nowMs: () => NOW })
  await ensureJudged(store, NOW)
  await store.close()
  return judged
}

describe('a database of schema 1', () => {
  const folder = fileFolder()
  const old = join(folder, 'old.db')
  const file = join(folder, 'migrated.db')
  beforeAll(async () => {
    writeSchemaOne(old)
    copyFileSync(old, file)
    await migrate(file)
  })

  test.each(Object.entries(rows.KEPT))('a migration keeps its %s', (_what, query) => {
    const before = rowsOf(old, query)
    expect(before.length).toBeGreaterThan(0)
    expect(rowsOf(file, query)).toEqual(before)
  })

  test('a migrated database has a copy of its earlier schema beside it', () => {
    expect(rowsOf(`${file}.schema-1`, 'pragma user_version')).toEqual([{ user_version: 1 }])
  })

  test('a migrated database has the schema of a new one', async () => {
    const shape = (name: string) => ({
      columns: rowsOf(
        name,
        `select s.type, s.name as "of", c.name, c.type as stores, c."notnull", c.pk from sqlite_schema s, pragma_table_info(s.name) c
         where s.type in ('table', 'view') and s.name not like 'sqlite_stat%' order by s.name, c.name`,
      ),
      indexes: rowsOf(name, `select name, sql from sqlite_schema where type = 'index' order by 1`),
      code: rowsOf(name, `select name, sql from sqlite_schema where type in ('trigger', 'view') order by 1`),
    })
    const fresh = await tempStore()
    expect(shape(file)).toEqual(shape(fresh.file))
    expect(rowsOf(file, 'pragma foreign_key_check')).toEqual([])
    expect(rowsOf(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  test('a migrated database keeps the ranges of its jobs as duties, and knows their runs and lookbacks', () => {
    const sorted = (row: Row): Row => ({
      ...row,
      geo_ids: String(row.geo_ids ?? '')
        .split(',')
        .sort()
        .join(),
    })
    expect(rowsOf(file, rows.RANGES.after).map(sorted)).toEqual(rowsOf(old, rows.RANGES.before).map(sorted))
    expect(rowsOf(file, rows.JOBS)).toEqual(rows.EXPECTED_JOBS)
    expect(rowsOf(file, 'select count(*) as n from _run where job_id is null')).toEqual([{ n: 0 }])
  })

  test('a migrated database has a cadence for each timeline, and its missing periods', () => {
    expect(listsOf(file, rows.CADENCES)).toEqual(rows.EXPECTED_CADENCES)
    expect(listsOf(file, rows.ABSENCES)).toEqual(rows.EXPECTED_ABSENCES)
  })

  test('a migrated database has days with the totals of its values', () => {
    const days = `select series_id, geo_id, month, day, count, hours, sum, first_s, last_s from _day
      where series_id <> (select id from series where indicator_id = 9002) order by 1, 2, 3, 4`
    expect(rowsOf(file, days)).toEqual(rowsOf(old, days))
  })

  test('a migrated database lists what is missing of each geo', async () => {
    const reader = openReader(file)
    const gaps = await findGaps(reader, NOW / 1000)
    await reader.close()
    const listed = gaps.map((gap) => [gap.indicator_id, gap.geo_id, gap.reason])
    expect(new Map(listed.map((gap) => [gap.join(' '), gap])).values().toArray()).toEqual(rows.EXPECTED_GAPS)
  })

  test('a migrated database can be judged again without a change', async () => {
    const again = join(tempFolder(), 'again.db')
    copyFileSync(file, again)
    expect(await migrate(again)).toBe(0)
    for (const table of ['_cadence', '_absent', '_span', '_duty', 'series_geo'])
      expect(rowsOf(again, `select * from ${table}`), table).toEqual(rowsOf(file, `select * from ${table}`))
  })
})

test('a replay of a migrated database judges it alike', async () => {
  const folder = fileFolder()
  const migrated = join(folder, 'migrated.db')
  const replayed = join(folder, 'replayed.db')
  writeSchemaOne(migrated)
  await migrate(migrated)
  const source = openReader(migrated)
  const store = await openStore(replayed, { durability: 'none' })
  await replay(source, store, { nowMs: () => NOW })
  await source.close()
  await store.close()
  for (const query of rows.JUDGED) expect(listsOf(replayed, query), query).toEqual(listsOf(migrated, query))
})

test('a migration keeps the views of other programs', async () => {
  const file = join(tempFolder(), 'x.db')
  writeSchemaOne(file)
  const db = new SQLite(file)
  db.exec('create view mine as select indicator_id, count(*) as n from observations group by indicator_id')
  db.exec('create view of_mine as select max(n) as most from mine')
  db.close()
  const before = rowsOf(file, 'select * from of_mine')
  await migrate(file)
  expect(rowsOf(file, 'select * from of_mine')).toEqual(before)
})

test('the judgement of an earlier database continues where it was interrupted', async () => {
  const file = join(tempFolder(), 'x.db')
  const whole = join(tempFolder(), 'whole.db')
  for (const name of [file, whole]) writeSchemaOne(name)
  const controller = new AbortController()
  const store = await openWriter(file, 'migrate')
  const options = { nowMs: () => NOW, signal: controller.signal, onProgress: () => controller.abort() }
  expect(await deriveStoredTimelines(store, SERVICES.generic, options)).toBe(1)
  await store.close()
  expect(await migrate(file)).toBe((await migrate(whole)) - 1)
  for (const query of [rows.CADENCES, rows.ABSENCES]) expect(listsOf(file, query)).toEqual(listsOf(whole, query))
})

test('a database of schema 2 gets the prices of PVPC before June 2021 and the table of I90 workbooks, and keeps the views of other programs', async () => {
  const file = join(tempFolder(), 'two.db')
  await (await openWriter(file, 'migrate')).close()
  const db = new SQLite(file)
  for (const statement of toSchemaTwo('sqlite')) db.exec(statement)
  db.pragma('user_version = 2')
  db.close()
  await (await openWriter(file, 'migrate')).close()
  expect(rowsOf(file, PRICES)).toEqual(EXPECTED_PRICES)
  expect(rowsOf(file, I90_VALUES)).toEqual([])
  expect(rowsOf(file, "select name from sqlite_schema where name = 'archive_i90_sheet'")).toHaveLength(1)
  expect(rowsOf(file, 'select * from of_mine')).toHaveLength(2)
  expect(rowsOf(file, 'pragma user_version')).toEqual([{ user_version: SCHEMA_VERSION }])
  const names = rowsOf(file, "select column_name from data_dictionary where object = 'archive_pvpc'")
  expect(names).toContainEqual({ column_name: 'price_gen' })
})

test('a database of schema 3 gets the index of recent requests', async () => {
  const file = join(tempFolder(), 'three.db')
  await (await openWriter(file, 'migrate')).close()
  const db = new SQLite(file)
  db.exec("drop index _fetch_recent; delete from _migration where name = '0005_recent_fetches'")
  db.pragma('user_version = 3')
  db.close()
  await (await openWriter(file, 'migrate')).close()
  expect(rowsOf(file, "select name from sqlite_schema where name = '_fetch_recent'")).toHaveLength(1)
  expect(rowsOf(file, 'pragma user_version')).toEqual([{ user_version: SCHEMA_VERSION }])
})
