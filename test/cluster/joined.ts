import { onTestFinished } from 'vitest'
import { runWorker, type WorkerContext, type WorkOptions } from '../../src/cluster/runWorker.ts'
import { openSharedRun } from '../../src/cluster/sharedRun.ts'
import { openStore } from '../../src/db/open.ts'
import { queueNames } from '../../src/db/queries/queues.ts'
import type { Store } from '../../src/db/store.ts'
import { parseHost } from '../../src/fetch/hosts.ts'
import type { Job } from '../../src/job/job.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { sync } from '../../src/sync/sync.ts'
import type { OnEvent } from '../../src/util/events.ts'
import { withClient } from '../postgres/database.ts'
import { ms } from '../support/kit.ts'

export const NOW = ms('2025-11-04T12:00:00Z') / 1000
export const YAML = `name: shared
pace: { perSecond: 50, concurrency: 8 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-10-30, to: 2025-11-04 }, chunk: 1d }
`
/** A job with five requests. */
export const JOB = readJob(YAML, 'shared.yaml')
/** A job with one request. */
export const LAST_DAY = readJob(YAML.replace('2025-10-30', '2025-11-03'), 'lastDay.yaml')

/** Returns the context of a process that shares a database. */
export async function joined(file: string, baseUrl: string, key: string): Promise<WorkerContext & { store: Store }> {
  const store = await openStore(file)
  onTestFinished(() => store.close())
  return {
    store,
    service: SERVICES.generic,
    baseUrl,
    key,
    retryMs: 5,
    nowMs: () => NOW * 1000,
    signal: new AbortController().signal,
    onReject: 'quarantine',
  }
}

/** Starts a worker in this process; `stop` ends it. */
export function startWorker(context: WorkerContext, options: Partial<WorkOptions> = {}) {
  const stopping = new AbortController()
  const working = runWorker({ ...context, signal: stopping.signal }, { concurrency: 2, ...options })
  const stop = (): ReturnType<typeof runWorker> => {
    stopping.abort()
    return working
  }
  onTestFinished(async () => void (await stop().catch(() => undefined)))
  return { working, stop }
}

/** Plans jobs for workers, like one command. */
export async function distribute(
  context: WorkerContext,
  jobs: readonly Job[] = [JOB],
  onEvent?: OnEvent,
): Promise<Summary[]> {
  const sharedRun = await openSharedRun(context.store, context, true)
  const summaries: Summary[] = []
  try {
    for (const job of jobs) summaries.push(await sync({ ...context, sharedRun, onEvent }, { job, command: 'sync' }))
  } finally {
    await sharedRun.close()
  }
  return summaries
}

/** Returns the number of requests in each state. */
export async function jobStates(file: string, baseUrl: string): Promise<Record<string, number>> {
  const { rows } = await withClient(file, (client) =>
    client.query('select state::text, count(*)::int from pgboss.job where name = $1 group by 1', [
      queueNames(parseHost(baseUrl)).queue,
    ]),
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
