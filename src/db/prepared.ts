import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Database } from './tables/schema.ts'

/** A query that is compiled once for each database, and run with different parameters. */
export interface Prepared<P, T> {
  /** All rows. */
  all(db: Kysely<Database>, parameters: P): Promise<T[]>
  /** The first row; undefined if there is none. */
  first(db: Kysely<Database>, parameters: P): Promise<T | undefined>
  /**
   * Changes rows. Does not wait for a server: its error comes with the next statement, or at the end of the transaction.
   */
  run(db: Kysely<Database>, parameters: P): Promise<void>
}

/** The rows of a statement, and how many rows it changed. */
export interface StatementResult {
  readonly rows: unknown[]
  readonly changes: number
}

/** Runs a statement synchronously on the only connection of a database. */
export type RunStatement = (sql: string, parameters: readonly unknown[]) => StatementResult

/** The runners of databases by adapter. */
const RUNNERS = new WeakMap<object, RunStatement>()

/** Lets prepared queries bypass Kysely inside a transaction: they run directly on the only connection. */
export const runDirectly = (adapter: object, run: RunStatement): void => void RUNNERS.set(adapter, run)

/**
 * A query of a transaction whose result is not awaited. A server receives it at once, and its error comes with the next statement
 * or the commit. A file runs it as any other.
 */
interface UnawaitedQuery<T = unknown> extends CompiledQuery<T> {
  readonly isUnawaited: true
}

export const unawaited = <T>(query: CompiledQuery<T>): UnawaitedQuery<T> => ({ ...query, isUnawaited: true })

export const isUnawaited = (query: CompiledQuery): query is UnawaitedQuery => 'isUnawaited' in query

const PARAMETER_NAME = Symbol('parameter')
type Placeholder = { readonly [PARAMETER_NAME]: string }
const isPlaceholder = (value: unknown): value is Placeholder =>
  typeof value === 'object' && value !== null && PARAMETER_NAME in value

/** A placeholder for each parameter, under its name. */
const createPlaceholders = <P extends object>(parameters: P): P =>
  Object.fromEntries(Object.keys(parameters).map((name) => [name, { [PARAMETER_NAME]: name }])) as P

/**
 * Prepares a typed query that runs for every reply: compiling a query takes as long as running it ten times. `build` receives
 * placeholders instead of values, so it cannot decide by them. All calls must have the same parameters.
 */
export function prepareQuery<P extends object, T>(
  build: (db: Kysely<Database>, parameters: P) => Compilable<T>,
): Prepared<P, T> {
  const compiled = new WeakMap<object, CompiledQuery<T>>()
  const execute = async (
    db: Kysely<Database>,
    parameters: P,
    isAwaited = true,
  ): Promise<Pick<StatementResult, 'rows'>> => {
    const executor = db.getExecutor()
    const { adapter, plugins } = executor
    let query = compiled.get(adapter)
    if (!query) {
      query = build(db, createPlaceholders(parameters)).compile()
      compiled.set(adapter, query)
    }
    const bound = query.parameters.map((value) =>
      isPlaceholder(value) ? parameters[value[PARAMETER_NAME] as keyof P] : value,
    )
    const run = db.isTransaction && plugins.length === 0 ? RUNNERS.get(adapter) : undefined
    if (run) return run(query.sql, bound)
    const complete = { ...query, parameters: bound }
    return db.executeQuery(isAwaited ? complete : unawaited(complete))
  }
  return {
    all: async (db, parameters) => (await execute(db, parameters)).rows as T[],
    first: async (db, parameters) => (await execute(db, parameters)).rows[0] as T | undefined,
    run: async (db, parameters) => void (await execute(db, parameters, false)),
  }
}
