import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { SQLITE_MIGRATIONS } from '../../src/db/migrations.ts'
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/db/sqlite/schema.ts'
import { StoreError } from '../../src/util/errors.ts'
import { tempFolder, tempStore } from '../support/kit.ts'
import { openReader, openStore } from '../support/testStore.ts'

test('a database file records its application id and schema version', async () => {
  const store = await tempStore()
  expect(store.get('pragma application_id')).toBe(APPLICATION_ID)
  expect(store.get('pragma user_version')).toBe(SCHEMA_VERSION)
  expect(store.get('pragma journal_mode')).toBe('wal')
})

/** Returns the number of open files without a name, such as temporary files of SQLite. */
const unnamedFiles = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('(deleted)')
    } catch {
      return false
    }
  }).length

describe('foreign files', () => {
  const foreign = (prepare: (db: SQLite.Database) => void): string => {
    const file = join(tempFolder(), 'other.db')
    const db = new SQLite(file)
    prepare(db)
    db.close()
    return file
  }
  test.each<[string, () => string, RegExp]>([
    [
      'a newer schema',
      () =>
        foreign((db) =>
          db.exec(`create table t (a); pragma application_id = ${APPLICATION_ID}; pragma user_version = 999`),
        ),
      /schema 999/,
    ],
    [
      'another program’s database',
      () => foreign((db) => db.exec('create table t (a); insert into t values (1)')),
      /another program/,
    ],
    [
      'a text file',
      () => {
        const file = join(tempFolder(), 'text.db')
        writeFileSync(file, 'this is not a database, only some text that is long enough to be read'.repeat(20))
        return file
      },
      /is not an SQLite database/,
    ],
  ])('%s is refused and not changed', async (_name, make, message) => {
    const file = make()
    const before = readFileSync(file)
    await expect(openStore(file)).rejects.toThrow(StoreError)
    await expect(openStore(file)).rejects.toThrow(message)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('a reader reports that a file does not exist', () => {
    expect(() => openReader(join(tempFolder(), 'none.db'))).toThrow(/does not exist yet/)
  })

  test('a reader cannot write', async () => {
    const store = await tempStore()
    const reader = openReader(store.file)
    await expect(reader.kysely.deleteFrom('_run').execute()).rejects.toMatchObject({
      name: 'StoreError',
      code: 'sqlite_readonly',
    })
    await reader.close()
  })

  test.skipIf(process.platform !== 'linux')('a large sort uses temporary files instead of memory', async () => {
    const { file } = await tempStore()
    const reader = openReader(file)
    const before = unnamedFiles()
    const sorted = reader.rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n limit 300000)
       select hex(randomblob(40)) as text from n order by text`,
    )
    expect(sorted.next().done).toBe(false)
    expect(unnamedFiles()).toBeGreaterThan(before)
    sorted.return?.()
    await reader.close()
  })
})

describe('concurrent access', () => {
  test('concurrent processes open and migrate one new file', async () => {
    const file = join(tempFolder(), 'shared.db')
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(file)))
    expect(stores.map((store) => store.get('select count(*) from _migration'))).toEqual(
      Array.from({ length: 4 }, () => Object.keys(SQLITE_MIGRATIONS).length),
    )
    await Promise.all(stores.map((store) => store.close()))
  })

  test("waiting for another connection's transaction does not block timers", async () => {
    const store = await tempStore()
    const other = new SQLite(store.file)
    other.exec('begin immediate')
    let ticks = 0
    // The lock is released by timers, so that a blocking wait would never end.
    const timer = setInterval(() => void (++ticks === 5 && other.exec('commit')), 10)
    await store.write(async () => store.run(`insert into vocabulary (id) values (1)`, []))
    clearInterval(timer)
    other.close()
    expect(ticks).toBeGreaterThanOrEqual(5)
    expect(store.get('select count(*) from vocabulary')).toBe(1)
  })

  test('a failed transaction writes nothing', async () => {
    const store = await tempStore()
    const failing = store.write(async () => {
      store.run('insert into vocabulary (id) values (1)', [])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(store.get('select count(*) from vocabulary')).toBe(0)
  })
})
