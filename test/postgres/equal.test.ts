import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rebuild } from '../../src/cli/commands/replay.ts'
import { allRows } from '../../src/db/engine.ts'
import { openReader, openStore, takeOver } from '../../src/db/open.ts'
import { rebuildDays } from '../../src/db/queries/values.ts'
import type { Reader, Store } from '../../src/db/store.ts'
import { TABLE_NAMES, tableOf, VIEWS } from '../../src/db/tables/schema.ts'
import { findDifferingDays } from '../../src/findings/kinds/dailyTotals.ts'
import { checkLake } from '../../src/lake/checkLake.ts'
import { listFiles } from '../../src/lake/manifest.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { copyInto } from '../../src/reports/publishCopy.ts'
import { SERVICES } from '../../src/service/services.ts'
import { replay } from '../../src/sync/replay.ts'
import { RECIPES } from '../support/genericRecipes.ts'
import { emulate, ms, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { tempDatabase, withClient } from './database.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400_000
/** One request at a time, so that ids are equal on both sides. */
const JOB = `pace: { perSecond: 50, concurrency: 1 }
catalogue: { locales: [es, en], refresh: 1h }
series:
  - { indicators: [600, 1739], window: { from: 2025-10-18, to: +1d }, lookback: 30d, refresh: 1h, chunk: 1w }
  - { indicators: [1293], timeTrunc: hour, timeAgg: average, window: { last: 5d } }
  - { indicators: [1293, 544, 551, 1295], window: { last: 3d } }
  - { indicators: [460], geoIds: [8741], geoAgg: sum, window: { last: 3d } }
offers: [{ indicators: [25], window: { last: 3d } }]
content: [{ kinds: [news, glossaries], refresh: 1h }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-03 } }]
widgets: { list: true, names: [potencia], window: { last: 1d } }
`

/** The values are fetched before the catalogue, which describes them. */
const VALUES = `pace: { perSecond: 50, concurrency: 1 }
series:
  - { indicators: [600, 1739], window: { from: 2025-10-18, to: 2025-10-25 } }`

/** Runs several nights with revisions, refusals, repetitions and unreadable rows. */
async function nights(store: Store): Promise<void> {
  for (const [night, faults] of [
    [-1, []],
    [0, [{ route: 'indicator' as const, every: 3, rows: 'text' as const }]],
    [
      1,
      [
        { every: 5, body: 'other-root' as const },
        { every: 4, status: 400 },
      ],
    ],
    [2, [{ route: 'indicator' as const, every: 4, rows: 'revised' as const }]],
    [3, []],
  ] as const) {
    const now = NOW + night * DAY
    const emulator = await emulate({ now: now / 1000, faults: [...faults] })
    await runJob(store, emulator, night < 0 ? VALUES : JOB, { now })
  }
}

/** Columns that differ between runs: durations, the port of the service, the writer. */
const APART: Readonly<Record<string, readonly string[]>> = {
  _fetch: ['ms', 'started_at'],
  _source: ['host', 'base_url'],
  _budget: ['host'],
  runs: ['seconds'],
}
const WRITERS: readonly string[] = ['_lock', '_fence']

/** Rounds doubles to twelve digits, because sums are added in different orders and precisions. */
const rounded = (value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(12)) : value
/** Removes offsets of local times and empty fractions, which PostgreSQL does not have. */
const plainTime = (text: string): string =>
  text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[+-]\d\d:\d\d|\.000Z)$/, (_, time) =>
    text.endsWith('Z') ? `${time}Z` : time,
  )
function plain(value: unknown): unknown {
  if (typeof value === 'string') return plainTime(value)
  if (typeof value === 'bigint') return Number(value)
  return Buffer.isBuffer(value) ? value.toString('hex') : value
}

/** Returns every row of a table or view, in an order independent of the database. */
async function rowsOf(db: Reader, name: string, columns: readonly string[], computed: boolean): Promise<string[]> {
  const { rows } = await db.engine.query(`select ${columns.join(', ')} from ${name}`)
  const all = (await allRows(rows)).map((row) => row.map((value) => (computed ? rounded(plain(value)) : plain(value))))
  return all.map((row) => JSON.stringify(row)).sort()
}

async function expectEqual(a: Reader, b: Reader, without: readonly string[] = []): Promise<void> {
  let compared = 0
  for (const name of TABLE_NAMES.filter((one) => ![...WRITERS, ...without].includes(one))) {
    const columns = Object.keys(tableOf(name).columns).filter((column) => !APART[name]?.includes(column))
    const one = await rowsOf(a, name, columns, false)
    const other = await rowsOf(b, name, columns, false)
    expect.soft(other, name).toEqual(one)
    compared += one.length
  }
  for (const [name, view] of Object.entries(VIEWS)) {
    const columns = Object.keys(view.columns).filter((column) => !APART[name]?.includes(column))
    if (!without.includes(name))
      expect.soft(await rowsOf(b, name, columns, true), name).toEqual(await rowsOf(a, name, columns, true))
  }
  expect(compared).toBeGreaterThan(1000)
}

/** Syncs a lake and returns its files with checksums; expects a second sync to change nothing. */
async function lakeOf(db: Reader): Promise<ReadonlyMap<string, string>> {
  const place = openFolderPlace(join(tempFolder(), 'lake'))
  // A lake is read in one snapshot until its reader is closed, so each sync has its own.
  const sync = async () => {
    const reader = openReader(db.file)
    try {
      return await syncLake(reader, place, { program: 'test', nowMs: Date.now })
    } finally {
      await reader.close()
    }
  }
  expect((await sync()).rows.observation_revision).toBeGreaterThan(0)
  expect(await sync()).toMatchObject({ changed: false })
  const { manifest, findings } = await checkLake(place)
  expect(findings).toEqual([])
  return new Map(listFiles(manifest).map(({ path, sha256 }) => [path, sha256]))
}

const newServer = async (): Promise<Store> => {
  const store = await openStore(await tempDatabase())
  onTestFinished(() => store.close())
  return store
}

test('PostgreSQL and SQLite contain the same rows after the same runs, in all tables, copies and replays', async () => {
  const file = await tempStore()
  const server = await newServer()
  for (const store of [file, server]) await nights(store)
  await expectEqual(file, server)
  for (const { name, sql, parameters, shown = {} } of RECIPES) {
    const of = async (db: Reader) =>
      (await allRows((await db.engine.query(sql, { ...parameters, ...shown })).rows)).map((row) => row.map(plain))
    const there = await of(server)
    const here = await of(file)
    // Halfway values may be rounded in either direction.
    const near = here.map((row) =>
      row.map((value) => (typeof value === 'number' && !Number.isInteger(value) ? expect.closeTo(value, 1) : value)),
    )
    expect.soft(there, name).toEqual(near)
  }

  // A copy of the file, interrupted and continued.
  const copy = await tempDatabase()
  const cut = new Error('cut')
  const begun = takeOver(file, copy, (table) => {
    if (table === 'observation') throw cut
  })
  await expect(begun).rejects.toBe(cut)
  const done = await takeOver(file, copy, () => undefined)
  expect(done.rows).toBeGreaterThan(0)
  const copied = openReader(copy)
  onTestFinished(() => copied.close())
  await expectEqual(file, copied)
  await expect(takeOver(file, copy, () => undefined)).rejects.toThrow(/is not empty, and not an unfinished copy of/)

  // The lakes of all three have the same files, byte for byte.
  const [lake, ...others] = await Promise.all([file, server, copied].map(lakeOf))
  expect(lake!.size).toBeGreaterThan(5)
  for (const other of others) expect(other).toEqual(lake)
  // Another physical order of rows is not a change, but an extreme value is.
  const alter = (text: string) => withClient(copy, (client) => client.query(text))
  const prints = await copied.engine.computeDayChecksums()
  await alter('update _day set count = count where day % 2 = 0')
  expect(await copied.engine.computeDayChecksums()).toEqual(prints)
  await alter(
    'insert into _day (series_id, geo_id, month, day, count, missing, sum) values (9, 9, 24000, 9, 1, 0, 1.7e308)',
  )
  expect((await copied.engine.computeDayChecksums()).size).toBe(prints.size + 1)
  await alter('delete from _day where month = 24000')

  // A copy of the server's database in a file, like `publish` creates.
  const taken = join(tempFolder(), 'taken.db')
  const reading = openReader(server.file)
  onTestFinished(() => reading.close())
  await copyInto(reading, taken)
  const inFile = openReader(taken)
  onTestFinished(() => inFile.close())
  await expectEqual(file, inFile)

  // In place: damaged rows are restored, and intact rows unchanged.
  const query = (text: string) => withClient(server.file, (client) => client.query(text))
  const { rowCount: lost } = await query('delete from observation where at % 3600 = 0')
  for (const damage of [
    "update indicator_text set name = 'x' where id % 2 = 0",
    'delete from _coverage where series_id = 1',
    'insert into vocabulary values (-1)',
    'update _fetch set rows_new = rows_new + 1 where id = 2',
  ])
    expect((await query(damage)).rowCount, damage).toBeGreaterThan(0)
  const { id } = (await query('select pg_current_xact_id()::text as id')).rows[0]
  await rebuild(server.file, SERVICES.generic, () => undefined)
  await expectEqual(file, server, ['_run', 'runs', 'search_item', 'texts'])
  const written = await query(`select 1 from observation where xmin::text::bigint >= ${id}`)
  expect(written.rowCount).toBe(lost)
  // Rows that workers loaded meanwhile are kept.
  const before = openReader(copy)
  onTestFinished(() => before.close())
  await before.engine.beginSnapshot()
  await withClient(copy, (client) =>
    client.query(
      `insert into _fetch select (jsonb_populate_record(f, '{"id": 1000000}')).* from _fetch f where id = 1`,
    ),
  )
  const later = await openStore(copy)
  onTestFinished(() => later.close())
  await expect(later.replaceTables(before, ['_absent'])).rejects.toThrow(/Data was loaded/)
  await withClient(copy, (client) => client.query('delete from _fetch where id = 1000000'))

  // Daily totals equal the values, and are rebuilt unchanged.
  const days = () => rowsOf(server, '_day', Object.keys(tableOf('_day').columns), true)
  const storedDays = await days()
  expect(await findDifferingDays(server)).toEqual([])
  await server.write((tx) => rebuildDays(tx, 'Europe/Madrid'))
  expect(await days()).toEqual(storedDays)

  // Rebuilds from the stored replies of either are equal.
  const empty = async (): Promise<Store> => {
    const store = await openStore(join(tempFolder(), 'rebuilt.db'), { durability: 'none' })
    onTestFinished(() => store.close())
    return store
  }
  const rebuilt = [await empty(), await empty()] as const
  for (const [i, source] of [file, copied].entries()) await replay(source, rebuilt[i]!, { nowMs: () => NOW })
  await expectEqual(rebuilt[0], rebuilt[1])
})
