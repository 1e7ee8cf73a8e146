import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { beforeEach, describe, expect, test } from 'vitest'
import { checkLake } from '../../src/lake/checkLake.ts'
import { LAKE_TABLE_NAMES, type LakeTableName } from '../../src/lake/lakeTables.ts'
import type { LakeManifest } from '../../src/lake/manifest.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { addSeries, fillBy } from '../cli/filled.ts'
import { tempFolder } from '../support/kit.ts'
import { testLinks } from '../support/systems.ts'
import { openReader } from '../support/testStore.ts'
import { requireManifest, rowsOf } from './same.ts'

let dir: string
const lake = (): string => join(dir, 'lake')

async function sync(graceMs = 0) {
  const reader = openReader(join(dir, 'own.db'))
  try {
    return await syncLake(reader, openFolderPlace(lake()), { program: 'test', graceMs, nowMs: Date.now })
  } finally {
    await reader.close()
  }
}

/** Runs work directly on the database file. */
function own<T>(work: (db: SQLite.Database) => T): T {
  const db = new SQLite(join(dir, 'own.db'))
  try {
    return work(db)
  } finally {
    db.close()
  }
}
const alter = (sql: string): unknown => own((db) => db.exec(sql))
const another = (i: number): unknown => alter(`update geo set level = 'level ${i}'`)

/** Edits a manifest by hand. */
function edit(file: string, change: (manifest: LakeManifest) => unknown): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...manifest, ...(change(manifest) as object) }))
}

const readRows = async (table: LakeTableName) => (await rowsOf(lake(), table)).map(({ row }) => row)

beforeEach(async () => {
  dir = realpathSync(tempFolder())
  await fillBy(join(dir, 'own.db'), (store) => addSeries(store, 1, {}, 3, [['2025-05-01T00:00:00Z', 1.5]]))
})

describe('foreign changes in a lake folder', () => {
  test('a manifest that names files outside the lake is refused, and nothing is deleted outside', async () => {
    await sync()
    writeFileSync(join(dir, 'precious'), 'x')
    const [file] = requireManifest(lake()).tables.geo.files
    const outside = (manifest: LakeManifest) => ({
      tables: { ...manifest.tables, geo: { ...manifest.tables.geo, files: [{ ...file, path: '../../precious' }] } },
    })
    edit(join(lake(), 'snapshot-1/manifest.json'), outside)
    another(1)
    await sync()
    another(2)
    await sync()
    expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('x')
    edit(join(lake(), 'manifest.json'), outside)
    await expect(sync()).rejects.toThrow(/do not belong to a lake/)
    expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('x')
  })

  test.each([
    ['no tables', () => ({ tables: {} })],
    ['another folder', () => ({ folder: '../elsewhere' })],
    ['an invalid table', (m: LakeManifest) => ({ tables: { ...m.tables, geo: null } })],
    ['an invalid time', () => ({ created_at: 'never' })],
    ['no source', () => ({ source: 7 })],
  ])('a manifest with %s is refused in one sentence', async (_, change) => {
    await sync()
    edit(join(lake(), 'manifest.json'), change)
    const before = readdirSync(lake(), { recursive: true })
    await expect(sync()).rejects.toThrow(/do not belong to a lake/)
    await expect(checkLake(openFolderPlace(lake()))).rejects.toThrow(/is not a lake/)
    expect(readdirSync(lake(), { recursive: true })).toEqual(before)
  })

  test('check reports a manifest with wrong row counts or paths outside the lake', async () => {
    await sync()
    const file = join(lake(), 'manifest.json')
    const written = readFileSync(file, 'utf8')
    const manifest = JSON.parse(written)
    const [first] = manifest.tables.observation.files
    const { rows } = first
    first.rows += 5
    writeFileSync(file, JSON.stringify(manifest))
    const what = async () => (await checkLake(openFolderPlace(lake()))).findings.map((finding) => finding.what)
    expect(await what()).toEqual([
      `It has ${rows} row${rows === 1 ? '' : 's'} instead of ${rows + 5}.`,
      expect.stringMatching(/^It counts \d+ rows? in observation, but \d+ in its files\.$/),
    ])
    manifest.tables.observation.rows += 5
    writeFileSync(file, JSON.stringify(manifest))
    expect(await what()).toHaveLength(1)
    first.path = '../../x.parquet'
    writeFileSync(file, JSON.stringify(manifest))
    await expect(what()).rejects.toThrow(/manifest.json is missing or damaged/)
    writeFileSync(file, written)
    expect(await what()).toEqual([])
  })

  testLinks('a symlink in place of a snapshot folder is not followed when files are deleted', async () => {
    await sync()
    const [file] = requireManifest(lake()).tables.geo.files
    mkdirSync(join(dir, 'elsewhere'))
    renameSync(join(lake(), 'snapshot-1', file!.path), join(dir, 'elsewhere', file!.path.split('/')[1]!))
    rmSync(join(lake(), 'snapshot-1/geo'), { recursive: true })
    symlinkSync(join(dir, 'elsewhere'), join(lake(), 'snapshot-1/geo'))
    const { findings } = await checkLake(openFolderPlace(lake()))
    expect(findings.map(({ file }) => file)).toEqual(['snapshot-1/geo'])
    another(1)
    await sync()
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual([file!.path.split('/')[1]])
  })

  testLinks('a symlink in place of the lock file is refused', async () => {
    await sync()
    rmSync(join(lake(), 'lake.lock'))
    writeFileSync(join(dir, 'precious'), 'x')
    symlinkSync(join(dir, 'precious'), join(lake(), 'lake.lock'))
    await expect(sync()).rejects.toThrow(/lake\.lock/)
    expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('x')
  })
})

describe('unusual databases', () => {
  test('unusual values, names and times are equal in lake and database', async () => {
    const values = [null, -0, 0, 5e-324, 1e300, -1.7976931348623157e308, 2 ** 53 + 2, Number.POSITIVE_INFINITY]
    const from = Date.parse('2023-10-29T00:00:00Z') / 1000
    own((db) => {
      db.exec(`insert into geo (id) values (9007199254740991)`)
      const name = db.prepare(`insert into geo_text (id, locale, name) values (?, 'es', ?)`)
      name.run(9007199254740991, 'Ñandú 𝔊 "quoted" \u0000 \ud83d\ude00\n')
      db.exec('insert into series_geo (series_id, geo_id) values (1, 9007199254740991)')
      const put = db.prepare('insert into observation values (1, 9007199254740991, ?, ?, ?, 1)')
      for (const [i, value] of values.entries()) put.run(from + i * 3600, value, 3600)
      // Years apart, with no values between.
      put.run(Date.parse('1970-01-01T00:00:00Z') / 1000, 1, 900)
      put.run(-86_400 * 365, 2, 2 ** 31 - 1)
      put.run(Date.parse('2262-01-01T00:00:00Z') / 1000, 3, 3600)
    })
    await sync()
    const expected = own((db) =>
      db
        .prepare('select series_id, geo_id, at, value, step_s from observation order by at')
        .safeIntegers(false)
        .raw()
        .all(),
    )
    const rows = (await readRows('observation')).map(({ series_id, geo_id, at_utc, value, step_s }) => [
      ...[Number(series_id), Number(geo_id), (at_utc as Date).getTime() / 1000, value, step_s],
    ])
    expect(rows).toEqual(expected)
    // The statistics of a row group match its contents.
    const { folder, tables } = requireManifest(lake())
    const { path } = tables.observation.files.find(({ part }) => part === '2023-10')!
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(join(lake(), folder, path)))
    const statistics = row_groups[0]!.columns.map(({ meta_data }) => meta_data!.statistics)
    expect(statistics.slice(0, 4)).toMatchObject([
      { min_value: 1n, max_value: 1n, null_count: 0n },
      { min_value: 9007199254740991n, max_value: 9007199254740991n },
      { min_value: new Date(from * 1000), max_value: new Date((from + 7 * 3600) * 1000) },
      { min_value: -1.7976931348623157e308, max_value: Number.POSITIVE_INFINITY, null_count: 1n },
    ])
    const [geo] = own((db) => db.prepare(`select name from geo_text`).raw().all()) as [string][]
    expect((await readRows('geo')).map(({ name }) => name)).toContain(geo![0])
    expect(requireManifest(lake()).tables.observation.files.map(({ part }) => part)).toEqual([
      ...['1969-01', '1970-01', '2023-10', '2025-05', '2262-01'],
    ])
    expect((await checkLake(openFolderPlace(lake()))).findings).toEqual([])
    expect(await sync()).toMatchObject({ changed: false })
  })

  test('a lake of an earlier version is rewritten and remains readable until then', async () => {
    await sync()
    edit(join(lake(), 'manifest.json'), () => ({ schema: 0 }))
    expect(await sync(3_600_000)).toMatchObject({ snapshot: 2, changed: true, written: { files: 8 } })
    expect(existsSync(join(lake(), 'snapshot-1/manifest.json'))).toBe(true)
    expect((await checkLake(openFolderPlace(lake()))).findings).toEqual([])
  })

  test('a database without values gives an empty lake, also after its values were deleted', async () => {
    alter('delete from observation; delete from series_geo')
    const done = await sync()
    expect(done.rows).toMatchObject({ observation: 0, observation_revision: 0, day: 0, series: 1 })
    expect(Object.keys(requireManifest(lake()).tables)).toEqual(LAKE_TABLE_NAMES)
    expect(await sync()).toMatchObject({ changed: false })
    alter(
      'insert into series_geo (series_id, geo_id) values (1, 3); insert into observation values (1, 3, 0, 1, 3600, 1)',
    )
    alter('insert into _day (series_id, geo_id, month, day, count, missing) values (1, 3, 23640, 1, 1, 0)')
    expect(await sync()).toMatchObject({ rows: { observation: 1 } })
    alter('delete from observation; delete from _day')
    expect(await sync()).toMatchObject({ rows: { observation: 0 } })
    expect((await checkLake(openFolderPlace(lake()))).findings).toEqual([])
  })

  test('a restored backup that reuses fetch ids is written completely', async () => {
    alter('update _fetch set series_id = 1, rows_new = 1, from_at = 1746057600, to_at = 1746061200')
    await sync()
    const before = own((db) => db.serialize())
    alter(`create temp table f as select * from _fetch; update f set id = 2, rows_new = 0, rows_revised = 1; insert into _fetch select * from f;
      update observation set value = 7, fetch_id = 2`)
    await sync()
    expect((await readRows('observation')).map(({ value }) => value)).toEqual([7])
    // The second fetch of the other history has the id and time of the one that the lake knows.
    writeFileSync(join(dir, 'own.db'), before)
    alter(
      `create temp table f as select * from _fetch; update f set id = 2, rows_new = 0; insert into _fetch select * from f`,
    )
    await sync()
    expect((await readRows('observation')).map(({ value }) => value)).toEqual([1.5])
  })

  test('a replay that stores different values with equal daily totals is noticed', async () => {
    alter(
      `insert into observation values (1, 3, 1746061200, 2.5, 3600, 1); update _fetch set series_id = 1, rows_new = 2`,
    )
    await sync()
    alter(`update observation set value = 4 - value; update _fetch set rows_new = 3`)
    await sync()
    expect((await readRows('observation')).map(({ value }) => value)).toEqual([2.5, 1.5])
    expect((await readRows('observation_revision')).length).toBe(
      own((db) => db.prepare('select count(*) from observation_revision').pluck().get()),
    )
  })
})
