import {
  type BinaryOperationNode,
  Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
} from 'kysely'
import type pg from 'pg'
import { loadPackage } from '../../../util/package.ts'
import { shownAddress } from '../../address.ts'
import type { Database } from '../../tables/schema.ts'
import { asStoreError, isLockWait, type LockingSession } from '../storeErrors.ts'
import { OID } from './binary.ts'
import { driverConfig } from './driverConfig.ts'
import { createDriver } from './pipeline.ts'
import { beginAlone, beginSession, isPooled } from './session.ts'

/** Numbers of our advisory locks: `INDS` in ASCII with the writer of a database, or its schema during a migration. */
export const LOCKS = { program: 0x494e_4453, writer: 1, schema: 2 } as const

/**
 * Compiles the list of an `in` or `not in` to a single parameter, so that lists of all lengths share a prepared statement.
 */
class ListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node
    const name = OperatorNode.is(operator) ? operator.operator : undefined
    const list = PrimitiveValueListNode.is(rightOperand) ? rightOperand.values : undefined
    // The placeholders of a query that is being prepared are not plain values.
    const isPlain = list?.every((value) => typeof value === 'number' || typeof value === 'string')
    if (list && isPlain && (name === 'in' || name === 'not in')) {
      this.visitNode(leftOperand)
      this.append(name === 'in' ? ' = any(' : ' <> all(')
      this.appendValue([...list])
      this.append(')')
    } else super.visitBinaryOperation(node)
  }
}

/** The driver, loaded on demand, because most commands do not need it. */
const driver = (): typeof pg => loadPackage('pg')

/** A read-only transaction. */
export interface ReadTransaction {
  query(query: pg.QueryConfig | pg.QueryArrayConfig): Promise<pg.QueryResult>
  end(): Promise<void>
}

/** A pool of connections to one database. */
export interface Connection {
  readonly kysely: Kysely<Database>
  /** Begins a read-only transaction. */
  beginReading(): Promise<ReadTransaction>
  /** Fixes what queries see until the connection is closed. `prepare` may create temporary tables before. */
  beginSnapshot(prepare?: (client: pg.ClientBase) => Promise<void>): Promise<void>
  close(): Promise<void>
}

const TEXT_OIDS: readonly number[] = [OID.date, OID.time, OID.timestamp, OID.timetz, OID.interval, OID.json, OID.jsonb]

/**
 * Parses 64-bit integers and sums as numbers, booleans as 1 and 0 like SQLite, times and JSON as text.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === OID.int8 || oid === OID.numeric) return Number
    if (oid === OID.bool) return (text: string) => (text === 't' ? 1 : 0)
    // Times of views are exact to the millisecond.
    if (oid === OID.timestamptz) return (text: string) => new Date(text).toISOString()
    if (TEXT_OIDS.includes(oid)) return String
    return driver().types.getTypeParser(oid, format)
  },
}

const CONNECT_MS = 20_000

/** The settings of the driver. */
const clientConfig = (address: string): pg.ClientConfig => ({
  application_name: 'indicator-sync',
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  types,
  ...driverConfig(address),
})

/** A client that ends if it cannot connect: a server that waits for a password would keep the process alive. */
function endingClient(): typeof pg.Client {
  const { Client } = driver()
  class EndingClient extends Client {
    override connect(...args: unknown[]): never {
      // The pool passes a callback.
      const onConnected = args[0] as (error: Error) => void
      const endOnError = (error: Error): void => {
        if (error) void this.end().catch(() => undefined)
        onConnected(error)
      }
      return super.connect(endOnError) as never
    }
  }
  return EndingClient
}

/** Opens a connection outside the pool. */
export async function connectAlone(address: string): Promise<pg.Client> {
  const client = new (driver().Client)(clientConfig(address))
  // A pending query, or else the next one, gets the error.
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

/** Runs work on a separate connection, and ends it. */
export async function withClient<T>(address: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAlone(address)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * The session that most likely blocks others: with the strongest lock on a table or the schema, and the oldest transaction.
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

/** Turns an error into an expected one. Errors of a wait for a lock name the session that has it. */
export async function describeError(error: unknown, address: string): Promise<unknown> {
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
    // The error is reported without a name.
  }
  return asStoreError(error, shownAddress(address), holder)
}

/** The maximum number of connections, and the set-up of new ones. */
export interface ConnectOptions {
  readonly connections: number
  readonly settings?: readonly string[]
  readonly first?: (client: pg.ClientBase) => Promise<void>
}

/** Opens a pool, which connects with the first query. */
export function connect(address: string, { connections, settings, first }: ConnectOptions): Connection {
  const pool = new (driver().Pool)({
    ...clientConfig(address),
    max: connections,
    Client: endingClient(),
    // Statements are sent without waiting for earlier results.
    pipeline: true,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
    async onConnect(client) {
      // The next query gets the error.
      client.on('error', () => undefined)
      await beginSession(client, address, settings)
      await first?.(client)
    },
  })
  pool.on('error', () => undefined)
  const rethrow = async (error: unknown): Promise<never> => {
    throw await describeError(error, address)
  }
  let snapshot: pg.PoolClient | undefined
  const acquired = new Set<pg.PoolClient>()
  const acquire = async (): Promise<pg.PoolClient> => {
    if (snapshot) return snapshot
    const client = await pool.connect().catch(rethrow)
    acquired.add(client)
    return client
  }
  const releaseClient = (client: pg.PoolClient, error?: Error | boolean): void => {
    if (client !== snapshot && acquired.delete(client)) client.release(error)
  }
  let savepoints = 0
  const clients = { acquire, release: releaseClient, describe: (error: unknown) => describeError(error, address) }
  const queries = createDriver(clients, !isPooled(address))
  const kysely = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => queries,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new ListCompiler(),
    },
  })
  return {
    kysely,
    async beginReading() {
      const client = await acquire()
      // An error must not end the snapshot.
      const name = `reading_${++savepoints}`
      const [begin, end] = snapshot
        ? [`savepoint ${name}`, `rollback to savepoint ${name}; release savepoint ${name}`]
        : ['begin read only', 'rollback']
      let isOpen = true
      await client.query(begin).catch(rethrow)
      return {
        query: (query) => client.query(query).catch(rethrow),
        async end() {
          if (!isOpen) return
          isOpen = false
          await client.query(end).then(
            () => releaseClient(client),
            (error: Error) => releaseClient(client, error),
          )
        },
      }
    },
    async beginSnapshot(prepare) {
      if (snapshot) return
      const client = await acquire()
      await client.query(`begin isolation level repeatable read read ${prepare ? 'write' : 'only'}`).catch(rethrow)
      await prepare?.(client).catch(rethrow)
      // The first query fixes the snapshot. Afterwards, the transaction cannot become writable again.
      await client.query('set transaction read only; select 1').catch(rethrow)
      snapshot = client
    },
    async close() {
      await kysely.destroy()
      // Unfinished results must not delay others.
      for (const client of acquired) client.release(true)
      acquired.clear()
      if (!pool.ended) await pool.end()
    },
  }
}
