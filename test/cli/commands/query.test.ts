import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runCli, runCommand, tempFolder } from '../../support/kit.ts'
import { testLinux } from '../../support/systems.ts'
import { openStore } from '../../support/testStore.ts'

async function folder(): Promise<string> {
  const dir = tempFolder()
  await (await openStore(join(dir, 'x.db'))).close()
  return dir
}
const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n'

testLinux.each<[NodeJS.Signals, number | null]>([
  ['SIGKILL', null],
  ['SIGTERM', 143],
])('a query ends when only its parent process gets %s', async (signal, code) => {
  const dir = await folder()
  const children: number[] = []
  const ended = await runCli(dir, ['query', ENDLESS, '--database', 'x.db'], {}, (parent) => {
    // The child process runs the statement.
    const look = setInterval(() => {
      const listed = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').trim()
      if (listed === '') return
      clearInterval(look)
      children.push(...listed.split(' ').map(Number))
      parent.kill(signal)
      // The children inherit this output, which closes when they end.
    }, 20)
  })
  expect(children.length).toBeGreaterThan(0)
  if (code !== null) expect(ended.code).toBe(code)
  const alive = () => children.filter((pid) => existsSync(`/proc/${pid}/exe`))
  while (alive().length > 0) await sleep(50)
})

test.each([
  ['select hex(zeroblob(200000000)) as v', 'csv', '0'],
  ['select hex(zeroblob(300000000)) as v', 'csv', '60'],
  ['select zeroblob(500000000) as v', 'json', '60'],
  ['select zeroblob(1500000000) as v', 'table', '60'],
])('the query %s as %s ends with a clear error when its result is too large', async (sql, format, timeout) => {
  const args = ['query', sql, '--format', format, '--timeout', timeout, '--database', 'x.db']
  const { code, err } = await runCommand(await folder(), args)
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(
      /(?:too large|more memory than it may use|at most [\d,]+ fit).*\n {2}→ (?:Ask for|Select) less/,
    ),
  })
})

test.each([
  ['zeroblob(100000000)', '100000000 bytes'],
  ['hex(zeroblob(50000000))', '000…'],
])('a table shortens %s for the terminal', async (value, shown) => {
  const { code, out } = await runCommand(await folder(), ['query', `select ${value} as v`, '--database', 'x.db'])
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(shown) })
})

test.each(['', ' ; ', '/* nothing */'])('the statement "%s" is reported as a user error, not as a bug', async (sql) => {
  const { code, err } = await runCommand(await folder(), ['query', sql, '--database', 'x.db'])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/does not return rows.*\n {2}→ Use a SELECT/) })
})
