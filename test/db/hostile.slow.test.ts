import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import SQLite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStore as openProgramStore } from '../../src/db/open.ts'
import { measureLog } from '../../src/db/sqlite/file/wal.ts'
import type { SqliteStore } from '../../src/db/sqlite/open.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { publish } from '../../src/reports/publishCopy.ts'
import { BusyError, SignalError } from '../../src/util/errors.ts'
import { PROGRAM_ENV, programBin } from '../support/builtProgram.ts'
import { emulate, ms, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { testLinux } from '../support/systems.ts'
import { openReader, openStore, type Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const JOB = 'series: [{ indicators: [600, 1739], window: { from: 2025-01-01, to: 2025-10-01 }, chunk: 1mo }]'
const COMMAND_ENV = { PATH: process.env.PATH ?? '', ...PROGRAM_ENV }
const values = (store: Pick<Store, 'all'>) =>
  store.all('select series_id, geo_id, at, value, step_s from observation order by 1, 2, 3')

let filled: string
beforeAll(async () => {
  const emulator = await startEmulator({ now: NOW / 1000 })
  filled = join(mkdtempSync(join(tmpdir(), 'indicator-sync-')), 'filled.db')
  const store = await openStore(filled)
  await runJob(store, emulator, JOB, { now: NOW })
  await store.close()
  await emulator.close()
})
afterAll(() => rmSync(dirname(filled), { recursive: true }))

/** Creates a closed copy of the filled database. */
function filledFile(): string {
  const file = join(tempFolder(), 'filled.db')
  copyFileSync(filled, file)
  return file
}

const cli = (args: readonly string[], options: object = {}) => {
  const done = spawnSync(process.execPath, [programBin(), ...args], { encoding: 'utf8', env: COMMAND_ENV, ...options })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

describe('a full disk', () => {
  test('a full disk ends the run, committed rows are intact, and the next run continues', async () => {
    const emulator = await emulate({ now: NOW / 1000 })
    const undisturbed = await tempStore()
    await runJob(undisturbed, emulator, JOB, { now: NOW })
    const store = await tempStore()
    store.get(`pragma max_page_count = ${(store.get('pragma page_count') as number) + 120}`)
    await expect(runJob(store, emulator, JOB, { now: NOW })).rejects.toMatchObject({
      name: 'StoreError',
      code: 'sqlite_full',
      message: expect.stringMatching(/disk .* is full/),
    })
    expect(store.get('pragma integrity_check')).toBe('ok')
    const stored = store.get('select count(*) from observation') as number
    expect(stored).toBeGreaterThan(500)
    expect(store.get('select count(*) from _fetch f where rows_new > 0')).toBeGreaterThan(0)
    expect(store.get('select sum(rows_new) from _fetch f where series_id is not null')).toBeGreaterThanOrEqual(stored)
    store.get('pragma max_page_count = 1000000')
    const before = emulator.requests.length
    await runJob(store, emulator, JOB, { now: NOW })
    expect(values(store)).toEqual(values(undisturbed))
    expect(emulator.requests.length - before).toBeLessThan(18)
  })

  test('a full disk of 3 MB causes exit code 7, and the sync continues once there is space', async (context) => {
    const folder = tempFolder()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder], { stdio: 'ignore' })
    } catch {
      return context.skip('this machine lets nobody mount a small disk')
    }
    onTestFinished(() => void execFileSync('umount', ['-l', folder]))
    const emulator = await emulate({ now: NOW / 1000 })
    const job = join(tempFolder(), 'job.yaml')
    writeFileSync(job, `name: full\npace: { perSecond: 50 }\nkeep: all\n${JOB.replace('2025-01-01', '2023-01-01')}\n`)
    const args = ['sync', job, '--database', join(folder, 'x.db'), '--quiet']
    const env = {
      ...COMMAND_ENV,
      INDICATOR_SYNC_BASE_URL: emulator.url,
      INDICATOR_SYNC_API_KEY: emulator.key,
    }
    const run = () =>
      new Promise<{ code: number | null; err: string }>((done) => {
        const child = spawn(process.execPath, [programBin(), ...args], { env })
        let err = ''
        child.stderr.on('data', (data) => {
          err += data
        })
        child.on('close', (code) => done({ code, err }))
      })
    const full = await run()
    expect(full).toMatchObject({
      code: 7,
      err: expect.stringMatching(/disk with the database .* is full.*\n.*Free disk space/),
    })
    const db = new SQLite(join(folder, 'x.db'))
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    db.close()
    execFileSync('mount', ['-o', 'remount,size=60m', folder])
    expect((await run()).code).toBe(0)
  })
})

describe('missing permissions', () => {
  const nobody = 65_534
  test.skipIf(process.getuid?.() !== 0)('every command names missing permissions and changes nothing', async () => {
    const file = filledFile()
    const folder = join(tempFolder(), 'closed')
    mkdirSync(folder)
    const copy = join(folder, 'copy.db')
    copyFileSync(file, copy)
    chmodSync(copy, 0o444)
    chmodSync(folder, 0o555)
    chmodSync(join(folder, '..'), 0o755)
    const before = readFileSync(copy)
    const as = { uid: nobody, gid: nobody, env: { PATH: process.env.PATH, HOME: '/' }, cwd: '/' }
    for (const args of [
      ['migrate', '--database', join(folder, 'new.db')],
      ['prune', '1d', '--database', copy],
      ['status', '--database', copy],
    ]) {
      const { code, err } = cli(args, as)
      expect([code, err], args[0]).toEqual([7, expect.stringMatching(/(is not writable|cannot be opened).*\n.*→/)])
    }
    expect(readFileSync(copy).equals(before)).toBe(true)
  })
})

describe('an unusable database file', () => {
  test('every command refuses a file with a damaged page and explains the error', async () => {
    const file = filledFile()
    const pages = statSync(file).size / 4096
    const handle = openSync(file, 'r+')
    for (let page = Math.floor(pages / 3); page < pages - 5; page++)
      writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096)
    const query = cli([
      'query',
      'select sum(value), count(*), max(length(body)) from observation, _reply',
      '--database',
      file,
    ])
    expect(query).toMatchObject({ code: 7, err: expect.stringMatching(/is damaged.*\n.*recover/) })
    const doctor = cli(['doctor', '--database', file])
    expect(doctor.code).toBe(6)
    expect(doctor.out).toMatch(/FIX {2}(database|integrity)/)
    expect(cli(['publish', join(tempFolder(), 'p.db'), '--database', file]).code).toBe(7)
  })

  test('a path that begins or ends with white space is refused, and no other file is used', () => {
    const folder = tempFolder()
    copyFileSync(filled, join(folder, 'filled.db'))
    for (const name of [' filled.db', 'filled.db ', 'filled.db\n', ' :memory:', ' new.db'])
      for (const command of ['status', 'migrate'])
        expect(cli([command, '--database', name], { cwd: folder }), `${command} '${name}'`).toMatchObject({
          code: 7,
          err: expect.stringMatching(/begins or ends with white space/),
        })
    expect(readdirSync(folder)).toEqual(['filled.db'])
  })

  testLinux('a pipe, a device, a path below a file and a long name are refused', () => {
    const folder = tempFolder()
    execFileSync('mkfifo', [join(folder, 'pipe')])
    writeFileSync(join(folder, 'text'), 'x')
    for (const name of ['pipe', 'text/x.db', 'x'.repeat(300)])
      expect(cli(['migrate', '--database', join(folder, name)]), name).toMatchObject({
        code: 7,
        err: expect.stringMatching(/must be a regular file|Cannot open the database/),
      })
    expect(cli(['migrate', '--database', '/dev/full'])).toMatchObject({ code: 7 })
    if (existsSync('/proc/self'))
      expect(cli(['migrate', '--database', '/proc/none/new/x.db'], { timeout: 60_000 })).toMatchObject({
        code: 7,
        err: expect.stringMatching(/Cannot open the database .*: .*\n {2}→ /),
      })
    mkdirSync(join(folder, 'x.db.lock'))
    expect(cli(['migrate', '--database', join(folder, 'x.db')])).toMatchObject({
      code: 7,
      err: expect.stringMatching(/cannot be locked.*\n.*→/),
    })
    const few = `ulimit -n 22; exec '${process.execPath}' '${programBin()}' status --database '${join(folder, 'text')}'`
    expect(spawnSync('sh', ['-c', few], { encoding: 'utf8' }).status).not.toBe(70)
  })

  test('a database whose first migration was killed is opened and migrated', async () => {
    const file = join(tempFolder(), 'young.db')
    const store = await openStore(file)
    // Objects of the search index disappear with it.
    for (const { name } of store.all(
      "select name from sqlite_schema where type = 'view' or type = 'table' and name not like '_migration%' and name not like 'sqlite_%'",
    ) as { name: string }[])
      if (!name.startsWith('search_'))
        store.run(`drop ${store.get('select type from sqlite_schema where name = ?', [name])} ${name}`, [])
    store.run('drop table search_item', [])
    store.run('delete from _migration', [])
    store.run('pragma user_version = 0', [])
    await store.close()
    const again = await openStore(file)
    expect(again.get('select count(*) from observation')).toBe(0)
    await again.close()
  })
})

describe('another program', () => {
  test('a writer waits for the lock of another program without blocking, then names the problem', async () => {
    const file = filledFile()
    const store = await openStore(file, { busyTimeoutMs: 1500 })
    const other = new SQLite(file)
    other.exec('begin immediate')
    let ticks = 0
    const clock = setInterval(() => ticks++, 10)
    const waiting = expect(store.write(async () => store.run('delete from _budget', []))).rejects.toThrow(BusyError)
    await waiting
    clearInterval(clock)
    // At least one tick per attempt; the busy handler of SQLite would allow none.
    expect(ticks).toBeGreaterThan(2)
    other.exec('rollback')
    other.close()
    await store.write(async () => store.run('delete from _budget', []))
    await store.close()
  })

  test('a writer stops waiting for the lock of another program after a signal', async () => {
    const file = filledFile()
    const stopping = new AbortController()
    const store = await openStore(file, { signal: stopping.signal })
    const other = new SQLite(file)
    other.exec('begin immediate')
    const written = store.write(async () => store.run('delete from _budget', []))
    stopping.abort()
    await expect(written).rejects.toThrow(SignalError)
    other.exec('rollback')
    other.close()
    // The current write still completes once the lock is free.
    await store.write(async () => store.run('delete from _budget', []))
    await store.close()
  })

  test('a constant reader does not let the WAL grow without limit', async () => {
    const file = join(tempFolder(), 'busy.db')
    const limit = 1024 * 1024
    const store = await openStore(file, { logLimit: limit })
    // Two processes, of which one always has a read transaction that began before the other's end.
    const reading = `
      const db = new (require('better-sqlite3'))(process.argv[1], { readonly: true, timeout: 60000 })
      const nap = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      nap(Number(process.argv[2]))
      for (let i = 0; ; i++) { db.exec('begin'); db.prepare('select count(*) from _run').get(); if (i === 0) console.log('reads'); nap(40); db.exec('commit') }`
    const readers = ['0', '20'].map((wait) =>
      spawn(process.execPath, ['-e', reading, file, wait], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    onTestFinished(() => readers.forEach((reader) => void reader.kill('SIGKILL')))
    await Promise.all(readers.map((reader) => once(reader.stdout, 'data')))
    let largest = 0
    for (let i = 0; i < 600; i++) {
      await store.write(async () => {
        for (let k = 0; k < 40; k++)
          store.run('insert into _budget (host, called_at) values (?, ?)', ['x'.repeat(400), i * 40 + k])
      })
      largest = Math.max(largest, measureLog(file))
    }
    await Promise.all(readers.map((reader) => new Promise((done) => reader.once('close', done).kill('SIGKILL'))))
    expect(store.get('select count(*) from _budget')).toBe(24_000)
    // Without the limit the WAL reaches 48 MB, the size of all writes.
    expect(largest).toBeLessThan(24 * limit)
    store.tidy()
    expect(measureLog(file)).toBe(0)
    await store.close()
  })
})

test.each([
  ['normal', 1],
  ['full', 2],
] as const)('--durability %s sets the synchronous pragma, and WAL mode is on', async (durability, synchronous) => {
  // The databases of `testStore.ts` never wait for the disk.
  const store = (await openProgramStore(join(tempFolder(), 'x.db'), { durability })) as SqliteStore
  expect(store.connection.raw.pragma('synchronous', { simple: true })).toBe(synchronous)
  expect(store.connection.raw.pragma('journal_mode', { simple: true })).toBe('wal')
  await store.close()
})

describe('a published copy', () => {
  test('a copy of a database in use is consistent, complete and checked, or missing', async () => {
    const file = filledFile()
    const out = join(tempFolder(), 'public.db')
    const writer = await openStore(file)
    const reader = openReader(file)
    let stop = false
    const writing = (async () => {
      for (let i = 0; !stop; i++) {
        // Every copy contains both rows or neither.
        await writer.write(async () => {
          writer.run('insert into _budget (host, called_at) values (?, ?)', ['a', i])
          writer.run('insert into geo (id) values (?)', [100_000 + i])
        })
        await new Promise((done) => setImmediate(done))
      }
    })()
    const manifest = await publish(reader, out, { bookkeeping: true })
    stop = true
    await writing
    await reader.close()
    await writer.close()
    const copy = new SQLite(out, { readonly: true })
    const count = (sql: string) => copy.prepare(sql).pluck().get() as number
    expect(count(`select count(*) from _budget where host = 'a'`)).toBe(
      count('select count(*) from geo where id >= 100000'),
    )
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(copy.pragma('journal_mode', { simple: true })).toBe('delete')
    expect(manifest.rows.observation).toBe(count('select count(*) from observation'))
    copy.close()
    expect(manifest.bytes).toBe(statSync(out).size)
    expect(execFileSync('sha256sum', [out], { encoding: 'utf8' })).toContain(manifest.sha256)
  })

  test('a copy contains no bookkeeping, and every view returns the same rows as in the database', async () => {
    const file = filledFile()
    const out = join(tempFolder(), 'public.db')
    const done = cli(['publish', out, '--database', file, '--json'])
    expect(done.code).toBe(0)
    const manifest = JSON.parse(done.out)
    expect(JSON.parse(readFileSync(`${out}.manifest.json`, 'utf8'))).toEqual(manifest)
    expect(manifest.series.length).toBeGreaterThan(1)
    expect(readdirSync(dirname(out)).sort()).toEqual(['public.db', 'public.db.manifest.json'])
    const ours = openReader(file)
    const copy = openReader(out)
    for (const view of [
      'observations',
      'observation_history',
      'latest',
      'freshness',
      'coverage',
      'observations_daily',
      'observations_monthly',
    ])
      expect(copy.all(`select * from ${view}`), view).toEqual(ours.all(`select * from ${view}`))
    const there = copy.all(
      `select name from sqlite_schema where name like '\\_%' escape '\\' and type = 'table' order by name`,
    )
    expect(there).toEqual(
      // The views read these.
      ['_day', '_fetch', '_run', '_span'].map((name) => ({ name })),
    )
    // Queries of the other tables return no rows instead of an error.
    for (const table of [
      '_reply',
      '_quarantine',
      '_budget',
      '_lock',
      '_source',
      '_coverage',
      '_absent',
      '_duty',
      '_job',
    ])
      expect(copy.get(`select count(*) from ${table}`), table).toBe(0)
    expect(
      copy.get('select count(*) from _fetch where coalesce(message, hint, evidence, reply_hash) is not null'),
    ).toBe(0)
    expect(copy.get('select count(*) from _run where message is not null')).toBe(0)
    expect(copy.get("select count(*) from _fetch where target <> '' or params <> '{}'")).toBe(0)
    await ours.close()
    await copy.close()
    expect(cli(['publish', file, '--database', file])).toMatchObject({ code: 2 })
    expect(cli(['publish', join(file, 'x.db'), '--database', file])).toMatchObject({ code: 2 })
  })
})
