import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type pg from 'pg'
import { sha256 } from '../../../util/checksum.ts'
import { isUnawaited } from '../../prepared.ts'

/*
 * The driver's pipeline mode sends each statement without waiting for the results of earlier ones. That gains time if a
 * transaction does not await every result, because a round trip takes longer than most statements.
 */

/** Maximum number of prepared statements of a connection. */
const MAX_PREPARED = 400

/** The SQLSTATE of every statement of a transaction after one that failed. */
const ABORTED = '25P02'

/** A connection that knows the transaction on it. */
interface PipelinedConnection extends DatabaseConnection {
  readonly client: pg.PoolClient
  /** True if the state of the connection is unknown, so that no other transaction uses it. */
  isDiscarded(): boolean
  begin(): void
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** Replaces NUL, which PostgreSQL does not store, by the replacement character. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value

/**
 * Sends statements on a client. Those with parameters are prepared once, because parsing and planning takes longer than most
 * statements. `prepares`: false behind a pooler, where another client may get the connection.
 */
function createSender(client: pg.ClientBase, prepares: boolean) {
  const names = new Map<string, string>()
  const findName = (sql: string): string | undefined => {
    const existing = names.get(sql)
    if (!prepares || existing !== undefined || names.size >= MAX_PREPARED) return existing
    const name = sha256(sql, 'base64url').slice(0, 40)
    names.set(sql, name)
    return name
  }
  return async (sql: string, parameters: readonly unknown[] = []): Promise<pg.QueryResult> => {
    const name = parameters.length === 0 ? undefined : findName(sql)
    const values = parameters.length === 0 ? undefined : parameters.map(storable)
    const result = await client.query({ text: sql, ...(values && { values }), ...(name && { name }) })
    // A text of several statements has a result for each.
    return Array.isArray(result) ? result.at(-1) : result
  }
}

const CHANGES = ['INSERT', 'UPDATE', 'DELETE', 'MERGE']

const asQueryResult = <R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> => ({
  rows: rows as R[],
  ...(CHANGES.includes(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
})

/** The clients of a pool. */
interface Clients {
  acquire(): Promise<pg.PoolClient>
  release(client: pg.PoolClient, isDiscarded: boolean): void
  /** Turns an error of a statement into an expected one. */
  describe(error: unknown): Promise<unknown>
}

/**
 * Runs statements on a client. If one fails that is not awaited, its transaction is aborted: the next awaited statement, at the
 * latest the commit, fails with the error of the first one.
 */
function createConnection(
  client: pg.PoolClient,
  prepares: boolean,
  describe: Clients['describe'],
): PipelinedConnection {
  const send = createSender(client, prepares)
  let transaction: { error?: unknown } | undefined
  let isDiscarded = false
  const sendInside = async (sql: string, parameters?: readonly unknown[]): Promise<pg.QueryResult> => {
    const current = transaction
    try {
      return await send(sql, parameters)
    } catch (error) {
      if (current) current.error ??= error
      throw (error as { code?: unknown }).code === ABORTED ? (current?.error ?? error) : error
    }
  }
  const described = async (sent: Promise<pg.QueryResult>): Promise<pg.QueryResult> => {
    try {
      return await sent
    } catch (error) {
      throw await describe(error)
    }
  }
  return {
    client,
    isDiscarded: () => isDiscarded,
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const sent = sendInside(query.sql, query.parameters)
      if (!(transaction && isUnawaited(query))) return asQueryResult(await described(sent))
      sent.catch(() => undefined)
      return { rows: [] }
    },
    streamQuery() {
      throw new Error('Rows of PostgreSQL are read through cursors of SQL.')
    },
    begin() {
      transaction = {}
      sendInside('begin').catch(() => undefined)
    },
    async commit() {
      const { command } = await described(sendInside('commit'))
      // The commit of an aborted transaction is a rollback.
      if (command === 'ROLLBACK')
        throw await describe(transaction?.error ?? new Error('The server rolled the transaction back.'))
      transaction = undefined
    },
    async rollback() {
      transaction = undefined
      try {
        await described(send('rollback'))
      } catch (error) {
        isDiscarded = true
        throw error
      }
    },
  }
}

/** Kysely's driver on pipelined clients of a pool. */
export function createDriver({ acquire, release, describe }: Clients, prepares: boolean): Driver {
  const connections = new WeakMap<pg.PoolClient, PipelinedConnection>()
  return {
    init: async () => undefined,
    async acquireConnection() {
      const client = await acquire()
      const connection = connections.get(client) ?? createConnection(client, prepares, describe)
      connections.set(client, connection)
      return connection
    },
    beginTransaction: async (connection) => (connection as PipelinedConnection).begin(),
    commitTransaction: (connection) => (connection as PipelinedConnection).commit(),
    rollbackTransaction: (connection) => (connection as PipelinedConnection).rollback(),
    async releaseConnection(connection) {
      const { client, isDiscarded } = connection as PipelinedConnection
      release(client, isDiscarded())
    },
    destroy: async () => undefined,
  }
}
