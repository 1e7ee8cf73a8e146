import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWriter } from '../../../src/db/lock.ts'
import type { Finding } from '../../../src/findings/finding.ts'
import { endRun, openRun } from '../../../src/sync/record.ts'
import { startHourlyService } from '../../support/hourlyService.ts'
import { ms, runCommand, runJob, tempFolder, tempStore } from '../../support/kit.ts'
import { flawedStore } from '../flawed.ts'

test('check lists each finding and exits with 6 until none is left', async () => {
  const { store, heal } = await flawedStore()
  const check = (...args: string[]) => runCommand(tempFolder(), ['check', '--database', store.file, ...args])
  const found = await check('--json')
  expect(found.code).toBe(6)
  const kinds = (JSON.parse(found.out) as Finding[]).map(({ kind, cause }) => [kind, cause])
  expect(kinds).toEqual([
    ['failure', 'not-found'],
    ['quarantine', null],
    ['gap', 'absent'],
  ])
  const { code, out } = await check()
  expect([code, out]).toEqual([6, expect.stringMatching(/^failure: 1 request failed: /)])
  expect(out, 'a command is one line, to copy it').toMatch(/^ {2}→ indicator-sync retry --database \S+$/m)
  await heal()
  expect(await check()).toMatchObject({ code: 0, out: 'No findings.\n' })
  expect(await check('--json', '--deep')).toMatchObject({ code: 0, out: '[]\n' })
  store.run('update _day set sum = sum + 1, max = max + 1', [])
  const deep = await check('--json', '--deep')
  expect([deep.code, JSON.parse(deep.out)]).toMatchObject([
    6,
    [{ kind: 'daily totals', message: expect.stringContaining('10 days') }],
  ])
})

test('check --json lists the path of every request of a finding, and the default text only the first', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  service.state.status = () => 400
  const yaml = 'name: test\nseries: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, chunk: 1d }]'
  await runJob(store, service, yaml, { now: ms('2025-11-04T12:00:00Z') })
  const check = async (...args: string[]) =>
    (await runCommand(tempFolder(), ['check', '--database', store.file, ...args])).out
  expect((await check()).replaceAll(/\s+/g, ' ')).toMatch(/^failure: (\d+) requests failed: .* and \d+ more\. Correct/)
  const [{ targets, message, geo_ids }] = JSON.parse(await check('--json'))
  expect(targets).toHaveLength(Number(/^\d+/.exec(message)![0]))
  expect(targets.length).toBeGreaterThan(10)
  for (const target of targets) expect(message).toContain(target)
  expect(geo_ids).toEqual([])
})

test('check names the run that is in progress, whose data is still missing', async () => {
  const file = join(tempFolder(), 'market.db')
  const store = await openWriter(file, 'sync prices')
  onTestFinished(() => store.close())
  const run = await openRun({ store, nowMs: Date.now }, { command: 'sync', job: { name: 'prices' } })
  const { out } = await runCommand(tempFolder(), ['check', '--database', file])
  expect(out).toMatch(/Run 1 of prices is in progress since 20/)
  await endRun(run, 'done', null)
  expect((await runCommand(tempFolder(), ['check', '--database', file])).out).not.toMatch(/in progress/)
})
