import type { Kysely } from 'kysely'
import { isAddress } from '../db/address.ts'
import { BOSS_SCHEMA, bossTables, databaseClock, shared } from '../db/shared.ts'
import type { Reader } from '../db/store.ts'

/** A worker as `status` tells of it. */
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

/** How much is in a queue, by what becomes of it. */
export interface QueueState {
  /** The host whose requests they are, as the queue has its name. */
  readonly host: string
  readonly queued: number
  readonly active: number
  /** What failed too often. */
  readonly dead: number
}

/** The workers of a database, and what waits for them. */
export interface Machines {
  /** The clock of the database when it was looked, in epoch milliseconds. */
  readonly now: number
  readonly workers: readonly WorkerState[]
  readonly queues: readonly QueueState[]
}

/** Whether a database has a table of some schema. */
const hasTable = async (db: Kysely<never>, schema: string, name: string): Promise<boolean> =>
  (await (db as unknown as Kysely<{ 'information_schema.tables': { table_schema: string; table_name: string } }>)
    .selectFrom('information_schema.tables')
    .select('table_name')
    .where('table_schema', '=', schema)
    .where('table_name', '=', name)
    .executeTakeFirst()) !== undefined

/** Reads who works on a database; null where it is a file, which no machines share. */
export async function readMachines({ kysely, file }: Pick<Reader, 'kysely' | 'file'>): Promise<Machines | null> {
  if (!isAddress(file)) return null
  const now = await databaseClock(shared(kysely))
  const rows = await shared(kysely).selectFrom('_worker').selectAll().orderBy('id').execute()
  const workers = rows.map(({ id: _, runs: _runs, started_at, seen_at, draining, ...row }) => ({
    ...{ ...row, startedAt: started_at, seenAt: seen_at, draining: draining === 1 },
  }))
  const db = kysely as unknown as Kysely<never>
  if (!(await hasTable(db, BOSS_SCHEMA, 'job'))) return { now, workers, queues: [] }
  const counts = await bossTables(db)
    .selectFrom('job')
    .where('state', 'in', ['created', 'retry', 'active'])
    .groupBy(['name', 'state'])
    .select(['name', 'state', ({ fn }) => fn.countAll<number>().as('count')])
    .execute()
  const queues = new Map<string, { host: string; queued: number; active: number; dead: number }>()
  for (const { name, state, count } of counts) {
    const [, kind, host] = /^(asks|dead)\.(.*)$/.exec(name) ?? []
    if (kind === undefined || host === undefined) continue
    const queue = queues.get(host) ?? { host, queued: 0, active: 0, dead: 0 }
    queues.set(host, queue)
    queue[kind === 'dead' ? 'dead' : state === 'active' ? 'active' : 'queued'] += Number(count)
  }
  return { now, workers, queues: [...queues.values()].sort((a, b) => (a.host < b.host ? -1 : 1)) }
}

/** A worker of which nothing was heard for so many milliseconds is told to be silent. */
export const SILENT_MS = 15_000

/** The workers and their queues as figures for monitors. */
export function machinesMetrics({ workers, queues, now }: Machines): string {
  const alive = workers.filter(({ seenAt }) => now - seenAt <= SILENT_MS).length
  const lines = [
    '# HELP indicator_sync_workers Processes that take requests from the queue and were heard of within 15 s.',
    '# TYPE indicator_sync_workers gauge',
    `indicator_sync_workers ${alive}`,
    '# HELP indicator_sync_queue_requests Requests in the queue of a host: they wait, are in hand, or failed too often.',
    '# TYPE indicator_sync_queue_requests gauge',
  ]
  for (const { host, ...states } of queues)
    for (const state of ['queued', 'active', 'dead'] as const)
      lines.push(`indicator_sync_queue_requests{host="${host}",state="${state}"} ${states[state]}`)
  return lines.join('\n')
}
