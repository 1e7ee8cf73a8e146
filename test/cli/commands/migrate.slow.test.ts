import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { APPLICATION_ID } from '../../../src/db/sqlite/schema.ts'
import { runCommand, tempFolder } from '../../support/kit.ts'
import { testLinks } from '../../support/systems.ts'

testLinks('migrate creates a database, and --list only lists migrations', async () => {
  const dir = tempFolder()
  const migrate = (...args: string[]) => runCommand(dir, ['migrate', '--database', 'x.db', ...args])
  expect((await migrate('--list')).out).toMatch(/^x\.db does not exist yet\.\n {2}pending {2}0001_schema\n/)
  expect(JSON.parse((await migrate('--list', '--json')).out)).toMatchObject({ exists: false })
  expect(existsSync(join(dir, 'x.db'))).toBe(false)
  expect((await migrate()).out).toMatch(
    /^x\.db has schema (\d+) of \1\.\n {2}applied {2}0001_schema\n {2}applied {2}0002_judgement\n {2}applied {2}0003_archives\n/,
  )
})

/** Copies the program and adds a migration that creates a table. */
function programWithAnotherMigration(): string {
  const folder = tempFolder()
  for (const part of ['src', 'migrations', 'package.json']) cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const list = join(folder, 'src/db/migrations.ts')
  const more = `  '0006_made_up': async () => ({
    up: async (db) => {
      await db.schema.createTable('made_up').addColumn('a', 'integer').execute()
      await sql\`pragma user_version = 6\`.execute(db)
    },
  }),`
  const last = "'0005_recent_fetches': () => import('../../migrations/0005_recent_fetches.ts'),"
  const text = readFileSync(list, 'utf8')
  expect(text).toContain(last)
  writeFileSync(list, `import { sql } from 'kysely'\n${text.replace(last, `${last}\n${more}`)}`)
  return join(folder, 'src/cli/bin.js')
}

test('a later version migrates a database and keeps a copy, and earlier versions refuse it', async () => {
  const dir = tempFolder()
  const file = join(dir, 'x.db')
  await runCommand(dir, ['migrate', '--database', 'x.db'])
  const raw = new SQLite(file)
  raw.exec('insert into geo (id) values (3), (8741)')
  raw.close()
  const later = (...args: string[]): string =>
    execFileSync('node', [program, ...args, ...(args.includes('--database') ? [] : ['--database', 'x.db'])], {
      cwd: dir,
      encoding: 'utf8',
    })
  const program = programWithAnotherMigration()
  expect(later('migrate', '--list')).toBe(
    'x.db has schema 5 of 6.\n  applied  0001_schema\n  applied  0002_judgement\n  applied  0003_archives\n  applied  0005_recent_fetches\n  pending  0006_made_up\n',
  )
  for (const command of ['status', 'gaps', 'check', 'discover'])
    expect(() => later(command), command).toThrow(/outdated schema 5.*indicator-sync migrate/s)
  expect(() => later('doctor')).toThrow(
    expect.objectContaining({
      stdout: expect.stringMatching(/FIX {2}schema +schema 5 is outdated \(current: 6\); run `indicator-sync migrate`/),
    }),
  )
  await runCommand(dir, ['publish', 'copy.db', '--database', 'x.db'])
  expect(() => later('status', '--database', 'copy.db')).toThrow(/outdated schema 5.*Publish it again/s)
  expect(later('migrate')).toBe(
    'x.db has schema 6 of 6.\n  applied  0001_schema\n  applied  0002_judgement\n  applied  0003_archives\n  applied  0005_recent_fetches\n  applied  0006_made_up\n',
  )
  const rows = (name: string, sql: string): unknown[] => {
    const db = new SQLite(join(dir, name), { readonly: true })
    const found = db.prepare(sql).pluck().all()
    db.close()
    return found
  }
  expect(rows('x.db', 'select id from geo order by id')).toEqual([3, 8741])
  expect(rows('x.db', 'select count(*) from made_up')).toEqual([0])
  expect(rows('x.db.schema-5', 'select id from geo order by id')).toEqual([3, 8741])
  expect(rows('x.db.schema-5', "select name from sqlite_schema where name = 'made_up'")).toEqual([])
  expect(await runCommand(dir, ['status', '--database', 'x.db'])).toMatchObject({
    code: 7,
    err: expect.stringMatching(
      /has schema 6; this version of indicator-sync supports up to 5\.\n.*Update indicator-sync/,
    ),
  })
})

test('concurrent migrations keep one copy of the earlier schema', async () => {
  const dir = tempFolder()
  await runCommand(dir, ['migrate', '--database', 'x.db'])
  const program = programWithAnotherMigration()
  const migrating = Array.from({ length: 4 }, () =>
    promisify(execFile)('node', [program, 'migrate', '--database', 'x.db'], { cwd: dir }).then(
      () => 0,
      ({ code }: { readonly code: number }) => code,
    ),
  )
  // One process migrates. The others find the result, or the lock and exit with 5.
  const codes = await Promise.all(migrating)
  expect(codes).toContain(0)
  expect(codes.filter((code) => code !== 0 && code !== 5)).toEqual([])
  expect(readdirSync(dir).filter((name) => name.startsWith('x.db.schema'))).toEqual(['x.db.schema-5'])
  const copy = new SQLite(join(dir, 'x.db.schema-5'), { readonly: true })
  expect(copy.pragma('user_version', { simple: true })).toBe(5)
  copy.close()
})

test.each(['status', 'migrate'])(
  '%s refuses a database with a newer schema and explains the next step',
  async (command) => {
    const dir = tempFolder()
    const raw = new SQLite(join(dir, 'old.db'))
    raw.exec(`create table _migration (name text);
    pragma application_id = ${APPLICATION_ID}; pragma user_version = 28`)
    raw.close()
    const before = readFileSync(join(dir, 'old.db'))
    expect(await runCommand(dir, [command, '--database', 'old.db'])).toMatchObject({
      code: 7,
      err: expect.stringMatching(
        /has schema 28; this version of indicator-sync supports up to 5.*\n.*Update indicator-sync/,
      ),
    })
    expect(readFileSync(join(dir, 'old.db')).equals(before)).toBe(true)
  },
)

test.each<[string, string[], RegExp]>([
  ['a copy into a file', ['--from', 'a.db', '--database', 'b.db'], /--from must be a file, and --database the address/],
  [
    'a copy of a missing file',
    ['--from', 'a.db', '--database', 'postgres://u@127.0.0.1:9/x'],
    /database a\.db does not exist/,
  ],
])('%s is refused', async (_, args, message) => {
  expect(await runCommand(tempFolder(), ['migrate', ...args])).toMatchObject({
    code: 2,
    err: expect.stringMatching(message),
  })
})
