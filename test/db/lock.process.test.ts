import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isLocked } from '../../src/db/lock.ts'
import { copyInto } from '../../src/reports/publishCopy.ts'
import { BusyError } from '../../src/util/errors.ts'
import { partFileName } from '../../src/util/files/partFiles.ts'
import { tempFolder } from '../support/kit.ts'
import { testLinks, testShell, testSignals } from '../support/systems.ts'
import { openReader, openStore, openWriter } from '../support/testStore.ts'

const WRITER = resolve('test/db/writer.ts')

/** Starts a process that holds the lock, and reads its output. */
function writer(file: string) {
  const child: ChildProcess = spawn(process.execPath, [WRITER, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  child.stdout!.on('data', (data) => {
    output += data
  })
  return {
    child,
    ended,
    said: () => output,
    /** Waits until the process printed a text or ended. */
    async until(text: string): Promise<string> {
      let over = false
      void ended.then(() => {
        over = true
      })
      while (!output.includes(text) && !over) await Promise.race([once(child.stdout!, 'data'), ended])
      return output
    },
    write: (id: number) => child.stdin!.write(`${id}\n`),
    end: () => child.stdin!.end(),
  }
}

const geos = (file: string): unknown[] => {
  const db = new SQLite(file, { readonly: true })
  try {
    return db.prepare('select id from geo order by id').pluck().all()
  } finally {
    db.close()
  }
}

describe('the write lock', () => {
  test('one of four writers acquires the lock of a missing database, and the others are refused', async () => {
    const file = join(tempFolder(), 'new', 'x.db')
    const four = Array.from({ length: 4 }, () => writer(file))
    await Promise.all(four.map((one) => one.until('\n')))
    const won = four.filter((one) => one.said().startsWith('holds'))
    expect(won).toHaveLength(1)
    for (const one of four) {
      if (one === won[0]) continue
      expect(await one.ended).toBe(5)
      expect(one.said()).toMatch(/writing to/)
    }
    won[0]!.write(1)
    await won[0]!.until('wrote 1')
    won[0]!.end()
    expect(await won[0]!.ended).toBe(0)
    expect(geos(file)).toEqual([1])
  })

  testSignals('a suspended process keeps the lock, and a killed one releases it', async () => {
    const file = join(tempFolder(), 'x.db')
    const first = writer(file)
    expect(await first.until('\n')).toBe('holds 1\n')
    first.child.kill('SIGSTOP')
    // The age of the lock row does not matter.
    const other = new SQLite(file)
    other.exec(`update _lock set acquired_at = '2000-01-01T00:00:00.000Z', pid = 999999999, host = 'another'`)
    other.close()
    await expect(openWriter(file, 'robber')).rejects.toThrow(BusyError)
    expect(isLocked(file)).toBe(true)
    first.child.kill('SIGCONT')
    first.write(7)
    await first.until('wrote 7')
    first.child.kill('SIGKILL')
    expect(await first.ended).toBe('SIGKILL')
    expect(isLocked(file)).toBe(false)
    const next = writer(file)
    expect(await next.until('\n')).toBe('holds 2\n')
    next.end()
    expect(await next.ended).toBe(0)
    expect(geos(file)).toEqual([7])
  })

  testLinks('all symlinks to a file share one lock', async () => {
    const folder = tempFolder()
    symlinkSync(join(folder, 'real.db'), join(folder, 'link.db'))
    const store = await openWriter(join(folder, 'link.db'), 'first')
    await expect(openWriter(join(folder, 'real.db'), 'second')).rejects.toThrow(/first/)
    await store.close()
    expect(readdirSync(folder).sort()).toEqual(['link.db', 'real.db', 'real.db.lock'])
  })

  test('a file with several hard links cannot be locked, but can be read', async () => {
    const folder = tempFolder()
    const one = join(folder, 'a.db')
    const two = join(folder, 'b', 'y.db')
    const first = await openWriter(one, 'first')
    await first.write(async () => first.run('insert into geo (id) values (1)', []))
    mkdirSync(join(folder, 'b'))
    linkSync(one, two)
    await expect(openWriter(two, 'second')).rejects.toThrow(/has 2 names \(hard links\)/)
    // The holder continues, because nobody else can write.
    await first.write(async () => first.run('insert into geo (id) values (2)', []))
    await first.close()
    const child = writer(one)
    expect(await child.ended).toBe(7)
    expect(child.said()).toMatch(/hard links/)
    await openReader(two).close()
    rmSync(two)
    await (await openWriter(one, 'third')).close()
    expect(geos(one)).toEqual([1, 2])
    // A hard link left by a killed command is removed.
    linkSync(one, partFileName(one))
    await (await openWriter(one, 'fourth')).close()
    expect(statSync(one).nlink).toBe(1)
  })

  test('the new name of a file renamed during writing cannot be locked', async () => {
    const folder = tempFolder()
    const one = join(folder, 'a.db')
    const two = join(folder, 'b.db')
    const first = writer(one)
    await first.until('holds')
    first.write(1)
    await first.until('wrote 1')
    renameSync(one, two)
    await expect(openWriter(two, 'second')).rejects.toThrow(/open under another name/)
    first.write(2)
    expect(await first.ended).toBe(7)
    await (await openWriter(two, 'third')).close()
    expect(geos(two)).toEqual([1])
  })

  testShell('a file that is mounted on its own cannot be locked', async () => {
    const folder = tempFolder()
    const one = join(folder, 'a.db')
    const two = join(folder, 'b b.db')
    await (await openStore(one)).close()
    writeFileSync(two, '')
    const script = `mount --bind "$1" "$2" && exec "$0" ${WRITER} "$2" < /dev/null`
    const { status, stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, process.execPath, one, two])
    if (status !== 7 && !String(stdout).includes('holds')) return
    expect(String(stdout)).toMatch(/mounted as a single file/)
  })

  test('a deleted lock file admits another writer, and the first writer stops writing', async () => {
    const file = join(tempFolder(), 'x.db')
    const first = await openWriter(file, 'first')
    rmSync(`${file}.lock`)
    const second = await openWriter(file, 'second')
    await expect(first.write(async () => first.run('insert into geo (id) values (1)', []))).rejects.toThrow(
      /is now writing to/,
    )
    expect(() => first.check()).toThrow(BusyError)
    await second.write(async () => second.run('insert into geo (id) values (2)', []))
    await first.close()
    expect(second.get('select command from _lock')).toBe('second')
    await second.close()
    expect(geos(file)).toEqual([2])
  })

  test('a writer stops after another program shortened the WAL, unless SQLite did so in a checkpoint', async () => {
    const file = join(tempFolder(), 'x.db')
    const store = await openWriter(file, 'first')
    const put = (id: number) => store.write(async () => store.run('insert into geo (id) values (?)', [id]))
    await put(1)
    await put(2)
    const other = new SQLite(file)
    other.pragma('wal_checkpoint(truncate)')
    expect(statSync(`${file}-wal`).size).toBe(0)
    await put(3)
    store.tidy()
    await put(4)
    await put(5)
    other.close()
    truncateSync(`${file}-wal`)
    // The error also occurs without further writes.
    expect(() => store.tidy()).toThrow(/truncated by another program/)
    await expect(put(6)).rejects.toThrow(/truncated by another program/)
    await store.close()
    const db = new SQLite(file)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    db.close()
    expect(geos(file)).toEqual([1, 2, 3])
  })

  test('the lock does not block readers and is released when the database is closed', async () => {
    const file = join(tempFolder(), 'x.db')
    const writer = await openWriter(file, 'first')
    await expect(openWriter(file, 'second')).rejects.toThrow(/\(first\)/)
    const reader = openReader(file)
    expect(reader.get('select command from _lock')).toBe('first')
    await reader.close()
    await writer.close()
    await (await openWriter(file, 'second')).close()
  })
})

describe('another program', () => {
  test('short locks of another program do not fail a writer', async () => {
    const file = join(tempFolder(), 'x.db')
    await (await openStore(file)).close()
    const holding = `
      const db = new (require('better-sqlite3'))(process.argv[1], { timeout: 10000 })
      const nap = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
      for (let i = 0; ; i++) { db.exec('begin immediate'); if (i === 0) console.log('holds'); nap(500); db.exec('commit'); nap(40) }`
    const other = spawn(process.execPath, ['-e', holding, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void other.kill('SIGKILL'))
    await once(other.stdout, 'data')
    const store = await openWriter(file, 'patient')
    for (let id = 1; id <= 3; id++) await store.write(async () => store.run('insert into geo (id) values (?)', [id]))
    store.tidy()
    // On a locked file, a backup reports success without doing anything.
    const fresh = join(tempFolder(), 'fresh.db')
    const source = await openStore(fresh)
    await source.write(async () => source.run('insert into geo (id) values (99)', []))
    await copyInto(source, file)
    await source.close()
    await store.close()
    expect(geos(file)).toEqual([99])
  })
})

describe('the database file of a writer', () => {
  const cases = [
    ['deleted', (file: string) => rmSync(file), false],
    ['renamed', (file: string) => renameSync(file, `${file}.moved`), false],
    [
      'replaced',
      (file: string) => {
        copyFileSync(`${file}.other`, `${file}.new`)
        renameSync(`${file}.new`, file)
      },
      true,
    ],
  ] as const
  test.each(cases)('a writer notices that its file was %s and writes nothing elsewhere', async (_, how, stays) => {
    const file = join(tempFolder(), 'x.db')
    const other = await openStore(`${file}.other`)
    await other.write(async () => other.run('insert into geo (id) values (42)', []))
    await other.close()
    const process = writer(file)
    await process.until('holds')
    process.write(1)
    await process.until('wrote 1')
    how(file)
    const before = stays ? readFileSync(file) : null
    process.write(2)
    expect(await process.ended).toBe(7)
    expect(process.said()).toMatch(/deleted or renamed|Another file/)
    expect(existsSync(file)).toBe(stays)
    if (before) expect(readFileSync(file).equals(before)).toBe(true)
    // Committed rows are in the file, wherever it is now, and no WAL is left in its place.
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
    if (stays) expect(geos(file)).toEqual([42])
    if (existsSync(`${file}.moved`)) expect(geos(`${file}.moved`)).toEqual([1])
  })

  test('a writer does not touch the WAL of a new database in place of its own', async () => {
    const file = join(tempFolder(), 'x.db')
    const process = writer(file)
    await process.until('holds')
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
    const other = new SQLite(file)
    other.pragma('journal_mode = wal')
    other.exec('create table t (a); insert into t values (1)')
    process.write(1)
    expect(await process.ended).toBe(7)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
    const reader = new SQLite(file, { readonly: true })
    expect(reader.prepare('select a from t').pluck().all()).toEqual([1])
    reader.close()
    other.close()
  })

  test('a writer notices that its WAL was deleted', async () => {
    const file = join(tempFolder(), 'x.db')
    const store = await openWriter(file, 'first')
    rmSync(`${file}-wal`)
    await expect(store.write(async () => store.run('insert into geo (id) values (1)', []))).rejects.toMatchObject({
      name: 'StoreError',
      code: 'log-gone',
    })
    await store.close()
  })

  test('a copy placed over a file with a leftover WAL is refused until the WAL is removed', async () => {
    const file = join(tempFolder(), 'x.db')
    const copy = await openStore(`${file}.copy`)
    // Of another size, because the first pages of new databases of equal size are identical.
    await copy.write(async () => {
      copy.run('insert into geo (id) values (42)', [])
      copy.run(`insert into geo_text (id, locale, name) values (42, 'es', ?)`, ['x'.repeat(20_000)])
    })
    await copy.close()
    const killed = writer(file)
    await killed.until('holds')
    killed.write(1)
    await killed.until('wrote 1')
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
    const legal = join(tempFolder(), 'legal.db')
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${legal}${end}`)
    copyFileSync(`${file}.copy`, file)
    const before = readFileSync(file)
    await expect(openWriter(file, 'next')).rejects.toMatchObject({ name: 'StoreError', code: 'foreign-log' })
    expect(readFileSync(file).equals(before)).toBe(true)
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`)
    await (await openWriter(file, 'next')).close()
    expect(geos(file)).toEqual([42])
    // A database that was copied together with its WAL is valid.
    await (await openWriter(legal, 'next')).close()
    expect(geos(legal)).toEqual([1])
  })
})
