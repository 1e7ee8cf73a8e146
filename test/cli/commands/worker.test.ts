import { expect, test } from 'vitest'
import { emulate, runCommand, tempFolder } from '../../kit.ts'
import { migratedDatabase } from '../../postgres/database.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

test('a worker fetches and loads what a sync hands out, and says how much', async () => {
  const emulator = await emulate()
  const env = { ...serviceAt(emulator.url, emulator.key), INDICATOR_SYNC_DATABASE: await migratedDatabase() }
  const dir = jobFolder()
  const synced = runCommand(dir, ['sync', 'job.yaml', '--distributed', '--json'], env)
  // Until the plan is in the queue there is nothing to do.
  let worked: string
  do worked = (await runCommand(dir, ['worker', '--until-empty'], env)).out
  while (worked === '0 requests done, 0 of them failed.\n' && emulator.requests.length === 0)
  const { code, out } = await synced
  expect([code, JSON.parse(out)]).toMatchObject([0, [{ job: 'one', outcome: 'done', requests: 1, failures: [] }]])
  expect(worked).toBe('1 request done, 0 of them failed.\n')
  expect(emulator.requests).toHaveLength(1)
})

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['no service', [], {}, /No base address/],
  ['a file', ['--database', 'x.db'], serviceAt('http://127.0.0.1:9'), /Workers cannot use x\.db/],
  [
    'nothing at once',
    ['--database', 'postgres://u@127.0.0.1:9/x', '--concurrency', '0'],
    serviceAt('http://127.0.0.1:9'),
    /--concurrency must be a whole number from 1 to 100/,
  ],
])('a worker with %s is a mistake', async (_, args, env, message) => {
  expect(await runCommand(tempFolder(), ['worker', ...args], env)).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(message),
  })
})
