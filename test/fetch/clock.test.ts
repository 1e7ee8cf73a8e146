import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const AHEAD = ms('2099-01-01T12:00:00Z')
const HOUR = 3_600_000
const SERIES = 'series: [{ indicators: [600], window: { from: 2025-01-01, to: 2025-02-01 }, chunk: 1w, refresh: 1h }]'
const EMPTY = { indicator: { id: 600, tiempo: [{ id: 4 }], geos: [], values: [] } }

test('a pause recorded by a fast clock is ignored, and the next one counts', async () => {
  const store = await tempStore()
  let limited = true
  const server = await serve((_request, response) =>
    limited ? json(response, {}, 429, { 'Retry-After': '3000' }) : json(response, EMPTY),
  )
  expect(await runJob(store, server, SERIES, { now: AHEAD })).toMatchObject({ earlyEnd: { code: 'retry-after' } })
  expect(await runJob(store, server, SERIES, { now: NOW })).toMatchObject({ counts: { requests: 1 } })
  // The pause of 50 minutes after that call applies.
  const third = await runJob(store, server, SERIES, { now: NOW + HOUR / 2 })
  expect(third.earlyEnd?.message).toContain('until 2025-11-04T13:50:00+01:00')
  limited = false
  expect(await runJob(store, server, SERIES, { now: NOW + HOUR })).toMatchObject({ outcome: 'done' })
})

test.each([
  ['years', AHEAD],
  ['two hours', NOW + 2 * HOUR],
])('calls recorded by a clock that was %s ahead do not reduce the daily budget', async (_by, ahead) => {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml = (id: number) => `pace: { callsPerDay: 5 }\n${SERIES.replace('600', String(id)).replace('1w', '7d')}`
  expect(await runJob(store, service, yaml(600), { now: ahead })).toMatchObject({
    outcome: 'done',
    counts: { requests: 5 },
  })
  expect(await runJob(store, service, yaml(601), { now: NOW })).toMatchObject({ outcome: 'done' })
  expect(await runJob(store, service, yaml(602), { now: NOW })).toMatchObject({ earlyEnd: { code: 'budget' } })
})

test('calls recorded by a clock a few minutes ahead count', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml = `pace: { callsPerDay: 5 }\n${SERIES}`
  await runJob(store, service, yaml, { now: NOW + 200_000 })
  const next = await runJob(store, service, yaml.replace('600', '601'), { now: NOW })
  expect(next.earlyEnd?.code).toBe('budget')
})

test.each([
  ['suspect', NOW],
  ['absent', AHEAD],
  ['absent since an earlier run', NOW],
])(
  'data that is %s after a run with a fast clock is requested immediately, then at growing intervals',
  async (what, first) => {
    const store = await tempStore()
    const service = await startHourlyService({ has: (at) => at !== ms('2025-10-05T00:00Z') / 1000 })
    const yaml =
      'series: [{ indicators: [1], window: { from: 2025-10-01, to: 2025-10-10 }, lookback: 2d, refresh: 1h }]'
    await service.run(store, yaml, first)
    service.state.spoiled = () => what === 'suspect'
    await service.run(store, yaml.replace('lookback: 2d', 'lookback: 80y'), AHEAD)
    const calls: number[] = []
    for (const hours of [1, 2, 3, 27]) calls.push((await service.run(store, yaml, NOW + hours * HOUR)).length)
    expect(calls).toEqual([1, 0, 0, 1])
  },
)

test('an unknown id of a run with a fast clock is requested again', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ status: () => 404 })
  const yaml = 'series: [{ indicators: [1], window: { from: 2025-10-01, to: 2025-10-03 } }]'
  await service.run(store, yaml, AHEAD)
  const calls: number[] = []
  for (const hours of [0, 1, 23.5, 24]) calls.push((await service.run(store, yaml, NOW + hours * HOUR)).length)
  expect(calls).toEqual([1, 0, 1, 0])
})

test('a missed run is noticed despite a run recorded in the future', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml = 'schedule: 0 5 * * *\nseries: [{ indicators: [1], window: { last: 2d } }]'
  const ahead = NOW + 60 * 24 * HOUR
  for (const at of [ahead, NOW - 60 * HOUR, ahead]) await service.run(store, yaml, at)
  const findings = await findFindings(store, NOW / 1000)
  expect(findings.filter(({ kind }) => kind === 'no run')).toMatchObject([{ subject: 'job test' }])
})
