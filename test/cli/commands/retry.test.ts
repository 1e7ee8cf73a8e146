import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT } from '../../../src/cli/terminal/fail.ts'
import { emulate, runCommand, tempFolder } from '../../support/kit.ts'

const job = (id: number, pace: string) =>
  `name: nightly\npace: { ${pace} }\nseries: [{ indicators: [${id}], window: { from: 2025-11-03, to: 2025-11-04 } }]\n`

test('retry obeys the pace of the job that failed, not of another job of its name, also if its file is moved', async () => {
  const emulator = await emulate({ faults: [{ route: 'indicator', id: 600, status: 400 }] })
  const dir = tempFolder()
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const run = (...args: string[]) => runCommand(dir, [...args, '--quiet', '--database', 'x.db'], env)
  writeFileSync(join(dir, 'a.yaml'), job(600, 'callsPerDay: 1'))
  writeFileSync(join(dir, 'b.yaml'), job(1001, 'callsPerDay: 50'))
  expect((await run('sync', 'a.yaml')).code).toBe(EXIT.partial)
  expect((await run('sync', 'b.yaml')).code).toBe(EXIT.done)
  expect((await run('retry')).code).toBe(EXIT.stopped)
  renameSync(join(dir, 'a.yaml'), join(dir, 'moved.yaml'))
  expect((await run('retry')).code).toBe(EXIT.stopped)
  writeFileSync(join(dir, 'a.yaml'), job(600, 'callsPerDay: 9'))
  expect((await run('retry')).code).toBe(EXIT.partial)
})
