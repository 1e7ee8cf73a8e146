import type { Compilable, CompiledQuery, Insertable, Kysely } from 'kysely'
import type { Database, TableName } from './tables/schema.ts'

/** A query that is built and compiled once a database, and run with other parameters each time. */
export interface Prepared<P, T> {
  /** All rows. */
  all(db: Kysely<Database>, parameters: P): Promise<T[]>
  /** The first row; undefined where there is none. */
  first(db: Kysely<Database>, parameters: P): Promise<T | undefined>
  /**
   * Changes rows. A database on a server is not waited for: an error comes with the next statement, or at the end of the
   * transaction.
   */
  run(db: Kysely<Database>, parameters: P): Promise<void>
}

/** The result of a statement: its rows, and how many rows it changed. */
export interface StatementResult {
  readonly rows: unknown[]
  readonly changes: number
}

/** Runs a statement on the one connection of a database, at once. */
export type RunStatement = (sql: string, parameters: readonly unknown[]) => StatementResult

/** How the statements of a database are run, by its adapter. */
const RUNNERS = new WeakMap<object, RunStatement>()

/** Lets the prepared queries of a database bypass Kysely inside a transaction: they run directly on its one connection. */
export const runDirectly = (adapter: object, run: RunStatement): void => void RUNNERS.set(adapter, run)

/** How an adapter marks the text of a statement whose answer is not waited for. */
const UNANSWERED = new WeakMap<object, (sql: string) => string>()

/** Lets the prepared changes of a database be sent without waiting for their answers; `mark` marks the text of such a statement. */
export const answerLater = (adapter: object, mark: (sql: string) => string): void => void UNANSWERED.set(adapter, mark)

/** The key under which a placeholder holds the name of its parameter. */
const PARAMETER_NAME = Symbol('parameter')
type Placeholder = { readonly [PARAMETER_NAME]: string }
const isPlaceholder = (one: unknown): one is Placeholder =>
  typeof one === 'object' && one !== null && PARAMETER_NAME in one

/** Any property that is read is a placeholder for the parameter of that name. */
const PLACEHOLDERS = new Proxy({}, { get: (_, name): Placeholder => ({ [PARAMETER_NAME]: String(name) }) })

/**
 * Prepares a typed query that runs once a reply, or more often: building and compiling a query takes as long as running it ten
 * times. `build` is given placeholders instead of values: it may pass them to Kysely, but cannot decide by them.
 */
export function prepared<P extends object, T>(
  build: (db: Kysely<Database>, parameters: P) => Compilable<T>,
): Prepared<P, T> {
  const compiled = new WeakMap<object, CompiledQuery<T>>()
  const execute = async (
    db: Kysely<Database>,
    parameters: P,
    waited = true,
  ): Promise<Pick<StatementResult, 'rows'>> => {
    const executor = db.getExecutor()
    const { adapter, plugins } = executor
    let query = compiled.get(adapter)
    if (!query) {
      query = build(db, PLACEHOLDERS as P).compile()
      compiled.set(adapter, query)
    }
    const bound = query.parameters.map((one) => (isPlaceholder(one) ? parameters[one[PARAMETER_NAME] as keyof P] : one))
    const run = db.isTransaction && plugins.length === 0 ? RUNNERS.get(adapter) : undefined
    if (run) return run(query.sql, bound)
    const sql = (waited ? undefined : UNANSWERED.get(adapter))?.(query.sql) ?? query.sql
    return db.executeQuery({ ...query, sql, parameters: bound })
  }
  return {
    all: async (db, parameters) => (await execute(db, parameters)).rows as T[],
    first: async (db, parameters) => (await execute(db, parameters)).rows[0] as T | undefined,
    run: async (db, parameters) => void (await execute(db, parameters, false)),
  }
}

/** The columns of a table that some insert has. */
type InsertRow<T extends TableName, C extends keyof Insertable<Database[T]>> = Readonly<
  Pick<Insertable<Database[T]>, C>
>

/** Prepares the insert of rows with some columns of a table. */
export const preparedInsert = <T extends TableName, C extends keyof Insertable<Database[T]> & string>(
  table: T,
  columns: readonly C[],
): Prepared<InsertRow<T, C>, unknown> =>
  prepared((db, row: InsertRow<T, C>) =>
    db.insertInto<TableName>(table).values(Object.fromEntries(columns.map((column) => [column, row[column]])) as never),
  )
