import { expect, test } from 'vitest'
import { openQueue } from '../../src/cluster/queue.ts'
import { toQueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { openStore } from '../../src/db/open.ts'
import { parseHost } from '../../src/fetch/hosts.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { openRun } from '../../src/sync/record.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'
import { emulate, ms, runCli, tempFolder } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z') / 1000
const JOB = readJob(
  `name: shared
pace: { perSecond: 50, concurrency: 16 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-07-01, to: 2025-11-04 }, chunk: 1d }
`,
  'shared.yaml',
)
/** Source: docs/postgresql.md. */
const MOST = 3

test('a busy worker opens at most the documented number of connections', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const planner = await openStore(file)
  const { id: runId } = await openRun({ store: planner, nowMs: Date.now }, { command: 'sync', job: JOB })
  const queue = await openQueue(planner, parseHost(emulator.url), () => undefined)
  const planned = planJob({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.send(
    [...planned].map((request, position) => toQueuedRequest(JOB, runId, request, { now: NOW, position })),
  )
  await queue.close()
  await planner.close()

  const args = ['worker', '--until-empty', '--concurrency', '20', '--service', 'generic', '--base-url', emulator.url]
  const env = { INDICATOR_SYNC_DATABASE: file, INDICATOR_SYNC_API_KEY: emulator.key }
  let most = 0
  const { code } = await withClient(file, async (client) => {
    // Connections of the planner may still be closing, also the one with the schema lock. Autovacuum processes do not
    // count.
    const { rows: ending } = await client.query<{ pid: number }>('select pid from pg_stat_activity')
    const others = ending.map(({ pid }) => pid)
    let isWorking = true
    const looking = (async () => {
      while (isWorking) {
        const { rows } = await client.query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity
           where datname = current_database() and backend_type = 'client backend'
             and pid <> all($1::int[]) and query not like '%pg_advisory_lock%'`,
          [others],
        )
        most = Math.max(most, rows[0]!.count)
      }
    })()
    try {
      return await runCli(tempFolder(), args, env)
    } finally {
      isWorking = false
      await looking
    }
  })
  expect(code).toBe(0)
  expect(most).toBeGreaterThan(2)
  expect(most).toBeLessThanOrEqual(MOST)
})
