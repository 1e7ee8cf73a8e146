import { CompiledQuery, type Kysely, type QueryResult } from 'kysely'
import type { Database } from '../../tables/schema.ts'
import { later } from './statements.ts'

/** Runs a statement of ours, in the transaction or on the pool that it is given. */
export const runSql = <Row>(
  db: Kysely<Database>,
  sql: string,
  parameters: readonly unknown[],
): Promise<QueryResult<Row>> => db.executeQuery(CompiledQuery.raw(sql, [...parameters])) as Promise<QueryResult<Row>>

/** Its rows. */
export const rowsOf = async <Row>(db: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<Row[]> =>
  (await runSql<Row>(db, sql, parameters)).rows

/** How many rows it changed. */
export const changedBy = async (db: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<number> =>
  Number((await runSql(db, sql, parameters)).numAffectedRows ?? 0n)

/** Changes rows inside of a transaction, and does not wait for it. */
export const sendSql = async (tx: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<void> =>
  void (await runSql(tx, later(sql), parameters))
