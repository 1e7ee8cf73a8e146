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
