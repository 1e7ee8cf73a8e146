import { placeOf } from '../db/address.ts'
import { SILENT_MS } from '../db/queries/heartbeats.ts'
import { type QueueState, queueStates } from '../db/queries/queues.ts'
import { databaseClock, shared } from '../db/shared.ts'
import type { Reader } from '../db/store.ts'

/** A worker as `status` shows it. */
export interface WorkerState {
  readonly machine: string
  readonly pid: number
  readonly version: string
  readonly host: string
  /** Epoch milliseconds, by the clock of the database. */
  readonly startedAt: number
  readonly seenAt: number
  readonly claims: number
  readonly done: number
  readonly draining: boolean
  readonly holding: string | null
}

/** The workers of a database, and what waits for them. */
export interface Machines {
  /** The clock of the database when the workers were read, in epoch milliseconds. */
  readonly now: number
  readonly workers: readonly WorkerState[]
  readonly queues: readonly QueueState[]
}

/** Reads who works on a database; null where machines do not share it. */
export async function readMachines({ kysely, file }: Pick<Reader, 'kysely' | 'file'>): Promise<Machines | null> {
  if (!placeOf(file).isShared) return null
  const now = await databaseClock(shared(kysely))
  const rows = await shared(kysely).selectFrom('_worker').selectAll().orderBy('id').execute()
  const workers = rows.map(({ id: _, runs: _runs, started_at, seen_at, draining, ...row }) => ({
    ...{ ...row, startedAt: started_at, seenAt: seen_at, draining: draining === 1 },
  }))
  return { now, workers, queues: await queueStates(kysely) }
}

/** The workers and their queues as figures for monitors. */
export function machinesMetrics({ workers, queues, now }: Machines): string {
  const alive = workers.filter(({ seenAt }) => now - seenAt <= SILENT_MS).length
  const lines = [
    `# HELP indicator_sync_workers Processes that take requests from the queue and were heard of within ${SILENT_MS / 1000} s.`,
    '# TYPE indicator_sync_workers gauge',
    `indicator_sync_workers ${alive}`,
    '# HELP indicator_sync_queue_requests Requests in the queue of a host: they wait, are being executed, or failed too often.',
    '# TYPE indicator_sync_queue_requests gauge',
  ]
  for (const { host, ...states } of queues)
    for (const state of ['queued', 'active', 'dead'] as const)
      lines.push(`indicator_sync_queue_requests{host="${host}",state="${state}"} ${states[state]}`)
  return lines.join('\n')
}
