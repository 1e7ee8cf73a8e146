import { existsSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { dump } from '../../support/dump.ts'
import { emulate, runCommand } from '../../support/kit.ts'
import { openReader } from '../../support/testStore.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

/** Prepares commands in a folder with a database that keeps replies by `keep`. */
async function place(keep: string, prepare: (file: string) => void = () => undefined) {
  const emulator = await emulate()
  const dir = jobFolder({ 'job.yaml': `keep: ${keep}\n${SERIES}` })
  prepare(join(dir, 'x.db'))
  const run = (...args: string[]) =>
    runCommand(dir, [...args, '--database', 'x.db'], serviceAt(emulator.url, emulator.key))
  expect((await run('sync', 'job.yaml')).code).toBe(0)
  const count = async (file: string): Promise<unknown> => {
    const reader = openReader(join(dir, file))
    try {
      return reader.get('select count(*) from observation')
    } finally {
      await reader.close()
    }
  }
  return { dir, run, count }
}

test('replay rebuilds a database in place or into another file and reports the replies', async () => {
  const { run, count } = await place('all')
  expect(await run('replay')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^x\.db was rebuilt from 1 stored response in [\d.]+ s: 748 rows written\.\n$/),
  })
  const into = await run('replay', '--output', 'new.db', '--json')
  expect([into.code, JSON.parse(into.out)]).toMatchObject([
    0,
    { database: 'new.db', replies: 1, rows: 748, unread: 0, damaged: [], seconds: expect.any(Number) },
  ])
  expect([await count('x.db'), await count('new.db')]).toEqual([744, 744])
})

test('a replay of incomplete replies needs --output and --incomplete', async () => {
  const { dir, run, count } = await place('none')
  const refused = await run('replay')
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/1 response of x\.db is not stored/)])
  expect(await count('x.db')).toBe(744)
  for (const [args, message] of [
    [['--output', 'new.db'], /is not stored/],
    [['--incomplete'], /--incomplete needs --output/],
    [['--output', 'postgres://u@127.0.0.1:9/x'], /must be a file, not a server/],
  ] as const)
    expect(await run('replay', ...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) })
  expect(existsSync(join(dir, 'new.db'))).toBe(false)
  expect((await run('replay', '--output', 'new.db', '--incomplete')).code).toBe(0)
  expect(await count('new.db')).toBe(0)
})

/** Opens a file like another program. */
function openOther(file: string): SQLite.Database {
  const db = new SQLite(file)
  onTestFinished(() => void db.close())
  return db
}

const FOREIGN = `
  create table note (id integer primary key, series_id integer not null references series (id) on delete cascade, text text);
  insert into note (series_id, text) select id, 'why' from series;
  create table audit (at integer, value real);
  create view note_of_series as select n.text, s.indicator_id from note n join series s on s.id = n.series_id;
  create index observation_by_value on observation (value);
  create trigger observation_audit after insert on observation begin insert into audit values (new.at, new.value); end;
  create virtual table note_words using fts5 (text);
  insert into note_words select text from note;
  analyze`

test('replay preserves tables, views, triggers and indexes of other programs', async () => {
  const { dir, run, count } = await place('all')
  const db = openOther(join(dir, 'x.db'))
  db.exec(FOREIGN)
  const foreign = () => [
    db.prepare('select type, name, tbl_name, sql from sqlite_schema order by type, name').all(),
    ...['note', 'note_of_series', 'note_words'].map((table) => db.prepare(`select * from ${table}`).all()),
  ]
  const before = foreign()
  expect((await run('replay')).code).toBe(0)
  expect(foreign()).toEqual(before)
  expect(db.prepare('select count(*) from audit').pluck().get()).toBe(0)
  db.exec('delete from observation where at = (select max(at) from observation)')
  db.exec(`insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at)
    values (1, 1, '$', 'unknown then', '{}', '2025-11-04T12:00:00.000Z')`)
  expect((await run('replay')).code).toBe(0)
  expect(await count('x.db')).toBe(744)
  expect(foreign()).toEqual(before)
  expect(db.prepare('select count(*) from audit').pluck().get()).toBe(1)
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
})

test('replay changes nothing if a foreign row would reference a deleted row', async () => {
  const { dir, run, count } = await place('all')
  const db = openOther(join(dir, 'x.db'))
  db.exec(`insert into observation select series_id, geo_id, 0, value, step_s, fetch_id from observation limit 1;
    create table mark (series_id, geo_id, at, foreign key (series_id, geo_id, at) references observation (series_id, geo_id, at));
    insert into mark select series_id, geo_id, at from observation where at = 0`)
  const refused = await run('replay')
  expect([refused.code, refused.err]).toEqual([7, expect.stringMatching(/mark/)])
  expect(await count('x.db')).toBe(745)
})

test.for([
  ['pages of 16 KiB', 'page_size = 16384'],
  ['another vacuum mode', 'auto_vacuum = full'],
] as const)('replay preserves %s of a file, and its rows', async ([, pragma]) => {
  const { dir, run } = await place('all', (file) => {
    const db = new SQLite(file)
    db.pragma(pragma)
    db.exec('create table x (y); drop table x')
    db.close()
  })
  const db = openOther(join(dir, 'x.db'))
  const settings = () => ['page_size', 'auto_vacuum'].map((name) => db.pragma(name, { simple: true }))
  const rows = () => {
    const reader = { all: (sql: string) => db.prepare(sql).all() }
    const { _run, ...rest } = dump(reader)
    return rest
  }
  const before = [settings(), rows()]
  expect(await run('replay')).toMatchObject({ code: 0, err: '' })
  expect([settings(), rows()]).toEqual(before)
  expect((await run('replay', '--output', 'new.db')).code).toBe(0)
})
