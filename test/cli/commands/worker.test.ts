import { expect, test } from 'vitest'
import { runCommand, tempFolder } from '../../support/kit.ts'
import { serviceAt } from '../jobFolder.ts'

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['no service', [], {}, /No base URL/],
  ['an SQLite database', ['--database', 'x.db'], serviceAt('http://127.0.0.1:9'), /Workers cannot use x\.db/],
  [
    'a concurrency of zero',
    ['--database', 'postgres://u@127.0.0.1:9/x', '--concurrency', '0'],
    serviceAt('http://127.0.0.1:9'),
    /--concurrency must be a whole number from 1 to 100/,
  ],
])('a worker with %s is refused', async (_, args, env, message) => {
  expect(await runCommand(tempFolder(), ['worker', ...args], env)).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(message),
  })
})
