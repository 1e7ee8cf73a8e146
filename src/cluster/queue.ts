import { CompiledQuery, type Kysely } from 'kysely'
import { type Db, PgBoss } from 'pg-boss'
import { BOSS_SCHEMA, isQueueMade, queueNames } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { RightsError, StoreError, SyncError } from '../util/errors.ts'
import type { NewJob, QueuedRequest } from './queuedRequest.ts'

/** A request that this process executes, with the number of the attempt. */
export interface ActiveJob {
  readonly id: string
  readonly retryCount: number
  readonly data: QueuedRequest
}

/** The requests for one host that workers execute: the only door of pg-boss. */
export interface Queue {
  /** Puts requests into the queue; those with the same key as one that is there are left out. */
  send(jobs: readonly NewJob[]): Promise<void>
  /** Executes requests, so many at once, until the queue is stopped. A job whose handler throws is tried again. */
  work(concurrency: number, handle: (job: ActiveJob) => Promise<void>): Promise<void>
  /** Whether a job is still this attempt's, as part of a transaction: until that ends, nobody else gets it. */
  confirm(job: ActiveJob, tx: Kysely<Database>): Promise<boolean>
  /** Ends a job, as part of a transaction; false if it is not this attempt's any more. */
  complete(job: ActiveJob, tx: Kysely<Database>): Promise<boolean>
  /** Throws NoQueueError if the queue was deleted. */
  check(): Promise<void>
  /** Takes no more jobs, and ends when those under way have ended. */
  stop(): Promise<void>
}

/** The database has no queue (any more): waiting does not bring it. */
export class NoQueueError extends StoreError {
  constructor(message: string, cause?: unknown) {
    super(message, {
      hint: 'Run `indicator-sync sync --distributed` once as a user with the role of the writer, then start the workers.',
      code: 'no-queue',
      cause,
    })
  }
}

/** Seconds. A job without a heartbeat for ten, the least that pg-boss takes, goes to another worker. */
const HEARTBEAT = { heartbeatSeconds: 10, heartbeatRefreshSeconds: 3 }
/** Seconds between two looks for such jobs, and for the length of the queue, by which workers know whether to fetch without a pause. */
const WATCH = { superviseIntervalSeconds: 2, monitorIntervalSeconds: 2, queueCacheIntervalSeconds: 2 }
/** A job whose workers die again and again, or cannot end it, counts as dead after nine attempts. */
const RETRIES = { retryLimit: 8, retryDelay: 1 }
const RETENTION = { retentionSeconds: 90 * 86_400, deleteAfterSeconds: 3_600 }
/** Milliseconds that a stop waits for the calls under way. */
const STOP_MS = 10 * 60_000

const execute = async (db: Kysely<Database>, text: string, values: readonly unknown[]) => ({
  rows: (await db.executeQuery(CompiledQuery.raw(text, [...values]))).rows,
})

/** The connection of a store, or a transaction on it, as pg-boss takes it. */
const asDb = (db: Kysely<Database>, isClosed = (): boolean => false): Db => ({
  executeSql: async (text, values = []) => {
    // pg-boss may begin a maintenance pass while it stops; its statements would fail on the closed connection, so they never return.
    if (isClosed()) return new Promise(() => undefined)
    if (values.length > 0 || !/^\s*begin\b/i.test(text)) return execute(db, text, values)
    // A text with its own transaction that fails leaves the connection inside that transaction.
    return db.connection().execute(async (one) => {
      try {
        return await execute(one, text, values)
      } catch (error) {
        await execute(one, 'rollback', []).catch(() => undefined)
        throw error
      }
    })
  },
})

/** Whether a statement about one attempt found it: the types of pg-boss do not declare this part of its answer. */
const isAffected = (answer: object): boolean => (answer as { readonly affected: number }).affected === 1

/** An error of pg-boss, which passes on those of the store as plain objects. */
function asQueueError(error: Error & { code?: unknown }): SyncError {
  const code = String(error.code)
  if (['42p01', '3f000'].includes(code) || /^Queue \S+ does not exist/.test(error.message))
    return new NoQueueError('The queue of the database was deleted.', error)
  if (error instanceof SyncError) return error
  const ErrorClass = code === '42501' ? RightsError : StoreError
  return new ErrorClass(error.message, { code: 'queue', cause: error })
}

/** Opens the queue of a host in a database; `onError` gets what fails outside of a handler. */
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
  const stop = async (graceful: boolean): Promise<void> => {
    await boss.stop({ graceful, timeout: STOP_MS, close: false })
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
    // Timers of a queue that was begun keep the process alive.
    await stop(false).catch(() => undefined)
    if (!(error instanceof RightsError) || (await isQueueMade(store))) throw error
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
    stop: () => stop(true),
  }
}
