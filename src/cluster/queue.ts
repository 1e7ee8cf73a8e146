import { CompiledQuery, type Kysely } from 'kysely'
import { type Db, PgBoss } from 'pg-boss'
import { BOSS_SCHEMA, hasQueues, queueNames } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { RightsError, StoreError, SyncError } from '../util/errors.ts'
import type { NewJob, QueuedRequest } from './queuedRequest.ts'

/** A job that this process executes. */
export interface ActiveJob {
  readonly id: string
  readonly retryCount: number
  readonly data: QueuedRequest
}

/** The queue of requests for one host. Only this file uses pg-boss. */
export interface Queue {
  /** Inserts jobs, except those whose key is already in the queue. */
  send(jobs: readonly NewJob[]): Promise<void>
  /** Executes jobs concurrently until the queue is stopped. A job whose handler throws is tried again. */
  work(concurrency: number, handle: (job: ActiveJob) => Promise<void>): Promise<void>
  /** Whether a job still belongs to this attempt. Until the transaction ends, no other worker gets it. */
  confirm(job: ActiveJob, tx: Kysely<Database>): Promise<boolean>
  /** Completes a job in a transaction; false if it no longer belongs to this attempt. */
  complete(job: ActiveJob, tx: Kysely<Database>): Promise<boolean>
  /** Throws NoQueueError if the queue was deleted. */
  check(): Promise<void>
  /** Takes no more jobs, and waits for the active ones. */
  close(): Promise<void>
}

/** The database has no queue, and waiting does not create it. */
export class NoQueueError extends StoreError {
  constructor(message: string, cause?: unknown) {
    super(message, {
      hint: 'Run `indicator-sync sync --distributed` once as a user with the role of the writer, then start the workers.',
      code: 'no-queue',
      cause,
    })
  }
}

/** Seconds. A job without a heartbeat for ten seconds, the minimum of pg-boss, goes to another worker. */
const HEARTBEAT = { heartbeatSeconds: 10, heartbeatRefreshSeconds: 3 }
/** Seconds between two checks for such jobs, and for the length of the queue. */
const WATCH = { superviseIntervalSeconds: 2, monitorIntervalSeconds: 2, queueCacheIntervalSeconds: 2 }
/** A job counts as dead after nine attempts. */
const RETRIES = { retryLimit: 8, retryDelay: 1 }
const RETENTION = { retentionSeconds: 90 * 86_400, deleteAfterSeconds: 3_600 }
/** Milliseconds that a stop waits for the active jobs. */
const STOP_MS = 10 * 60_000

const execute = async (db: Kysely<Database>, text: string, values: readonly unknown[]) => ({
  rows: (await db.executeQuery(CompiledQuery.raw(text, [...values]))).rows,
})

/** The connection of a store, or a transaction on it, for pg-boss. */
const asDb = (db: Kysely<Database>, isClosed = (): boolean => false): Db => ({
  executeSql: async (text, values = []) => {
    // pg-boss may start maintenance while it stops. Its statements never return, because they would fail on the closed connection.
    if (isClosed()) return new Promise(() => undefined)
    if (values.length > 0 || !/^\s*begin\b/i.test(text)) return execute(db, text, values)
    // A failed text with its own transaction leaves the connection inside that transaction.
    return db.connection().execute(async (connection) => {
      try {
        return await execute(connection, text, values)
      } catch (error) {
        await execute(connection, 'rollback', []).catch(() => undefined)
        throw error
      }
    })
  },
})

/** Whether a statement found the attempt. The types of pg-boss do not declare this field. */
const isAffected = (result: object): boolean => (result as { readonly affected: number }).affected === 1

/** Converts an error of pg-boss, which passes errors of the store as plain objects. */
function asQueueError(error: Error & { code?: unknown }): SyncError {
  const code = String(error.code)
  if (['42p01', '3f000'].includes(code) || /^Queue \S+ does not exist/.test(error.message))
    return new NoQueueError('The queue of the database was deleted.', error)
  if (error instanceof SyncError) return error
  const ErrorClass = code === '42501' ? RightsError : StoreError
  return new ErrorClass(error.message, { code: 'queue', cause: error })
}

/** Opens the queue of a host. `onError` is called for errors outside of a handler. */
export async function openQueue(
  store: Pick<Store, 'kysely' | 'file' | 'coordination'>,
  host: string,
  onError: (error: SyncError) => void,
): Promise<Queue> {
  const { kysely } = store
  let isClosed = false
  const boss = new PgBoss({
    db: asDb(kysely, () => isClosed),
    schema: BOSS_SCHEMA,
    schedule: false,
    monitorVacuum: false,
    ...WATCH,
  })
  boss.on('error', (error) => onError(asQueueError(error)))
  const stop = async (isGraceful: boolean): Promise<void> => {
    await boss.stop({ graceful: isGraceful, timeout: STOP_MS, close: false })
    isClosed = true
  }
  const { queue, dead } = queueNames(host)
  try {
    await boss.start()
    await boss.createQueue(dead, RETENTION)
    await boss.createQueue(queue, {
      policy: 'exclusive',
      deadLetter: dead,
      heartbeatSeconds: HEARTBEAT.heartbeatSeconds,
      expireInSeconds: 86_399,
      ...RETENTION,
      ...RETRIES,
    })
  } catch (error) {
    // The timers of an open queue keep the process alive.
    await stop(false).catch(() => undefined)
    if (!(error instanceof RightsError) || (await hasQueues(store))) throw error
    throw new NoQueueError('The database has no queue yet, and this user may not create it.', error)
  }
  const attempt = ({ id, retryCount }: ActiveJob) => ({ id, retryCount })
  return {
    async send(jobs) {
      if (jobs.length > 0)
        await boss.insert(
          queue,
          jobs.map(({ data, key, priority }) => ({ data, priority, singletonKey: key })),
        )
    },
    async work(concurrency, handle) {
      const options = {
        includeMetadata: true,
        localConcurrency: concurrency,
        pollingIntervalSeconds: 0.5,
        burstWhenReadyExceeds: 1,
        heartbeatRefreshSeconds: HEARTBEAT.heartbeatRefreshSeconds,
      } as const
      await boss.work<QueuedRequest | string>(queue, options, async ([job]) => {
        const { id, retryCount, data } = job!
        // The connection returns JSON as text.
        await handle({ id, retryCount, data: typeof data === 'string' ? (JSON.parse(data) as QueuedRequest) : data })
      })
    },
    confirm: async (job, tx) => isAffected(await boss.touch(queue, attempt(job), { db: asDb(tx) })),
    complete: async (job, tx) => isAffected(await boss.complete(queue, attempt(job), undefined, { db: asDb(tx) })),
    async check() {
      // A statement on a closed queue never ends, and a stopping worker waits for its last check.
      if (isClosed) return
      try {
        if ((await boss.getQueue(queue)) === null) throw new NoQueueError('The queue of the database was deleted.')
      } catch (error) {
        throw asQueueError(error as Error)
      }
    },
    close: () => stop(true),
  }
}
