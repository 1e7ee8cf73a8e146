import { onTestFinished } from 'vitest'
import type { OnEvent } from '../../src/base/events.ts'
import { hostOf } from '../../src/calls/hosts.ts'
import { openClock } from '../../src/cluster/clock.ts'
import { openHandOut } from '../../src/cluster/handOut.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import type { QueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { createSharedTurns } from '../../src/cluster/turns.ts'
import type { WorkerContext } from '../../src/cluster/workerRuns.ts'
import { openStore } from '../../src/db/open.ts'
import type { Summary, SyncContext } from '../../src/ingestAll.ts'
import type { Job } from '../../src/job/job.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/services/services.ts'
import { sync } from '../../src/sync.ts'
import { ms } from '../kit.ts'

export const NOW = ms('2025-11-04T12:00:00Z') / 1000
export const YAML = `name: shared
pace: { perSecond: 50, concurrency: 8 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-10-30, to: 2025-11-04 }, chunk: 1d }
`
export const JOB = readJob(YAML, 'shared.yaml')
/** One request. */
export const LAST_DAY = readJob(YAML.replace('2025-10-30', '2025-11-03'), 'lastDay.yaml')

/** A process that shares a database with others. */
export async function joined(file: string, baseUrl: string, key: string) {
  const [store, control] = [await openStore(file), await openStore(file)]
  const clock = await openClock(control)
  const queue = await openQueue<QueuedRequest>(control, hostOf(baseUrl), { supervises: true, onError: () => undefined })
  onTestFinished(async () => {
    await queue.close()
    clock.close()
    await store.close()
    await control.close()
  })
  const context: WorkerContext = {
    store,
    control,
    service: SERVICES.generic,
    baseUrl,
    key,
    version: 'test',
    retryMs: 5,
    now: () => NOW * 1000,
    signal: new AbortController().signal,
    onReject: 'quarantine' as const,
  }
  return { store, queue, context }
}

export type Process = Awaited<ReturnType<typeof joined>>

/** Hands the plans of jobs to workers, as one command does, and waits for them. */
export async function handOutAll(
  { store, queue, context }: Process,
  jobs: readonly Job[],
  onEvent?: OnEvent,
): Promise<Summary[]> {
  const { requested, execute } = await openHandOut(store, queue, SERVICES.generic)
  const turns: SyncContext['turns'] = (pace) =>
    createSharedTurns({ store: context.control, pace, signal: context.signal })
  const summaries: Summary[] = []
  for (const job of jobs) summaries.push(await sync({ ...context, requested, execute, turns, onEvent }, job))
  return summaries
}

/** Hands the plan of one job to workers, and waits for them. */
export const handOut = async (process: Process, job: Job, onEvent?: OnEvent): Promise<Summary> =>
  (await handOutAll(process, [job], onEvent))[0]!
