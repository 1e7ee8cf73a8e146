import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand } from '../../kit.ts'
import { openReader } from '../../store.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

/** Commands in a folder with a database that keeps so many replies. */
async function place(keep: string) {
  const emulator = await emulate()
  const dir = jobFolder({ 'job.yaml': `keep: ${keep}\n${SERIES}` })
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

test('replay rebuilds a database in its place or in another file, and says from how many replies', async () => {
  const { run, count } = await place('all')
  expect(await run('replay')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^x\.db is rebuilt from 1 stored reply in [\d.]+ s: 748 rows written\.\n$/),
  })
  const into = await run('replay', '--into', 'new.db', '--json')
  expect([into.code, JSON.parse(into.out)]).toMatchObject([
    0,
    { database: 'new.db', replies: 1, rows: 748, unread: 0, damaged: [], seconds: expect.any(Number) },
  ])
  expect([await count('x.db'), await count('new.db')]).toEqual([744, 744])
})

test('replay of a part goes into another file, and only when that is said', async () => {
  const { dir, run, count } = await place('none')
  const refused = await run('replay')
  expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/1 answer of x\.db is not in the reply store/)])
  expect(await count('x.db')).toBe(744)
  for (const [args, message] of [
    [['--into', 'new.db'], /is not in the reply store/],
    [['--incomplete'], /--incomplete goes with --into/],
    [['--into', 'postgres://u@127.0.0.1:9/x'], /rebuilt in a file, not on a server/],
  ] as const)
    expect(await run('replay', ...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) })
  expect(existsSync(join(dir, 'new.db'))).toBe(false)
  expect((await run('replay', '--into', 'new.db', '--incomplete')).code).toBe(0)
  expect(await count('new.db')).toBe(0)
})
