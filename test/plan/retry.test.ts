import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { planRetry } from '../../src/plan/planRetry.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { createFixedPlan } from '../../src/sync/planRun.ts'
import { executeRun } from '../../src/sync/run.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

test('a listing fetched by a retry withdraws missing items, like one fetched by a sync', async () => {
  const store = await tempStore()
  let night = 0
  const server = await serve((_request, response) =>
    json(response, { contents: night === 2 ? [{ id: 1 }] : [{ id: 1 }, { id: 2 }] }, night === 1 ? 400 : 200),
  )
  const yaml = 'content:\n  - { kinds: [news], refresh: 1h }\n  - { kinds: [glossaries], sticky: true, refresh: 1h }'
  const at = (): number => ms('2025-11-04T12:00:00Z') + night * 86_400_000
  for (; night < 2; night++) await runJob(store, server, yaml, { now: at() })
  const service = SERVICES.generic
  const context = { store, service, baseUrl: server.url, key: 'k'.repeat(64), nowMs: at }
  const again = [...planRetry({ service, now: at() / 1000 }, await readRetryRequests(store))]
  await executeRun(
    { ...context, signal: new AbortController().signal },
    { job: readJob(`name: again\n${yaml}`, 'again.yaml'), command: 'retry' },
    createFixedPlan(again),
  )
  // A filtered listing does not withdraw missing items.
  expect(store.all('select kind, id from content where withdrawn_at is not null')).toEqual([{ kind: 'news', id: 2 }])
})

test('windows of successive nights that failed are covered by few requests, none larger than before', () => {
  const day = (n: number): number => ms('2025-10-01T22:00:00Z') / 1000 + n * 86_400
  const series = {
    kind: 'indicator',
    indicatorId: 600,
    timeTrunc: null,
    timeAgg: null,
    geoAgg: null,
    geoTrunc: null,
    geoIds: null,
  }
  const failed = Array.from({ length: 20 }, (_, night) => ({
    entryPath: 'series[0]',
    route: 'indicator',
    params: { id: 600 },
    window: { from: day(night), to: day(night + 4) },
    series,
    geoIds: null,
    lookbackS: null,
    isUnfiltered: false,
  }))
  // A hole between two groups of nights stays one.
  const retried = failed.filter((_, night) => night < 8 || night > 13)
  const windows = [...planRetry({ service: SERVICES.generic, now: day(40) }, retried.toReversed())].map(
    ({ window }) => window!,
  )
  expect(windows.map(({ from, to }) => [(from - day(0)) / 86_400, (to - day(0)) / 86_400])).toEqual([
    [0, 4],
    [4, 8],
    [8, 11],
    [14, 18],
    [18, 22],
    [22, 23],
  ])
})
