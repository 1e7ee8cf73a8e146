import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { checkLake } from '../../src/lake/checkLake.ts'
import { listFiles } from '../../src/lake/manifest.ts'
import { openPlace } from '../../src/lake/places/bucket.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import type { LakePlace } from '../../src/lake/places/place.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { BusyError, InputError, TransientError } from '../../src/util/errors.ts'
import { addSeries, fillBy } from '../cli/filled.ts'
import { runCommand, tempFolder } from '../support/kit.ts'
import { IN_FULL } from '../support/randomCases.ts'
import { openReader } from '../support/testStore.ts'
import { storage } from './storage.ts'

const LAKE = 's3://market/a/lake'
const DAY = 86_400_000

let dir: string

/** Syncs a lake from the database at a given time. */
async function sync(place: LakePlace, options: { full?: boolean; graceMs?: number; now?: number } = {}) {
  const reader = openReader(join(dir, 'own.db'))
  try {
    return await syncLake(reader, place, { program: 'test', ...options, nowMs: () => options.now ?? Date.now() })
  } finally {
    await reader.close()
  }
}

/** Executes SQL without a fetch, which is noticed by the daily totals. */
function alter(sql: string): void {
  const db = new SQLite(join(dir, 'own.db'))
  db.exec(sql)
  db.close()
}

const another = (i: number): void => alter(`update geo set level = 'level ${i}'`)

beforeEach(async () => {
  dir = tempFolder()
  await fillBy(join(dir, 'own.db'), (store) => {
    for (const month of ['01', '02'])
      addSeries(store, Number(month), { indicator: 600 + Number(month) }, 3, [[`2025-${month}-10T00:00:00Z`, 0.5]])
  })
})

test('a lake in a bucket has the same files as in a folder, and check finds damage', async () => {
  const { env, fileOf } = await storage()
  const run = (...args: string[]) => runCommand(dir, [...args, '--database', 'own.db'], env)
  const first = await run('lake', 'sync', LAKE)
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(
    /^s3:\/\/market\/a\/lake: snapshot 1, 2 values, [\d,]+ bytes in 9 files; 9 files .* are new\.\n$/,
  )
  await sync(openFolderPlace(join(dir, 'lake')))
  const manifest = JSON.parse(readFileSync(fileOf('a/lake/manifest.json'), 'utf8'))
  const inFolder = JSON.parse(readFileSync(join(dir, 'lake/manifest.json'), 'utf8'))
  expect(listFiles(manifest).map(({ path, sha256 }) => [path.replace('.s1.', '.'), sha256])).toEqual(
    listFiles(inFolder).map(({ path, sha256 }) => [path, sha256]),
  )
  for (const { path, bytes } of listFiles(manifest))
    expect(readFileSync(fileOf(`a/lake/files/${path}`))).toHaveLength(bytes)
  alter('update observation set value = 7 where series_id = 2')
  alter(`insert into _day (series_id, geo_id, month, day, count, missing) values (2, 3, 24301, 1, 1, 0)`)
  expect((await run('lake', 'sync', LAKE)).out).toMatch(/snapshot 2, .* 3 files with 3 rows are new/)
  expect((await run('lake', 'sync', LAKE)).out).toMatch(/nothing changed since snapshot 2/)
  expect((await run('lake', 'check', LAKE)).out).toMatch(/snapshot 2 is complete, 2 values/)
  writeFileSync(join(dir, 'lake.yaml'), `name: lake\ncatalogue: true\nlake: ${LAKE}\n`)
  expect((await run('status', '--job', 'lake.yaml')).out).toMatch(/Lake\s+s3:\/\/market\/a\/lake: snapshot 2/)
  const [january, february] = listFiles(JSON.parse(readFileSync(fileOf('a/lake/manifest.json'), 'utf8')))
  rmSync(fileOf(`a/lake/files/${january!.path}`))
  appendFileSync(fileOf(`a/lake/files/${february!.path}`), 'x')
  const checked = await run('lake', 'check', LAKE)
  expect(checked.code).toBe(6)
  expect(checked.out).toMatch(/It is missing[\s\S]*It has [\d,]+ bytes instead/)
  expect((await run('lake', 'sync', LAKE, '--full')).code).toBe(0)
  expect((await run('lake', 'check', LAKE)).code).toBe(0)
})

test('a lake is intact after an abort at any request, and the next sync completes it', async () => {
  const own = await storage()
  const place = await openPlace(LAKE, own.access)
  const limits: number[] = []
  for (let rest = 1, i = 0; ; rest += IN_FULL ? 1 : 4, i++) {
    another(i)
    own.requests = 0
    own.limit = rest
    const done = await sync(place, { graceMs: 0 }).catch((error: unknown) => error)
    own.limit = Number.POSITIVE_INFINITY
    if (await place.manifest()) expect((await checkLake(place)).findings).toEqual([])
    if (!(done instanceof Error)) break
    expect(done).toBeInstanceOf(InputError)
    limits.push(rest)
  }
  // A first sync reads the state and writes nine files and the manifest; later ones continue from it.
  expect(limits.length).toBeGreaterThan(IN_FULL ? 8 : 2)
  const objects = (readdirSync(own.fileOf('a/lake').replace(/\._.*/, ''), { recursive: true }) as string[]).filter(
    (name) => /\.parquet\._S3rver_object$/.test(name),
  )
  // Files of aborted syncs remain for a day, because they could belong to an active sync.
  const listed = listFiles((await place.manifest())!)
  expect(objects.length).toBeGreaterThan(listed.length)
  another(100)
  await sync(place, { graceMs: 0, now: Date.now() + 2 * DAY })
  expect((await checkLake(place)).findings).toEqual([])
  const left = (readdirSync(own.fileOf('a/lake').replace(/\._.*/, ''), { recursive: true }) as string[]).filter(
    (name) => /_S3rver_object$/.test(name),
  )
  expect(left.filter((name) => name.endsWith('.parquet._S3rver_object'))).toHaveLength(listed.length)
  place.close()
})

test('a replaced snapshot is deleted after a grace period, with its unused files', async () => {
  const own = await storage()
  const place = await openPlace(LAKE, own.access)
  const start = Date.parse('2025-06-01T00:00:00Z')
  const there = (path: string): boolean => existsSync(own.fileOf(`a/lake/files/${path}`))
  await sync(place, { now: start })
  const first = listFiles((await place.manifest())!).map(({ path }) => path)
  another(1)
  await sync(place, { now: start + 1000, graceMs: 5000 })
  const geo = first.find((path) => path.startsWith('geo/'))!
  expect(first.every(there)).toBe(true)
  await sync(place, { now: start + 7000, graceMs: 5000 })
  expect(first.filter((path) => !there(path))).toEqual([geo])
  expect(existsSync(own.fileOf('a/lake/replaced/1.json'))).toBe(false)
  expect((await checkLake(place)).findings).toEqual([])
  place.close()
})

test.each([true, false])(
  'concurrent syncs publish a snapshot or exit with 5; the storage supports If-Match: %s',
  async (conditions) => {
    const own = await storage({ conditions })
    const place = await openPlace(LAKE, own.access)
    expect(await sync(place)).toMatchObject({
      snapshot: 1,
      caution: conditions ? null : expect.stringContaining('ignores If-Match'),
    })
    another(1)
    // The first sync reads the state before the second one is done.
    const first = await place.write(Date.now())
    expect(await sync(place)).toMatchObject({ snapshot: 2 })
    await expect(first.confirm(first.before!)).rejects.toThrow(BusyError)
    first.close()
    another(2)
    const run = () => runCommand(dir, ['lake', 'sync', LAKE, '--database', 'own.db'], own.env)
    const codes = (await Promise.all([run(), run(), run()])).map(({ code }) => code)
    expect(codes).toContain(0)
    expect([0, 5]).toEqual(expect.arrayContaining(codes))
    if (conditions) expect((await place.manifest())!.snapshot).toBe(3)
    expect((await checkLake(place)).findings).toEqual([])
    place.close()
  },
)

test.each<[string, string, Record<string, string>, RegExp, number]>([
  ['another bucket', 's3://other/lake', {}, /s3:\/\/other: NoSuchBucket[\s\S]*Create the bucket/, 2],
  ['another key', LAKE, { AWS_ACCESS_KEY_ID: 'wrong' }, /InvalidAccessKeyId[\s\S]*credentials/, 2],
  ['no key', LAKE, { AWS_ACCESS_KEY_ID: '' }, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/, 2],
  ['no storage', LAKE, { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, /ECONNREFUSED[\s\S]*AWS_ENDPOINT_URL/, 1],
  ['no address', 's3://Market', {}, /not the address of a lake/, 2],
  ['a prefix with foreign objects', 's3://market', {}, /do not belong to a lake/, 2],
])('%s is reported in one sentence', async (_, address, env, message, code) => {
  const own = await storage()
  writeFileSync(own.fileOf('notes'), 'x')
  const args = ['lake', 'sync', address, '--database', 'own.db']
  const done = await runCommand(dir, args, { ...own.env, ...env, AWS_EC2_METADATA_DISABLED: 'true' })
  expect(done.err).toMatch(message)
  expect(done.code).toBe(code)
})

test('an interrupted response is requested again, and reported if every attempt fails', async () => {
  const own = await storage()
  const place = await openPlace(LAKE, own.access)
  await sync(place)
  own.cuts = 2
  another(1)
  expect(await sync(place)).toMatchObject({ snapshot: 2 })
  own.cuts = 2
  expect((await checkLake(place)).findings).toEqual([])
  own.cuts = Number.POSITIVE_INFINITY
  await expect(sync(place)).rejects.toThrow(TransientError)
  place.close()
})

describe.each([true, false])(
  'a write that is confirmed but not stored, in a storage with conditions: %s',
  (conditions) => {
    test.each([
      [
        'a file is missing',
        /observation.*parquet$/,
        'drop',
        /observation.*parquet was confirmed by the storage, but it is missing/,
      ],
      [
        'a file is truncated',
        /observation.*parquet$/,
        'cut',
        /observation.*parquet was confirmed by the storage, but it has 10 bytes/,
      ],
      [
        'the manifest is missing',
        /manifest\.json$/,
        'drop',
        /manifest\.json was confirmed .* (is missing|the previous content)/,
      ],
    ] as const)('the sync fails and the previous snapshot remains if %s', async (_what, keys, damage, message) => {
      const own = await storage({ conditions })
      const place = await openPlace(LAKE, own.access)
      const damaging = async () => {
        own.damage = (key) => (keys.test(key) ? damage : undefined)
        await expect(sync(place)).rejects.toMatchObject({
          code: 's3-not-stored',
          message: expect.stringMatching(message),
        })
        own.damage = null
      }
      await damaging()
      expect(await place.manifest()).toBeNull()
      await sync(place)
      alter('update observation set value = 7 where series_id = 2')
      alter(`insert into _day (series_id, geo_id, month, day, count, missing) values (2, 3, 24301, 1, 1, 0)`)
      await damaging()
      expect((await place.manifest())!.snapshot).toBe(1)
      expect((await checkLake(place)).findings).toEqual([])
      expect((await sync(place)).snapshot).toBe(2)
      expect((await checkLake(place)).findings).toEqual([])
    })
  },
)

test('the storage key can be in .env and is never printed', async () => {
  const own = await storage()
  writeFileSync(
    join(dir, '.env'),
    Object.entries(own.env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  expect((await runCommand(dir, ['lake', 'sync', LAKE, '--database', 'own.db'])).code).toBe(0)
})
