import { expect, test } from 'vitest'
import { countProvisional, findProvisional, provisionalText } from '../../src/findings/findGaps.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, runCommand, tempFolder, tempStore } from '../support/kit.ts'

const NOW = '2025-11-05T20:15:00Z'
const JOB = 'series: [{ indicators: [5], window: { from: 2025-10-20, to: 2025-11-05 }, lookback: 3d, refresh: 1h }]'
const seconds = (text: string): number => ms(text) / 1000

test('a missing value that may still arrive is pending, not a gap, in every output', async () => {
  const lost = [seconds('2025-11-04T04:00:00Z')]
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4], has: (at) => !lost.includes(at) })
  await service.run(store, JOB, NOW)
  expect(await gapsAtLastRun(store)).toEqual([])
  expect(await countProvisional(store)).toEqual({ values: 2, series: 1 })
  for (const [command, says] of [
    ['gaps', 'No gaps: no final value that the jobs select is known to be missing.'],
    ['check', 'No findings.'],
  ] as const) {
    const { code, out } = await runCommand(tempFolder(), [command, '--database', store.file])
    expect([code, out.trim().split('\n')]).toEqual([0, [says, provisionalText({ values: 2, series: 1 })]])
  }
  const { code, out } = await runCommand(tempFolder(), ['gaps', '--provisional', '--json', '--database', store.file])
  const hole = { from: '2025-11-04T05:00:00+01:00', to: '2025-11-04T06:00:00+01:00', missing: 1, step_s: 3600 }
  const next = {
    reason: 'provisional',
    job: 'test',
    next: expect.stringMatching(/^indicator-sync sync test\.yaml --database /),
  }
  expect([code, JSON.parse(out)]).toMatchObject([0, [3, 4].map((geo_id) => ({ geo_id, ...hole, ...next }))])
  lost.pop()
  await service.run(store, JOB, '2025-11-05T22:15:00Z')
  expect(await countProvisional(store)).toEqual({ values: 0, series: 0 })
  expect(provisionalText({ values: 0, series: 0 })).toBe('')
})

test('time after the last value of a geo and missing hours of events are not provisional', async () => {
  const rolling = 'series: [{ indicators: [5], window: { from: 2025-10-20, to: +1d }, lookback: 1d, refresh: 1h }]'
  const now = seconds(NOW)
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  service.state.has = (at, geo) => at < (geo === 3 ? now - 3600 : seconds('2025-11-04T23:00:00Z'))
  await service.run(store, rolling, NOW)
  expect(await countProvisional(store)).toEqual({ values: 0, series: 0 })
  const other = await tempStore()
  const events = await startHourlyService({ has: (at) => at % 50_400 === 0 })
  await events.run(other, rolling, NOW)
  expect(await countProvisional(other)).toEqual({ values: 0, series: 0 })
})

test.each(['20d', '8mo'])(
  'a hole within a lookback of %s is one provisional range and fails `gaps --provisional --fail`',
  async (lookback) => {
    const hole = { from: seconds('2025-10-22T04:00:00Z'), to: seconds('2025-10-22T10:00:00Z') }
    const store = await tempStore()
    const service = await startHourlyService({ has: (at) => at < hole.from || at >= hole.to })
    const yaml = `series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-11-05 }, lookback: ${lookback} }]`
    await service.run(store, yaml, NOW)
    expect(await gapsAtLastRun(store)).toEqual([])
    const found = {
      from: '2025-10-22T06:00:00+02:00',
      to: '2025-10-22T12:00:00+02:00',
      missing: 6,
      expected_in_day: 24,
    }
    expect(await findProvisional(store, seconds(NOW))).toMatchObject([found])
    const gaps = (...args: string[]) => runCommand(tempFolder(), ['gaps', '--fail', ...args, '--database', store.file])
    expect((await gaps()).code).toBe(0)
    expect(await gaps('--provisional')).toMatchObject({ code: 6, out: expect.stringContaining('provisional') })
  },
)
