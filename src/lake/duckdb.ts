import { loadPeer } from '../base/packages/peer.ts'

/** The part of `@duckdb/node-api` that is used. The package is optional, so its own types may not be installed. */
export interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string): Promise<{ connect(): Promise<DuckConnection>; closeSync(): void }>
  }
  readonly StatementType: { readonly SELECT: number; readonly EXPLAIN: number }
}
/** A connection to it. */
export interface DuckConnection {
  run(sql: string): Promise<unknown>
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>
  extractStatements(sql: string): Promise<{ readonly count: number; prepare(index: number): Promise<DuckStatement> }>
  closeSync(): void
}
/** One statement of it. */
export interface DuckStatement {
  readonly statementType: number
  stream(): Promise<{
    deduplicatedColumnNames(): string[]
    columnTypes(): { toString(): string }[]
    yieldRowsJson(): AsyncIterable<unknown[][]>
  }>
}

/** Loads DuckDB, where it is installed; `what` names what needs it, for the message. */
export const loadDuckDb = (what: string): Promise<DuckDb> =>
  loadPeer<DuckDb>('@duckdb/node-api', what, `leave out ${what}`)

/** A text as a literal of a statement. */
export const duckText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The first line of an error of DuckDB. */
export const duckWords = (error: unknown): string => (error as Error).message.split('\n')[0]!
