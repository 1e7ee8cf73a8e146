import { type QueryResult, toBlocks, VALUE_TYPES } from '../../engine.ts'
import {
  createMissingParameterError,
  createNoRowsError,
  createSeveralStatementsError,
  createSqlError,
  createValueTooLargeError,
  createWritingError,
} from '../../statementErrors.ts'
import type { Connection } from '../connection.ts'
import { asStoreError } from '../storeErrors.ts'

/**
 * Turns an error of a user's statement into an expected one: InputError for a mistake of the user.
 */
function asStatementError(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_READONLY') return createWritingError(error)
  if (code.startsWith('SQLITE_ERROR')) return createSqlError(error)
  if (code === 'SQLITE_TOOBIG' || code === 'SQLITE_NOMEM') return createValueTooLargeError(error)
  if ((error instanceof RangeError || error instanceof TypeError) && /parameter/i.test(error.message))
    return createMissingParameterError(`${error.message}.`, error)
  if (error instanceof RangeError && /more than one statement/.test(error.message))
    return createSeveralStatementsError(error)
  if (error instanceof RangeError && /contains no statements/.test(error.message)) return createNoRowsError()
  return asStoreError(error, file)
}

/** The rows of a user's statement, with expected errors. */
async function* withStatementErrors(rows: QueryResult['rows'], file: string): QueryResult['rows'] {
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

/** Runs a user's statement. The connection is read-only. */
export function query(
  raw: Connection['raw'],
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): QueryResult {
  const statement = prepareStatement(raw, sql)
  if (!statement.reader) throw createNoRowsError()
  const bound = Object.keys(parameters).length > 0 ? [parameters] : []
  const rows = toBlocks(
    () =>
      statement
        .raw()
        .safeIntegers()
        .iterate(...bound) as IterableIterator<unknown[]>,
  )
  const columns = statement.columns().map(({ name, table, type }) => ({ name, table, type }))
  return { columns, rows: withStatementErrors(rows, raw.name) }
}

/** Texts, quoted names and comments, which contain no parameters. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/**
 * Finds the parameters of a statement: `:name`, `@name` and `$name`. SQLite knows them (sqlite3_bind_parameter_name), but
 * better-sqlite3 does not tell. The page offers a field for each, so a wrong one does no harm.
 */
export const findParameters = (sql: string): string[] => [
  ...new Set([...sql.replaceAll(QUOTED, ' ').matchAll(/[:@$]([A-Za-z_]\w*)/g)].map(([, name]) => name!)),
]

/** Finds the types of values in the columns of a statement, over all rows. */
export function findValueTypes(raw: Connection['raw'], sql: string, count: number): number[] {
  const names = Array.from({ length: count }, (_, i) => `c${i}`)
  const bits = names.map(
    (
      name,
    ) => `max(typeof(${name}) = 'integer') * ${VALUE_TYPES.integer} + max(typeof(${name}) = 'real') * ${VALUE_TYPES.real}
      + max(typeof(${name}) in ('text', 'blob')) * ${VALUE_TYPES.text}
      + max(typeof(${name}) = 'integer' and ${name} not between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}) * ${VALUE_TYPES.huge}`,
  )
  const plain = sql.trim().replace(/;+\s*$/, '')
  const statement = raw.prepare(`with q(${names.join(', ')}) as (${plain}\n) select ${bits.join(', ')} from q`)
  return (statement.raw().get() as (number | null)[]).map((types) => types ?? 0)
}
