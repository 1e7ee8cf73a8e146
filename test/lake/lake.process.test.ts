import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { beforeEach, describe, expect, test } from 'vitest'
import { takeLockFile } from '../../src/db/open.ts'
import type { LakeTableName } from '../../src/lake/lakeTables.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { addSeries, fillBy } from '../cli/filled.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { type Done, runCommand, tempFolder } from '../support/kit.ts'
import { testLinks } from '../support/systems.ts'
import { openReader } from '../support/testStore.ts'
import { differences, requireManifest, rowsOf } from './same.ts'

let dir: string
const database = (): string => join(dir, 'own.db')
const lake = (): string => join(dir, 'lake')

/** Syncs the lake at a given time. */
async function sync(options: { full?: boolean; graceMs?: number; now?: number } = {}) {
  const reader = openReader(database())
  try {
    return await syncLake(reader, openFolderPlace(lake()), {
      program: 'test',
      ...options,
      nowMs: () => options.now ?? Date.now(),
    })
  } finally {
    await reader.close()
  }
}

const run = (...args: string[]): Promise<Done> => runCommand(dir, args, { INDICATOR_SYNC_DATABASE: 'own.db' })

const readRows = async (table: LakeTableName) => (await rowsOf(lake(), table)).map(({ row }) => row)

const parts = (): string[] => requireManifest(lake()).tables.observation.files.map(({ part }) => part)
const paths = (): string[] => requireManifest(lake()).tables.observation.files.map(({ path }) => path)

/** Executes SQL on the database. */
function alter(sql: string): void {
  const db = new SQLite(database())
  db.exec(sql)
  db.close()
}

/** Records a second fetch of the first series that wrote rows. */
const fetched = (what: string): void =>
  alter(`create temp table f as select * from _fetch;
    update f set id = 2, series_id = 1, rows_revised = 1, ${what};
    insert into _fetch select * from f`)

/** Creates a folder with a file in place of the lake. */
function put(name: string, text: string): void {
  mkdirSync(lake())
  writeFileSync(join(lake(), name), text)
}

const HOURS = ['2023-12-31T23:00:00Z', '2024-02-01T00:00:00Z', '2024-02-29T23:00:00Z', '2025-05-01T00:00:00Z'] as const

beforeEach(async () => {
  dir = realpathSync(tempFolder())
  await fillBy(database(), (store) => {
    addSeries(
      store,
      1,
      {},
      3,
      HOURS.map((at, i) => [at, i + 0.25]),
    )
    addSeries(store, 2, { indicator: 601 }, 8741, [
      ['2025-05-01T01:00:00Z', null],
      ['2025-05-01T02:00:00Z', -0.5],
    ])
  })
})

describe('a lake', () => {
  test('a lake contains all values, days, revisions and names, sorted, with statistics for pruning', async () => {
    rmSync(database())
    const store = await copyDemo(database())
    await store.close()
    const done = await sync()
    const reader = openReader(database())
    expect((await differences(lake(), reader)).found).toEqual([])
    expect(done.rows.observation).toBe(reader.get('select count(*) from observation'))
    expect(done.rows.observation_revision).toBe(reader.get('select count(*) from observation_revision'))
    await reader.close()
    // Each file and row group has statistics.
    const { folder, tables } = requireManifest(lake())
    for (const { path, rows, min, max } of tables.observation.files) {
      const { row_groups, num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(join(lake(), folder, path)))
      expect(Number(num_rows)).toBe(rows)
      for (const { columns } of row_groups)
        for (const { meta_data } of columns.slice(0, 3)) expect(meta_data!.statistics?.min_value).toBeDefined()
      expect(path).toContain(`/year=${String(min.at_utc).slice(0, 4)}/`)
      expect(String(max.at_utc).slice(0, 7)).toBe(String(min.at_utc).slice(0, 7))
    }
  })

  test('quarter-hour values with two decimals take at most six bytes each', async () => {
    alter(`with recursive n(i) as (select 0 union all select i + 1 from n where i < 60000)
      insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
      select 1, 3, 1577836800 + i * 900, round(60 + 40 * sin(i / 15.0) + ((i * 7919) % 1000) / 100.0, 2), 900, 1 from n`)
    const { rows } = await sync()
    expect(rows.observation).toBe(60_007)
    expect(requireManifest(lake()).tables.observation.bytes / rows.observation).toBeLessThan(6)
  })

  testLinks('a sync reads only months with new fetches and creates no snapshot without changes', async () => {
    expect(await sync()).toMatchObject({ snapshot: 1, changed: true, rows: { observation: 6 } })
    expect(parts()).toEqual(['2023-12', '2024-02', '2025-05'])
    const first = paths()
    const again = await sync()
    expect(again).toMatchObject({ snapshot: 1, changed: false, written: { files: 0, rows: 0 } })
    // A fetch of a window across two months that wrote to one of them.
    fetched('from_at = 1706745600, to_at = 1711929600')
    alter(`update observation set value = 99, fetch_id = 2 where at = 1706745600 and series_id = 1`)
    const next = await sync()
    expect(next).toMatchObject({ snapshot: 2, changed: true })
    const second = paths()
    expect([second[0] === first[0], second[1] === first[1], second[2] === first[2]]).toEqual([true, false, true])
    expect((await readRows('observation')).map(({ value }) => value)).toEqual([0.25, 99, 2.25, 3.25, null, -0.5])
    expect(await readRows('observation_revision')).toMatchObject([{ value: 1.25, series_id: 1n }])
    // A hard link to the same file, and the old snapshot for its readers.
    const inode = (snapshot: number): number => statSync(join(lake(), `snapshot-${snapshot}`, first[0]!)).ino
    expect(inode(1)).toBe(inode(2))
    expect(readlinkSync(join(lake(), 'current'))).toBe('snapshot-2')
  })

  test('a sync notices rows written without a fetch and a restored database', async () => {
    await sync()
    alter(`insert into _day (series_id, geo_id, month, day, count, missing) values (1, 3, 24289, 1, 1, 0);
      delete from observation where at = 1709247600`)
    expect(await sync()).toMatchObject({ snapshot: 2, rows: { observation: 5 } })
    alter(`update _fetch set finished_at = '2025-06-02T00:00:00.000Z'; delete from observation where at = 1746057600`)
    expect(await sync()).toMatchObject({ snapshot: 3, rows: { observation: 4 } })
  })

  testLinks('a sync keeps a replaced snapshot for a grace period and deletes no foreign files', async () => {
    const start = Date.parse('2025-06-01T00:00:00Z')
    await sync({ now: start })
    writeFileSync(join(lake(), 'snapshot-1/series/mine'), 'mine')
    alter(`update geo set level = 'country'`)
    await sync({ now: start + 1000, graceMs: 5000 })
    expect(readdirSync(lake()).sort()).toEqual(['current', 'lake.lock', 'manifest.json', 'snapshot-1', 'snapshot-2'])
    await sync({ now: start + 7000, graceMs: 5000 })
    expect(readdirSync(join(lake(), 'snapshot-1'), { recursive: true })).toEqual(['series', 'series/mine'])
  })

  test('a sync deletes the leftovers of a killed sync', async () => {
    await sync({ graceMs: 0 })
    for (const name of ['snapshot-2', 'snapshot-7']) mkdirSync(join(lake(), name))
    alter(`update geo set level = 'country'`)
    expect(await sync({ graceMs: 0 })).toMatchObject({ snapshot: 2 })
    expect(readdirSync(lake()).sort()).toEqual(['current', 'lake.lock', 'manifest.json', 'snapshot-2'])
  })

  test('a fetch of one instant rewrites only its month', async () => {
    await sync()
    const [first, second, third] = paths()
    fetched(`params = '{"datetime":1709247600}'`)
    alter(`update observation set value = 99, fetch_id = 2 where series_id = 1`)
    await sync()
    // Only the month in the fetch is read, because a value changes with its fetch.
    expect(paths().map((path, i) => path === [first, second, third][i])).toEqual([true, false, true])
  })

  testLinks('check finds a missing file and a wrong symlink, and the next sync repairs them', async () => {
    await sync()
    expect((await run('lake', 'check', 'lake')).out).toMatch(/snapshot 1 is complete, 6 values/)
    const [first, second] = paths()
    rmSync(join(lake(), 'snapshot-1', first!))
    const bytes = readFileSync(join(lake(), 'snapshot-1', second!))
    bytes[20]! ^= 1
    writeFileSync(join(lake(), 'snapshot-1', second!), bytes)
    writeFileSync(join(lake(), 'snapshot-1/observation/x.parquet'), '')
    rmSync(join(lake(), 'current'))
    symlinkSync('elsewhere', join(lake(), 'current'))
    const { code, out } = await run('lake', 'check', 'lake', '--json')
    expect(code).toBe(6)
    expect(JSON.parse(out).findings.map(({ what }: { what: string }) => what.split(' ').slice(0, 3).join(' '))).toEqual(
      ['It is missing.', 'Its content has', 'It is not', 'It points to'],
    )
    expect(await sync({ full: true })).toMatchObject({ snapshot: 2, rows: { observation: 6 } })
    expect((await run('lake', 'check', 'lake')).code).toBe(0)
  })
})

describe('the target of a lake', () => {
  testLinks.each<[string, () => void, RegExp]>([
    ['a folder with foreign files', () => put('notes', 'x'), /do not belong to a lake/],
    ['a foreign manifest', () => put('manifest.json', '{"name":"app"}'), /do not belong to a lake/],
    ['a regular file', () => writeFileSync(lake(), 'x'), /is not a folder/],
    ['the folder of the database', () => symlinkSync('.', lake()), /do not belong to a lake/],
  ])('%s is refused', async (_, make, message) => {
    make()
    const before = readdirSync(dir, { recursive: true })
    const { code, err } = await run('lake', 'sync', 'lake')
    expect(err).toMatch(message)
    expect(code).toBe(2)
    expect(readdirSync(dir, { recursive: true }).filter((name) => !/own\.db-/.test(String(name)))).toEqual(
      before.filter((name) => !/own\.db-/.test(String(name))),
    )
  })

  test('a lake of another database, a newer version or another writer is refused', async () => {
    await sync()
    alter(`update _run set started_at = '2020-01-01T00:00:00.000Z'`)
    expect(await run('lake', 'sync', 'lake')).toMatchObject({
      code: 2,
      err: expect.stringContaining('another database'),
    })
    alter(`update _run set started_at = '2025-06-01T00:00:00.000Z'`)
    const release = takeLockFile(join(lake(), 'lake.lock'))
    expect(await run('lake', 'sync', 'lake')).toMatchObject({
      code: 5,
      err: expect.stringContaining('Another process'),
    })
    release()
    expect((await run('lake', 'sync', 'lake')).code).toBe(0)
    const manifest = JSON.parse(readFileSync(join(lake(), 'manifest.json'), 'utf8'))
    writeFileSync(join(lake(), 'manifest.json'), JSON.stringify({ ...manifest, schema: 99 }))
    for (const action of ['sync', 'check'])
      expect(await run('lake', action, 'lake')).toMatchObject({ code: 2, err: expect.stringContaining('version 99') })
    rmSync(lake(), { recursive: true })
    expect(await run('lake', 'check', 'lake')).toMatchObject({ code: 2, err: expect.stringContaining('not a lake') })
  })
})
