import type { Kysely } from 'kysely'
import { requireCoordination } from '../coordination.ts'
import type { Reader, Store } from '../store.ts'
import type { Database } from '../tables/schema.ts'

/** The schema of pg-boss. */
export const BOSS_SCHEMA = 'pgboss'

/** The columns of pg-boss that are read here. */
interface BossTables {
  readonly job: { readonly name: string; readonly state: string }
}

/** The tables of pg-boss, which the type `Database` does not have. */
const bossTables = (db: Kysely<Database>): Kysely<BossTables> =>
  (db as unknown as Kysely<BossTables>).withSchema(BOSS_SCHEMA)

/** The states of unfinished requests. */
const OPEN_STATES = ['created', 'retry', 'active']

/** The names of the queue of a host and its dead-letter queue. */
export const queueNames = (host: string): { readonly queue: string; readonly dead: string } => {
  const name = host.replaceAll(/[^\w.-]/g, '_')
  return { queue: `requests.${name}`, dead: `dead.${name}` }
}

/** The number of requests of a queue, by state. */
export interface QueueState {
  /** The host, as in the name of the queue. */
  readonly host: string
  readonly queued: number
  readonly active: number
  /** Requests that failed too often. */
  readonly dead: number
}

/** Whether this user may read queues: `information_schema` lists only tables on which the user has a privilege. */
const canReadQueues = async (db: Kysely<Database>): Promise<boolean> =>
  (await (db as unknown as Kysely<{ 'information_schema.tables': { table_schema: string; table_name: string } }>)
    .selectFrom('information_schema.tables')
    .select('table_name')
    .where('table_schema', '=', BOSS_SCHEMA)
    .where('table_name', '=', 'job')
    .executeTakeFirst()) !== undefined

/** Whether there are queues, even if this user may not read them. */
export const hasQueues = (store: Pick<Store, 'file' | 'coordination'>): Promise<boolean> =>
  requireCoordination(store).hasTable(BOSS_SCHEMA, 'job')

/**
 * Deletes the unfinished and dead requests of a host. Active ones are rolled back, because workers check their job at the end of
 * every transaction.
 */
export async function clearQueue(db: Kysely<Database>, host: string): Promise<void> {
  if (!(await canReadQueues(db))) return
  const { queue, dead } = queueNames(host)
  await bossTables(db).deleteFrom('job').where('name', 'in', [queue, dead]).where('state', 'in', OPEN_STATES).execute()
}

/** Reads the queues of a database on a server, by host; null for a file. */
export async function readQueues({
  kysely: db,
  coordination,
}: Pick<Reader, 'kysely' | 'coordination'>): Promise<QueueState[] | null> {
  if (!coordination) return null
  if (!(await canReadQueues(db))) return []
  const counts = await bossTables(db)
    .selectFrom('job')
    .where('state', 'in', OPEN_STATES)
    .groupBy(['name', 'state'])
    .select(['name', 'state', ({ fn }) => fn.countAll<number>().as('count')])
    .execute()
  const queues = new Map<string, { host: string; queued: number; active: number; dead: number }>()
  for (const { name, state, count } of counts) {
    const [, kind, host] = /^(requests|dead)\.(.*)$/.exec(name) ?? []
    if (kind === undefined || host === undefined) continue
    const queue = queues.get(host) ?? { host, queued: 0, active: 0, dead: 0 }
    queues.set(host, queue)
    const waiting = state === 'active' ? 'active' : 'queued'
    queue[kind === 'dead' ? 'dead' : waiting] += Number(count)
  }
  return [...queues.values()].sort((a, b) => (a.host < b.host ? -1 : 1))
}
