import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { normalizeJob } from '../../src/job/normalize.ts'
import { planRetry } from '../../src/plan/planRetry.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { createFixedPlan } from '../../src/sync/planRun.ts'
import { executeRun } from '../../src/sync/run.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, runJob, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T20:15:00Z')
const BREAKER = { failures: 4, pauseMs: 1, openings: 3, giveUpMs: 60_000 }
const job = (ids: string) =>
  `name: test\nseries: [{ indicators: [${ids}], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d, chunk: 5d }]`
type HourlyService = Awaited<ReturnType<typeof startHourlyService>>

/** Retries all failed requests. */
async function retry(store: Store, { url }: HourlyService, now: number) {
  const service = SERVICES.generic
  const context = { store, service, baseUrl: url, key: 'k'.repeat(64), nowMs: () => now }
  const requests = planRetry({ service, now: now / 1000 }, await readRetryRequests(store))
  return executeRun(
    { ...context, signal: new AbortController().signal, retryMs: 1, breaker: BREAKER },
    {
      job: normalizeJob({ name: 'retry', pace: { perSecond: 50 }, series: [] }, service),
      command: 'retry',
      part: 'retry',
    },
    createFixedPlan(requests),
  )
}
const found = async (store: Store, now: number) =>
  (await findFindings(store, now / 1000, { depth: 'state' })).map(({ kind, subject }) => `${kind}: ${subject}`)

describe('an indicator whose requests all fail, while others succeed', () => {
  async function syncBroken(ids: string) {
    const store = await tempStore()
    const service = await startHourlyService()
    service.state.status = (path) => (path.endsWith('/6') ? 500 : undefined)
    const summary = await runJob(store, service, job(ids), { now: NOW, breaker: BREAKER })
    return { store, service, summary }
  }

  test.each([['5, 6'], ['6, 5']])(
    'a broken indicator does not end a run of %s, and a retry does not say that the service is down',
    async (ids) => {
      const { store, service, summary } = await syncBroken(ids)
      expect([summary.outcome, summary.earlyEnd]).toEqual(['partial', null])
      expect(store.get("select count(*) from _fetch where target like '/indicators/5?%' and outcome = 'ok'")).toBe(4)
      const again = await retry(store, service, NOW + 60_000)
      expect([again.outcome, again.earlyEnd]).toEqual(['partial', null])
      expect(await found(store, NOW + 120_000)).toEqual(['failure: indicator 6'])
    },
  )
})

test('several indicators whose requests fail without a success are an outage, until something succeeds', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  await runJob(store, service, job('5, 6'), { now: NOW })
  service.state.status = () => 500
  const yaml = job('5, 6').replace('2025-10-20', '2025-10-25')
  const { outcome, earlyEnd } = await runJob(store, service, yaml, { now: NOW + 60_000, breaker: BREAKER })
  expect([outcome, earlyEnd?.code]).toEqual(['failed', 'unavailable'])
  expect(await found(store, NOW + 120_000)).toEqual(['service down: service'])
  service.state.status = () => undefined
  await runJob(
    store,
    service,
    'name: other\nseries: [{ indicators: [7], window: { from: 2025-10-01, to: 2025-10-02 } }]',
    { now: NOW + 180_000 },
  )
  expect(await found(store, NOW + 240_000)).toEqual(['last run: job test'])
})
