import { CompiledQuery, type Kysely, type QueryResult } from 'kysely'
import type pg from 'pg'
import { sha256 } from '../../../util/checksum.ts'
import type { Database } from '../../tables/schema.ts'

/** Statements that a connection keeps prepared. Those whose text depends on how much is wanted come and go unprepared. */
const KEPT = 400

/** PostgreSQL holds no text with a NUL; it is kept as the sign for what cannot be shown. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value

const LATER = '/* later */ '

/** Marks a statement inside a transaction whose answer is not waited for: each wait costs more than most of ours run. */
export const later = (sql: string): string => `${LATER}${sql}`

/** The SQLSTATE of every statement after one that failed. */
const ABORTED = '25P02'
const NO_RESULT = { command: '', rowCount: null, rows: [] }

/**
 * Makes a connection prepare each text of a statement with parameters once: parsing and planning takes longer than most of ours
 * run. A statement whose answer is not waited for is sent all the same. Where it fails, the next answer is its error, at the
 * latest that of the commit, which then does not happen. `kept` is false where another client may get the connection for the
 * next transaction: then nothing stays prepared.
 */
export function prepareOn(client: pg.ClientBase, kept = true): void {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text)
    if (!kept || known !== undefined || names.size >= KEPT) return known
    const name = sha256(text, 'base64url').slice(0, 40)
    names.set(text, name)
    return name
  }
  const query = client.query.bind(client) as (query: object) => Promise<pg.QueryResult>
  const send = (text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> => {
    if (values.length === 0) return query({ text })
    const name = nameOf(text)
    return query({ text, values: values.map(storable), ...(name === undefined ? {} : { name }) })
  }
  /** The first error of a statement in the transaction that was not waited for. */
  let failed: unknown
  let inside = false
  const withFirstError = async (answer: Promise<pg.QueryResult>): Promise<pg.QueryResult> => {
    try {
      const result = await answer
      if (result.command === 'ROLLBACK' && failed !== undefined) throw failed
      return result
    } catch (error) {
      throw (error as { code?: unknown }).code === ABORTED ? (failed ?? error) : error
    }
  }
  client.query = ((text: unknown, values?: readonly unknown[]) => {
    if (typeof text !== 'string') return query(text as object)
    if (text === 'begin') {
      inside = true
      failed = undefined
    } else if (!(inside && text.startsWith(LATER))) {
      if (text === 'rollback') failed = undefined
      if (text === 'rollback' || text === 'commit') inside = false
      return withFirstError(send(text, values))
    }
    send(text, values).catch((error: unknown) => {
      failed ??= error
    })
    return Promise.resolve(NO_RESULT)
  }) as typeof client.query
}

/** Runs a statement of ours, in the transaction or on the pool that it is given. */
export const runSql = <Row>(
  db: Kysely<Database>,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<QueryResult<Row>> => db.executeQuery(CompiledQuery.raw(sql, [...parameters])) as Promise<QueryResult<Row>>

/** Its rows. */
export const queryRows = async <Row>(
  db: Kysely<Database>,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> => (await runSql<Row>(db, sql, parameters)).rows

/** How many rows it changed. */
export const changedBy = async (db: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<number> =>
  Number((await runSql(db, sql, parameters)).numAffectedRows ?? 0n)

/** Changes rows inside of a transaction, and does not wait for it. */
export const sendSql = async (tx: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<void> =>
  void (await runSql(tx, later(sql), parameters))
