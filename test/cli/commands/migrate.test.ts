import { existsSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { runCommand, tempFolder } from '../../kit.ts'
import { makeOld } from '../../oldDatabase.ts'

test('migrate makes a database, and --list only looks', async () => {
  const dir = tempFolder()
  const migrate = (...args: string[]) => runCommand(dir, ['migrate', '--database', 'x.db', ...args])
  expect((await migrate('--list')).out).toMatch(/^x\.db does not exist yet\.\n {2}pending {2}0001_first_schema\n/)
  expect(JSON.parse((await migrate('--list', '--json')).out)).toMatchObject({ exists: false })
  expect(existsSync(join(dir, 'x.db'))).toBe(false)
  expect((await migrate()).out).toMatch(/^x\.db has schema (\d+) of \1\.\n {2}applied {2}0001_first_schema\n/)
})

test('migrate brings a database of the first schema up to date and keeps its rows', async () => {
  const dir = tempFolder()
  await makeOld(join(dir, 'old.db'))
  const migrate = (...args: string[]) => runCommand(dir, ['migrate', '--database', 'old.db', '--json', ...args])
  const before = JSON.parse((await migrate('--list')).out)
  expect(before).toMatchObject({ exists: true, version: 1 })
  const after = JSON.parse((await migrate()).out)
  expect(after.version).toBe(after.known)
  expect((after.migrations as { applied: boolean }[]).every(({ applied }) => applied)).toBe(true)
  const db = new SQLite(join(dir, 'old.db'), { readonly: true })
  expect(db.prepare('select id from geo order by id').pluck().all()).toEqual([3, 8741])
  db.close()
})

test.each<[string, string[], RegExp]>([
  ['a copy into a file', ['--from', 'a.db', '--database', 'b.db'], /--from takes a file, and --database the address/],
  [
    'a copy of a file that is not there',
    ['--from', 'a.db', '--database', 'postgres://u@127.0.0.1:9/x'],
    /no database a\.db/,
  ],
])('%s is a mistake', async (_, args, message) => {
  expect(await runCommand(tempFolder(), ['migrate', ...args])).toMatchObject({
    code: 2,
    err: expect.stringMatching(message),
  })
})

test('migrate prints the settings of a server for a profile', async () => {
  const { code, out } = await runCommand(tempFolder(), ['migrate', '--engine-profile', 'citus'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^select create_distributed_table\('public\.observation'/)])
})
