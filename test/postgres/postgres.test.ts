import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDatabase, serverUrl, tempDatabase, withClient } from './database.ts'

const number = (url: string, sql: string): Promise<number> =>
  withClient(url, async (client) => Number((await client.query({ text: sql, rowMode: 'array' })).rows[0]![0]))

test('a test has a database of its own on the server of the run, empty or a copy', async () => {
  const url = await tempDatabase()
  await withClient(url, (client) => client.query('create table kept (id int); insert into kept values (1), (2)'))
  const { url: copy, drop } = await createDatabase(await serverUrl(), new URL(url).pathname.slice(1))
  expect(await number(copy, 'select count(*) from kept')).toBe(2)
  await drop()
  expect(await number(await tempDatabase(), "select count(*) from pg_class where relname = 'kept'")).toBe(0)
})

test.skipIf(process.platform !== 'linux')(
  'a server ends with whoever started it, and leaves nothing behind',
  async () => {
    // A process that has a server kept, and is killed: the keeper's input ends, as it does when the tests are killed.
    const owner = spawn(
      process.execPath,
      [
        '-e',
        `require('child_process').spawn(process.execPath, [${JSON.stringify(join(import.meta.dirname, 'keeper.ts'))}], { stdio: ['pipe', 'inherit', 'inherit'], detached: true })`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const url = String((await once(owner.stdout, 'data'))[0]).trim()
    const [pid, folder] = await withClient(url, async (client) => {
      const { rows } = await client.query("select pg_backend_pid() as pid, current_setting('data_directory') as folder")
      return [rows[0].pid as number, rows[0].folder as string]
    })
    expect(existsSync(folder)).toBe(true)
    // The number of its shared memory stands in the seventh line.
    const segment = / (\d+)$/.exec(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[6]!)![1]!
    const segments = (): string[] =>
      readFileSync('/proc/sysvipc/shm', 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/ +/)[1]!)
    expect(segments()).toContain(segment)
    owner.kill('SIGKILL')
    // The keeper holds the output until it has cleaned up.
    await once(owner, 'close')
    expect(existsSync(join(folder, '..'))).toBe(false)
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    expect(segments()).not.toContain(segment)
  },
)
