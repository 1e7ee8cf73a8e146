import {
  type BinaryOperationNode,
  Kysely,
  OperatorNode,
  PostgresDialect,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
} from 'kysely'
import type pg from 'pg'
import { loadPackage } from '../../../util/package.ts'
import { shownAddress } from '../../address.ts'
import { answerLater } from '../../prepared.ts'
import type { Database } from '../../tables/schema.ts'
import { asStoreError, isLockWait, type LockingSession } from '../storeErrors.ts'
import { OID } from './binary.ts'
import { driverConfig } from './driverConfig.ts'
import { beginAlone, beginSession } from './session.ts'
import { later } from './statements.ts'

/** Numbers of our advisory locks: `INDS` in ASCII, then what is locked: the writer of a database, or its schema during a change. */
export const LOCKS = { program: 0x494e_4453, writer: 1, schema: 2 } as const

/**
 * Makes a single parameter of the list of an `in` or `not in`, so that the text of a query, and its prepared statement, is the
 * same however long the list is.
 */
class ListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node
    const word = OperatorNode.is(operator) ? operator.operator : undefined
    const list = PrimitiveValueListNode.is(rightOperand) ? rightOperand.values : undefined
    // The placeholders of a query that is being prepared are not plain values.
    const isPlain = list?.every((value) => typeof value === 'number' || typeof value === 'string')
    if (list && isPlain && (word === 'in' || word === 'not in')) {
      this.visitNode(leftOperand)
      this.append(word === 'in' ? ' = any(' : ' <> all(')
      this.appendValue([...list])
      this.append(')')
    } else super.visitBinaryOperation(node)
  }
}

/** The driver, loaded when the first address is opened: most commands never need it. */
const driver = (): typeof pg => loadPackage('pg')

/** A transaction that only reads. */
export interface ReadTransaction {
  query(question: pg.QueryConfig | pg.QueryArrayConfig): Promise<pg.QueryResult>
  end(): Promise<void>
}

/** A pool of connections to one database. */
export interface Connection {
  readonly kysely: Kysely<Database>
  /** A transaction that only reads, until it is ended. */
  reading(): Promise<ReadTransaction>
  /** From now until it is closed, every query sees the database as it is now. */
  beginSnapshot(): Promise<void>
  close(): Promise<void>
}

const TEXT_OIDS: readonly number[] = [
  ...[OID.date, OID.time, OID.timestamp, OID.timetz, OID.interval],
  ...[OID.json, OID.jsonb],
]

/**
 * Whole numbers of 64 bits and sums are read as numbers, booleans as 1 and 0, as SQLite has them; times and JSON as text.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === OID.int8 || oid === OID.numeric) return Number
    if (oid === OID.bool) return (text: string) => (text === 't' ? 1 : 0)
    // The views have times of our own, which are exact to the millisecond.
    if (oid === OID.timestamptz) return (text: string) => new Date(text).toISOString()
    if (TEXT_OIDS.includes(oid)) return String
    return driver().types.getTypeParser(oid, format)
  },
}

const CONNECT_MS = 20_000

/** What the driver needs to know of an address. */
const clientConfig = (address: string): pg.ClientConfig => ({
  application_name: 'indicator-sync',
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  types,
  ...driverConfig(address),
})

/** A client that ends when it cannot connect: where a server waits for a password that nobody has, it would keep the process alive. */
function endingClient(): typeof pg.Client {
  const { Client } = driver()
  class EndingClient extends Client {
    // The pool waits by a callback.
    override connect(...[connected]: unknown[]): never {
      const answered = (error: Error): void => {
        if (error) void this.end().catch(() => undefined)
        ;(connected as typeof answered)(error)
      }
      return super.connect(answered) as never
    }
  }
  return EndingClient
}

/** A connection outside the pool, with our settings. */
export async function connectAlone(address: string): Promise<pg.Client> {
  const client = new (driver().Client)(clientConfig(address))
  // The query that waits for an answer gets the error; if none does, the next one gets it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await beginAlone(client, address)
    return client
  } catch (error) {
    // An open connection keeps the process alive.
    void client.end().catch(() => undefined)
    throw error
  }
}

/** Works on a connection of its own, and ends it. */
export async function withClient<T>(address: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAlone(address)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * The session that most likely keeps others waiting: it has the strongest lock on a table of ours, or on its schema, and its
 * transaction is the oldest.
 */
const LOCK_HOLDER = `select a.pid, a.application_name as program, a.usename as role, a.state, a.xact_start::text as since,
    coalesce(l.relation::regclass::text, 'the schema') as object
  from pg_locks l join pg_stat_activity a on a.pid = l.pid left join pg_class c on c.oid = l.relation
  where l.granted and a.datname = current_database() and a.pid <> pg_backend_pid()
    and l.mode not in ('AccessShareLock', 'RowShareLock')
    and (c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      or l.locktype = 'advisory' and l.classid = ${LOCKS.program} and l.objid = ${LOCKS.schema})
  order by l.mode = 'AccessExclusiveLock' desc, l.mode <> 'RowExclusiveLock' desc, a.xact_start limit 1`

interface LockHolderRow {
  readonly pid: number
  readonly program: string
  readonly role: string
  readonly state: string | null
  readonly since: string | null
  readonly object: string
}

/** Turns an error into one of ours; a wait for a lock names the session that has it. */
export async function nameLock(error: unknown, address: string): Promise<unknown> {
  if (!isLockWait(error)) return asStoreError(error, shownAddress(address))
  let holder: LockingSession | undefined
  try {
    const { rows } = await withClient(address, (client) => client.query<LockHolderRow>(LOCK_HOLDER))
    if (rows[0]) {
      const { pid, program, role, state, since, object } = rows[0]
      const details = [program, `user ${role}`, state, since && `since ${since}`, `lock on ${object}`].filter(Boolean)
      holder = { pid, session: `Session ${pid} (${details.join(', ')})` }
    }
  } catch {
    // The original error is reported without a name.
  }
  return asStoreError(error, shownAddress(address), holder)
}

/** How many connections a pool has at the most, and what it does with each new one before anything else. */
export interface ConnectOptions {
  readonly connections: number
  readonly settings?: readonly string[]
  readonly first?: (client: pg.ClientBase) => Promise<void>
}

/** The answer to the last statement of a batch; none where the batch has a transaction of its own. */
const lastResult = (answer: pg.QueryResult | pg.QueryResult[]): unknown => {
  const last = Array.isArray(answer) ? answer.at(-1) : undefined
  return last && last.command !== 'COMMIT' ? last : answer
}

/** Opens a pool; nobody connects before the first query. */
export function connect(address: string, { connections, settings, first }: ConnectOptions): Connection {
  const pool = new (driver().Pool)({
    ...clientConfig(address),
    max: connections,
    Client: endingClient(),
    // Statements are sent without waiting for earlier answers; a caller that needs an answer waits for its own.
    pipeline: true,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    async onConnect(client) {
      // Also while somebody works with it: the next query gets the error.
      client.on('error', () => undefined)
      await beginSession(client, address, settings)
      await first?.(client)
    },
  })
  pool.on('error', () => undefined)
  const rethrow = async (error: unknown): Promise<never> => {
    throw await nameLock(error, address)
  }
  let frozen: pg.PoolClient | undefined
  const taken = new Set<pg.PoolClient>()
  const take = async (): Promise<pg.PoolClient> => {
    if (frozen) return frozen
    const client = await pool.connect().catch(rethrow)
    taken.add(client)
    return client
  }
  const releaseClient = (client: pg.PoolClient, error?: Error | boolean): void => {
    if (client !== frozen && taken.delete(client)) client.release(error)
  }
  let readings = 0
  const dialect = new PostgresDialect({
    pool: {
      options: {},
      async connect() {
        const client = await take()
        return {
          // A cursor is no promise.
          query: ((...question: Parameters<typeof client.query>) => {
            const answer: unknown = client.query(...question)
            return answer instanceof Promise ? answer.then(lastResult, rethrow) : answer
          }) as never,
          release: (discarded?: boolean) => releaseClient(client, discarded),
        }
      },
      end: async () => undefined,
    },
  })
  dialect.createQueryCompiler = () => new ListCompiler()
  const kysely = new Kysely<Database>({ dialect })
  answerLater(kysely.getExecutor().adapter, later)
  return {
    kysely,
    async reading() {
      const client = await take()
      // What fails inside of a frozen view ends alone.
      const name = `reading_${++readings}`
      const [begin, end] = frozen
        ? [`savepoint ${name}`, `rollback to savepoint ${name}; release savepoint ${name}`]
        : ['begin read only', 'rollback']
      let open = true
      await client.query(begin).catch(rethrow)
      return {
        query: (question) => client.query(question).catch(rethrow),
        async end() {
          if (!open) return
          open = false
          await client.query(end).then(
            () => releaseClient(client),
            (error: Error) => releaseClient(client, error),
          )
        },
      }
    },
    async beginSnapshot() {
      if (frozen) return
      const client = await take()
      // The first query fixes what the snapshot shows.
      await client.query('begin isolation level repeatable read read only; select 1').catch(rethrow)
      frozen = client
    },
    async close() {
      await kysely.destroy()
      // An answer that was not read to its end does not delay others.
      for (const client of taken) client.release(true)
      taken.clear()
      if (!pool.ended) await pool.end()
    },
  }
}
