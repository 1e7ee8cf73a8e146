import { CompiledQuery, type Kysely, type QueryResult } from 'kysely'
import { unawaited } from '../../prepared.ts'
import type { Database } from '../../tables/schema.ts'

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

/** Sends a statement of a transaction without waiting for its result. */
export const sendSql = async (tx: Kysely<Database>, sql: string, parameters: readonly unknown[]): Promise<void> =>
  void (await tx.executeQuery(unawaited(CompiledQuery.raw(sql, [...parameters]))))
