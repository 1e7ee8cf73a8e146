import { CompiledQuery, type Kysely, type QueryResult } from 'kysely'
import type pg from 'pg'
import { sha256 } from '../../../util/checksum.ts'
import type { Database } from '../../tables/schema.ts'

/** Maximum number of prepared statements of a connection. */
const MAX_PREPARED = 400

/** Replaces NUL, which PostgreSQL does not store, by the replacement character. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value

const LATER = '/* later */ '

/** Marks a statement of a transaction that is not awaited: a wait takes longer than most statements. */
export const later = (sql: string): string => `${LATER}${sql}`

/** The SQLSTATE of every statement after one that failed. */
const ABORTED = '25P02'
const NO_RESULT = { command: '', rowCount: null, rows: [] }

/**
 * Makes a connection prepare each statement with parameters once, because parsing and planning takes longer than most statements.
 * If a statement fails that is not awaited, the next result is its error, at the latest that of the commit, which then fails.
 * `prepares`: false behind a pooler, where another client may get the connection.
 */
export function prepareOn(client: pg.ClientBase, prepares = true): void {
  const names = new Map<string, string>()
  const findName = (text: string): string | undefined => {
    const existing = names.get(text)
    if (!prepares || existing !== undefined || names.size >= MAX_PREPARED) return existing
    const name = sha256(text, 'base64url').slice(0, 40)
    names.set(text, name)
    return name
  }
  const query = client.query.bind(client) as (query: object) => Promise<pg.QueryResult>
  const send = (text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> => {
    if (values.length === 0) return query({ text })
    const name = findName(text)
    return query({ text, values: values.map(storable), ...(name === undefined ? {} : { name }) })
  }
  /** The first error of a statement of the transaction that was not awaited. */
  let failed: unknown
  let isInside = false
  const withFirstError = async (pending: Promise<pg.QueryResult>): Promise<pg.QueryResult> => {
    try {
      const result = await pending
      if (result.command === 'ROLLBACK' && failed !== undefined) throw failed
      return result
    } catch (error) {
      throw (error as { code?: unknown }).code === ABORTED ? (failed ?? error) : error
    }
  }
  client.query = ((text: unknown, values?: readonly unknown[]) => {
    if (typeof text !== 'string') return query(text as object)
    if (text === 'begin') {
      isInside = true
      failed = undefined
    } else if (!(isInside && text.startsWith(LATER))) {
      if (text === 'rollback') failed = undefined
      if (text === 'rollback' || text === 'commit') isInside = false
      return withFirstError(send(text, values))
    }
    send(text, values).catch((error: unknown) => {
      failed ??= error
    })
    return Promise.resolve(NO_RESULT)
  }) as typeof client.query
}

/** Runs a statement in a transaction or on the pool. */
export const runSql = <Row>(
  db: Kysely<Database>,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<QueryResult<Row>> => db.executeQuery(CompiledQuery.raw(sql, [...parameters])) as Promise<QueryResult<Row>>

/** Runs a statement, and returns its rows. */
export const queryRows = async <Row>(
  db: Kysely<Database>,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> => (await runSql<Row>(db, sql, parameters)).rows

/** Runs a statement, and returns how many rows it changed. */
export const changedBy = async (db: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<number> =>
  Number((await runSql(db, sql, parameters)).numAffectedRows ?? 0n)

/** Runs a statement of a transaction without waiting for it. */
export const sendSql = async (tx: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<void> =>
  void (await runSql(tx, later(sql), parameters))
