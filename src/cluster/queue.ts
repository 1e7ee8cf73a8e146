import { CompiledQuery, type Kysely } from 'kysely'
import { type Db, PgBoss } from 'pg-boss'
import { NoTableError, RightsError, StoreError } from '../base/errors.ts'
import { BOSS_SCHEMA, bossTables, isQueueMade, OPEN_STATES, queueOf } from '../db/queries/queues.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../tables/schema.ts'

/** A piece of work as it is queued. */
export interface Queued<T> {
  readonly data: T
  /** Unique among all that are queued or in hand. */
  readonly key: string
  /** What belongs together. */
  readonly group: string
  /** The highest goes first. */
  readonly priority: number
}

/** A piece of work in hand, with the number of the attempt: a claim on an earlier attempt is void. */
export interface Claim<T> {
  readonly id: string
  readonly key: string
  readonly retryCount: number
  readonly priority: number
  readonly data: T
}

/** A piece of work that is queued, in hand or dead. */
export interface Kept<T> {
  readonly id: string
  readonly key: string
  readonly group: string
  /** Whatever is there: somebody may have edited it, or a newer version queued it. */
  readonly data: T
}

/** Pieces of work for one host, which many machines take; each is in one claim at a time. */
export interface Queue<T extends object> {
  readonly name: string
  /** Puts work into the queue, and answers how much of it was not there already. */
  insert(work: readonly Queued<T>[]): Promise<number>
  /** Claims up to `count` pieces. A claim whose heartbeats stop goes to others. */
  claim(count: number): Promise<Claim<T>[]>
  /** A heartbeat for pieces in hand; answers which claims are still valid. */
  beat(claims: readonly Claim<T>[]): Promise<readonly Claim<T>[]>
  /** Whether a claim is still valid, as part of a transaction: until it ends, nobody else takes the piece. */
  isValid(claim: Claim<T>, db: Kysely<Database>): Promise<boolean>
  /** Ends a piece of work, as part of a transaction if one is given. False if the claim is not valid any more. */
  complete(claim: Claim<T>, output: object, db?: Kysely<Database>): Promise<boolean>
  /** The same for what failed: it is tried again later, at growing intervals, and after the last attempt counts as dead. */
  fail(claim: Claim<T>, output: object, db?: Kysely<Database>): Promise<boolean>
  /** Gives a piece back without counting an attempt: it may be claimed again after `afterS` seconds. */
  putBack(claim: Claim<T>, work: Queued<T>, afterS: number): Promise<boolean>
  /** What is queued or in hand, but for that of a group if one is given. */
  open(exceptGroup?: string): Promise<Kept<T>[]>
  /** Which keys are queued or in hand. */
  openAmong(keys: readonly string[]): Promise<Set<string>>
  /** How much is queued or in hand of a group. */
  left(group: string): Promise<number>
  /** What counts as dead. */
  dead(): Promise<Kept<T>[]>
  /** Forgets what counted as dead. */
  removeDead(ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** The database has no queue (any more): waiting does not bring it. */
export class NoQueueError extends StoreError {
  constructor(message: string, cause: unknown) {
    super(message, {
      hint: 'Run `indicator-sync sync --distributed` once as a user of the role that writes; workers can start after that.',
      code: 'no-queue',
      cause,
    })
  }
}

/** Seconds without a heartbeat after which others get a piece of work; pg-boss takes no less. */
export const HEARTBEAT_S = 10
/** Attempts after the first one. */
const RETRIES = 8
/** Keys that one statement names at most: a server takes no more than 65,535 parameters. */
export const KEYS_PER_STATEMENT = 1_000

/** Whether an error says that a queue, its tables or its schema are not there. */
const isQueueGone = (error: unknown): boolean =>
  error instanceof NoTableError || (error instanceof Error && /^Queue \S+ does not exist$/.test(error.message))

/** What pg-boss answers; throws NoQueueError where the queue was deleted. */
const ofBoss = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw isQueueGone(error) ? new NoQueueError('The queue of the database was deleted.', error) : error
  })

/** Whether a statement about one attempt found it: the types of pg-boss do not declare this part of its answer. */
const found = async (asked: Promise<object>): Promise<boolean> =>
  ((await ofBoss(asked)) as { readonly affected: number }).affected === 1

/** The data of what was queued: a connection may return JSON as text. */
const asData = <T>(data: unknown): T => (typeof data === 'string' ? JSON.parse(data) : data) as T

function* slices(keys: readonly string[]): Generator<readonly string[]> {
  for (let i = 0; i < keys.length; i += KEYS_PER_STATEMENT) yield keys.slice(i, i + KEYS_PER_STATEMENT)
}

const executeText = async (db: Kysely<Database>, text: string, values: readonly unknown[]) => ({
  rows: (await db.executeQuery(CompiledQuery.raw(text, [...values]))).rows,
})

/** The connection of a store, or a transaction on it, as pg-boss wants it: statements as they are, and errors whose `code` is that of the server. */
const asDb = (db: Kysely<Database>, isClosed = (): boolean => false): Db => ({
  executeSql: async (text, values = []) => {
    // pg-boss may begin a maintenance pass while it stops; its statements would fail on the closed connection, so they never return.
    if (isClosed()) return new Promise(() => undefined)
    if (values.length > 0 || !/^\s*begin\b/i.test(text)) return executeText(db, text, values)
    // A statement text with its own transaction that fails leaves the connection inside that transaction.
    return db.connection().execute(async (one) => {
      try {
        return await executeText(one, text, values)
      } catch (error) {
        await executeText(one, 'rollback', []).catch(() => undefined)
        throw error
      }
    })
  },
})

/** Opens the queue of a host in a database; `supervises` also looks for claims without heartbeats. */
export async function openQueue<T extends object>(
  store: Pick<Store, 'kysely' | 'write' | 'file' | 'coordination'>,
  host: string,
  { supervises, onError }: { readonly supervises: boolean; readonly onError: (error: Error) => void },
): Promise<Queue<T>> {
  const { kysely: db, write } = store
  let closed = false
  const boss = new PgBoss({
    db: asDb(db, () => closed),
    schema: BOSS_SCHEMA,
    schedule: false,
    supervise: supervises,
    monitorVacuum: false,
    ...(supervises ? { superviseIntervalSeconds: 2, monitorIntervalSeconds: 2 } : {}),
  })
  boss.on('error', onError)
  const close = async (): Promise<void> => {
    await boss.stop({ graceful: false, close: false })
    closed = true
  }
  const { queue: name, dead } = queueOf(host)
  const retention = { retentionSeconds: 90 * 86_400, deleteAfterSeconds: 3_600 }
  try {
    await boss.start()
    await boss.createQueue(dead, { policy: 'standard', ...retention })
    await boss.createQueue(name, {
      policy: 'exclusive',
      deadLetter: dead,
      heartbeatSeconds: HEARTBEAT_S,
      expireInSeconds: 6 * 3_600,
      ...retention,
      retryLimit: RETRIES,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 600,
    })
  } catch (error) {
    // Timers of a queue that was begun keep the process alive.
    await close().catch(() => undefined)
    if (!(error instanceof RightsError) || (await isQueueMade(store))) throw error
    throw new NoQueueError('The database has no queue yet, and this user may not make it.', error)
  }
  const attempt = ({ id, retryCount }: Claim<T>) => ({ id, retryCount })
  const on = (tx: Kysely<Database> | undefined) => (tx ? { db: asDb(tx) } : {})
  const inserted = async (work: readonly Queued<T>[], options: object, tx?: Kysely<Database>): Promise<number> => {
    const rows = work.map(({ data, key, group, priority }) => ({
      data,
      priority,
      singletonKey: key,
      group: { id: group },
      ...options,
    }))
    return (await ofBoss(boss.insert(name, rows, { ...on(tx), returnId: true })))?.length ?? 0
  }
  const waiting = (queue = name) =>
    bossTables(db).selectFrom('job').where('name', '=', queue).where('state', 'in', OPEN_STATES)
  const kept = async (rows: ReturnType<typeof waiting>): Promise<Kept<T>[]> =>
    (await rows.select(['id', 'singleton_key', 'group_id', 'data']).execute()).map((row) => ({
      id: row.id,
      key: row.singleton_key ?? '',
      group: row.group_id ?? '',
      data: asData<T>(row.data),
    }))
  return {
    name,
    insert: (work) => inserted(work, {}),
    async claim(count) {
      const jobs = await ofBoss(boss.fetch<T>(name, { batchSize: count, includeMetadata: true }))
      return jobs.map(({ id, singletonKey, retryCount, priority, data }) => ({
        id,
        key: singletonKey ?? '',
        retryCount,
        priority,
        data: asData<T>(data),
      }))
    },
    async beat(claims) {
      if (claims.length === 0) return []
      const { settled } = (await ofBoss(boss.touch(name, claims.map(attempt)))) as {
        readonly settled?: readonly string[] | null
      }
      const valid = new Set(settled)
      return claims.filter(({ id }) => valid.has(id))
    },
    isValid: (claim, tx) => found(boss.touch(name, attempt(claim), on(tx))),
    complete: (claim, output, tx) => found(boss.complete(name, attempt(claim), output, on(tx))),
    fail: (claim, output, tx) => found(boss.fail(name, attempt(claim), output, on(tx))),
    putBack: (claim, work, afterS) =>
      write(async (tx) => {
        const ours = await found(boss.complete(name, attempt(claim), { putBack: true }, on(tx)))
        if (ours) await inserted([work], { startAfter: afterS }, tx)
        return ours
      }),
    open: (group) => kept(group === undefined ? waiting() : waiting().where('group_id', 'is distinct from', group)),
    async openAmong(keys) {
      const found = new Set<string>()
      for (const some of slices(keys))
        for (const { singleton_key } of await waiting()
          .where('singleton_key', 'in', some)
          .select('singleton_key')
          .execute())
          if (singleton_key !== null) found.add(singleton_key)
      return found
    },
    async left(group) {
      const { count } = await waiting()
        .where('group_id', '=', group)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    dead: () => kept(waiting(dead)),
    async removeDead(ids) {
      for (const some of slices(ids))
        await bossTables(db).deleteFrom('job').where('name', '=', dead).where('id', 'in', some).execute()
    },
    close,
  }
}
