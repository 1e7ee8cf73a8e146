import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { emulate, runCommand } from '../../support/kit.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

test('plan lists requests, reasons and duration, without sending or creating anything', async () => {
  const emulator = await emulate()
  const dir = jobFolder({ 'job.yaml': SERIES.replace('2025-02-01 }', '2025-02-01 }, chunk: 1w') })
  const plan = (...args: string[]) =>
    runCommand(dir, ['plan', 'job.yaml', ...args], serviceAt(emulator.url, emulator.key))
  const text = await plan()
  expect([text.code, text.err]).toEqual([0, ''])
  expect(text.out).toMatch(
    /^entry +request +reason +calls +from +to\n.*\nseries\[0\] +indicator 1739 +missing +5 +2025-01-01 +2025-02-01\n\none: 5 calls, at least 1 s at 50 calls per second\n/,
  )
  const planned = JSON.parse((await plan('--json')).out) as { target: string }[]
  expect(planned).toHaveLength(5)
  expect(planned[0]).toMatchObject({ job: 'one', entry: 'series[0]', route: 'indicator', reason: 'missing' })
  expect(JSON.parse((await plan('--json', '--from', '2025-01-30')).out)).toHaveLength(1)
  expect(emulator.requests).toEqual([])
  expect(readdirSync(dir)).toEqual(['job.yaml'])
})
