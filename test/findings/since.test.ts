import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, runJob, tempStore } from '../support/kit.ts'

const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * 86_400_000
const BREAKER = { failures: 1, pauseMs: 1, openings: 1, giveUpMs: 1 }
const rolling = 'series: [{ indicators: [5, 6], window: { last: 3d }, refresh: 1h }]'

test.each([
  ['an outage', 'service down', 503],
  ['a refused key', 'key', 403],
] as const)('%s lasts since the first run without a success in between', async (_name, kind, status) => {
  const store = await tempStore()
  const service = await startHourlyService()
  const run = (n: number, isUp: boolean, signal = new AbortController().signal) => {
    service.state.status = () => (isUp ? undefined : status)
    return runJob(store, service, `name: test\n${rolling}`, { now: night(n), breaker: BREAKER, signal })
  }
  for (const [n, isUp] of [false, true, false, false].entries()) await run(n, isUp)
  // A run that is stopped before anything succeeded does not end the trouble.
  await run(4, false, AbortSignal.abort())
  await run(5, false)
  expect(await findFindings(store, night(5) / 1000, { depth: 'state' })).toMatchObject([
    { kind, since_at: '2025-11-06T20:15:00Z' },
  ])
})

test('a spent budget lasts since the first run that it ended', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const run = (n: number, calls: number) =>
    runJob(store, service, `name: test\npace: { callsPerDay: ${calls} }\n${rolling}`, { now: night(n) })
  await run(0, 9)
  for (const n of [1.1, 2.2, 3.3]) await run(n, 1)
  const findings = await findFindings(store, night(3.4) / 1000, { depth: 'state' })
  expect(findings.filter(({ kind }) => kind === 'unfinished')).toMatchObject([{ since_at: '2025-11-05T22:39:00Z' }])
})

test('a geo that never had a value lacks it since the first reply, however often it is requested again', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  const yaml =
    'name: test\nseries: [{ indicators: [5], geoIds: [3, 99], window: { from: 2025-10-01, to: +2d }, lookback: 2d }]'
  const since = []
  for (const n of [0, 1, 2, 5]) {
    await runJob(store, service, yaml, { now: night(n) })
    const findings = await findFindings(store, night(n) / 1000, { depth: 'state' })
    since.push(...findings.filter(({ kind }) => kind === 'geo').map(({ since_at }) => since_at))
  }
  expect(since).toEqual(Array.from({ length: 4 }, () => '2025-11-04T20:15:00Z'))
})

test.each([
  ['an unknown id', 'unknown id', 404],
  ['a refused request', 'failure', 400],
] as const)('%s lasts since the first refusal', async (_name, kind, status) => {
  const store = await tempStore()
  const service = await startHourlyService()
  service.state.status = (path) => (path.endsWith('/6') ? status : undefined)
  const yaml = 'name: test\nseries: [{ indicators: [5, 6], window: { from: 2025-11-01, to: 2025-11-03 }, refresh: 1h }]'
  const since = []
  for (const n of [0, 1.1, 3.3, 7.7]) {
    await runJob(store, service, yaml, { now: night(n) })
    const findings = await findFindings(store, night(n) / 1000, { depth: 'state' })
    since.push(...findings.filter((finding) => finding.kind === kind).map(({ since_at }) => since_at))
  }
  expect(since).toEqual(Array.from({ length: 4 }, () => '2025-11-04T20:15:00Z'))
})
