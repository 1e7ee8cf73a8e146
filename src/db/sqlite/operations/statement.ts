import { inBlocks, type QueryResult, SEEN } from '../../engine.ts'
import {
  badSql,
  missingParameter,
  noWriting,
  severalStatements,
  valueTooLarge,
  withoutRows,
} from '../../statementErrors.ts'
import type { Connection } from '../connection.ts'
import { asStoreError } from '../storeErrors.ts'

/**
 * Turns an error of SQLite or its driver about a user's own statement into one of ours: InputError where the user made a mistake.
 */
function asStatementError(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_READONLY') return noWriting(error)
  if (code.startsWith('SQLITE_ERROR')) return badSql(error)
  if (code === 'SQLITE_TOOBIG' || code === 'SQLITE_NOMEM') return valueTooLarge(error)
  if ((error instanceof RangeError || error instanceof TypeError) && /parameter/i.test(error.message))
    return missingParameter(`${error.message}.`, error)
  if (error instanceof RangeError && /more than one statement/.test(error.message)) return severalStatements(error)
  if (error instanceof RangeError && /contains no statements/.test(error.message)) return withoutRows()
  return asStoreError(error, file)
}

/** The rows of a user's statement; an error on the way becomes one of ours. */
async function* withOurErrors(rows: QueryResult['rows'], file: string): QueryResult['rows'] {
  try {
    yield* rows
  } catch (error) {
    throw asStatementError(error, file)
  }
}

function prepareStatement(raw: Connection['raw'], sql: string): ReturnType<Connection['raw']['prepare']> {
  try {
    return raw.prepare(sql)
  } catch (error) {
    throw asStatementError(error, raw.name)
  }
}

/** Runs a user's own statement; the connection itself cannot write. */
export function query(
  raw: Connection['raw'],
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): QueryResult {
  const statement = prepareStatement(raw, sql)
  if (!statement.reader) throw withoutRows()
  const bound = Object.keys(parameters).length > 0 ? [parameters] : []
  const rows = inBlocks(
    () =>
      statement
        .raw()
        .safeIntegers()
        .iterate(...bound) as IterableIterator<unknown[]>,
  )
  const columns = statement.columns().map(({ name, table, type }) => ({ name, table, type }))
  return { columns, rows: withOurErrors(rows, raw.name) }
}

/** Asks the database what the columns of a statement hold, from the first row to the last. */
export function seen(raw: Connection['raw'], sql: string, count: number): number[] {
  const names = Array.from({ length: count }, (_, i) => `c${i}`)
  const bits = names.map(
    (name) => `max(typeof(${name}) = 'integer') * ${SEEN.integer} + max(typeof(${name}) = 'real') * ${SEEN.real}
      + max(typeof(${name}) in ('text', 'blob')) * ${SEEN.text}
      + max(typeof(${name}) = 'integer' and ${name} not between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}) * ${SEEN.huge}`,
  )
  const plain = sql.trim().replace(/;+\s*$/, '')
  const statement = raw.prepare(`with q(${names.join(', ')}) as (${plain}\n) select ${bits.join(', ')} from q`)
  return (statement.raw().get() as (number | null)[]).map((stored) => stored ?? 0)
}
