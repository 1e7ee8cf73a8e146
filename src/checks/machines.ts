import { shared } from '../db/coordination.ts'
import { type QueueState, queueStates } from '../db/queries/queues.ts'
import { SILENT_MS } from '../db/queries/workers.ts'
import type { Reader } from '../db/store.ts'

/** A worker as `status` shows it. */
interface WorkerState {
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
export async function readMachines({
  kysely,
  coordination,
}: Pick<Reader, 'kysely' | 'coordination'>): Promise<Machines | null> {
  if (!coordination) return null
  const now = await coordination.clock()
  const rows = await shared(kysely).selectFrom('_worker').selectAll().orderBy('id').execute()
  const workers = rows.map(({ id: _, runs: _runs, started_at, seen_at, draining, ...row }) => ({
    ...row,
    startedAt: started_at,
    seenAt: seen_at,
    draining: draining === 1,
  }))
  return { now, workers, queues: await queueStates(kysely) }
}

/** How many workers were heard of lately: one row, none where machines do not share the database. */
export async function livingWorkers(db: Pick<Reader, 'kysely' | 'coordination'>): Promise<{ value: number }[]> {
  const machines = await readMachines(db)
  return machines ? [{ value: machines.workers.filter(({ seenAt }) => machines.now - seenAt <= SILENT_MS).length }] : []
}

/** How many requests are in the queue of each host, by their state; none where machines do not share the database. */
export async function queuedRequests(
  db: Pick<Reader, 'kysely' | 'coordination'>,
): Promise<{ host: string; state: string; value: number }[]> {
  const queues = (await readMachines(db))?.queues ?? []
  return queues.flatMap(({ host, ...states }) =>
    Object.entries(states).map(([state, value]) => ({ host, state, value })),
  )
}
