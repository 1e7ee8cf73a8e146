import type pg from 'pg'
import { InputError } from '../../../util/errors.ts'
import { type QueryResult, VALUE_TYPES } from '../../engine.ts'
import {
  createMissingParameterError,
  createNoRowsError,
  createSeveralStatementsError,
  createSqlError,
  createValueTooLargeError,
  createWritingError,
} from '../../statementErrors.ts'
import { OID } from '../connection/binary.ts'
import type { Connection, ReadTransaction } from '../connection/connection.ts'
import { queryRows } from '../connection/statements.ts'
import { SYNTAX_ERROR, underlyingError } from '../storeErrors.ts'
import { bindParameters, findMissingParameter } from './parameters.ts'

/** Rows may be wide. */
const ROWS_PER_FETCH = 250

const INTEGERS: readonly number[] = [OID.int8, OID.int4, OID.int2]
const REALS: readonly number[] = [OID.float4, OID.float8]

const BYTEA = 17

/** A time of the server in UTC as ISO 8601: with seconds, or at least milliseconds. */
const isoTime = (value: string): string =>
  value
    .replace(' ', 'T')
    .replace(/\+00$/, 'Z')
    .replace(/(\.\d+)Z$/, (fraction) => `${fraction.slice(0, -1).padEnd(4, '0')}Z`)

/** Parses integers as bigints, times and other values as text. */
const exactTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid) => (value: unknown) => {
    if (typeof value !== 'string') return value
    if (INTEGERS.includes(oid)) return BigInt(value)
    if (oid === OID.bool) return value === 't' ? 1n : 0n
    if (oid === OID.numeric) return /^-?\d+$/.test(value) ? BigInt(value) : Number(value)
    if (REALS.includes(oid)) return Number(value)
    if (oid === OID.timestamptz || oid === OID.timestamp) return isoTime(value)
    return oid === BYTEA && value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : value
  },
}

/** The extended protocol permits only one statement: a second one could end the read-only transaction. */
const ONE_STATEMENT = { queryMode: 'extended' } as const

/** Statements that return rows, but not through a cursor. */
const RETURNS_ROWS = /^(explain|show)\b/i
/**
 * Returns true if a statement failed because it returns no rows: the error is at its first word, which is a keyword of the server. A
 * misspelled `select` is not a keyword.
 */
async function isWithoutRows({ kysely }: Connection, text: string, before: string, thrown: unknown): Promise<boolean> {
  const error = underlyingError(thrown) as { readonly code?: unknown; readonly position?: unknown }
  if (error.code !== SYNTAX_ERROR || Number(error.position) !== before.length + 1) return false
  const keyword = 'select from pg_get_keywords() where word = lower($1)'
  return text === '' || (await queryRows(kysely, keyword, [/^\w*/.exec(text)![0]])).length > 0
}

/** Refuses a statement with the syntax of SQLite. */
function refuseMatch(sql: string): void {
  if (!/\bsearch\s+match\b/i.test(sql)) return
  throw new InputError('PostgreSQL has no `match`. Search texts with `indicator-sync discover TEXT`.', {
    hint: "In SQL: select t.* from search s join texts t on t.id = s.id where s.words @@ to_tsquery('word:*')",
    code: 'bad-sql',
  })
}

/** The names of the tables of columns, by OID. */
async function readTableNames(client: ReadTransaction, fields: readonly pg.FieldDef[]): Promise<Map<number, string>> {
  const oids = [...new Set(fields.map(({ tableID }) => tableID))].filter((oid) => oid !== 0)
  if (oids.length === 0) return new Map()
  const { rows } = await client.query({
    text: 'select oid::int8 as oid, relname from pg_class where oid = any($1::oid[])',
    values: [oids],
  })
  return new Map(rows.map(({ oid, relname }) => [Number(oid), relname]))
}

function typeName(oid: number): string | null {
  if (INTEGERS.includes(oid)) return 'integer'
  if (REALS.includes(oid)) return 'real'
  return oid === OID.numeric ? null : 'text'
}

let cursors = 0

/** Runs a user's statement in a read-only transaction, and reads its rows on demand. */
export async function query(
  connection: Connection,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<QueryResult> {
  refuseMatch(sql)
  const text = bindParameters(sql, parameters)
  const client = await connection.beginReading()
  const name = `result_${++cursors}`
  const declaration = `declare ${name} no scroll cursor for `
  try {
    const send = (statement: string) =>
      client.query({ ...ONE_STATEMENT, text: statement, rowMode: 'array', types: exactTypes })
    if (RETURNS_ROWS.test(text)) {
      const { fields, rows } = await send(text)
      await client.end()
      return { columns: fields.map(({ name }) => ({ name, table: null, type: null })), rows: once(rows) }
    }
    await send(declaration + text)
    const { fields } = await send(`fetch 0 from ${name}`)
    const tables = await readTableNames(client, fields)
    const columns = fields.map(({ name, tableID, dataTypeID }) => ({
      name,
      table: tables.get(tableID) ?? null,
      type: typeName(dataTypeID),
    }))
    async function* rows(): QueryResult['rows'] {
      try {
        for (;;) {
          const { rows: block } = await send(`fetch ${ROWS_PER_FETCH} from ${name}`)
          if (block.length > 0) yield block
          if (block.length < ROWS_PER_FETCH) return
        }
      } catch (error) {
        throw asStatementError(error)
      } finally {
        await client.end()
      }
    }
    return { columns, rows: rows() }
  } catch (error) {
    await client.end()
    const missing = findMissingParameter(error, sql, parameters)
    if (missing !== undefined) throw createMissingParameterError(`Missing named parameter "${missing}".`, error)
    if (await isWithoutRows(connection, text, declaration, error)) throw createNoRowsError()
    throw asStatementError(error)
  }
}

async function* once(rows: unknown[][]): QueryResult['rows'] {
  if (rows.length > 0) yield rows
}

/** Errors of values that are too large for the server. */
const TOO_LARGE = /^(54000|53200)$/
const BAD_ALLOCATION = /^invalid memory alloc request size/

/** Turns an error of a user's statement into an expected one, with the words of the database. */
function asStatementError(thrown: unknown): unknown {
  const error = underlyingError(thrown)
  if (!(error instanceof Error)) return thrown
  const code = 'code' in error ? String(error.code) : ''
  if (TOO_LARGE.test(code) || BAD_ALLOCATION.test(error.message)) return createValueTooLargeError(error)
  const { message } = error
  if (/^(25006|0A000)$/.test(code) && /read-only transaction|data-modifying/.test(message))
    return createWritingError(error)
  if (code === SYNTAX_ERROR && /multiple commands/.test(message)) return createSeveralStatementsError(error)
  if (code === '42501')
    return new InputError(`SQL: ${message}.`, {
      hint: 'Check the privileges of the user in the database URL; docs/postgresql.md lists the roles.',
      code: 'not-allowed',
      cause: error,
    })
  // Syntax and names, invalid data, and unsupported features.
  return /^(42|22|0A|25001)/.test(code) ? createSqlError(error) : thrown
}

/** Finds the types of values in the columns of a statement. */
export async function findValueTypes(connection: Connection, sql: string, count: number): Promise<number[]> {
  const client = await connection.beginReading()
  try {
    const text = bindParameters(sql, {})
    const { fields } = await client.query({ ...ONE_STATEMENT, text: `select * from (${text}\n) q limit 0` })
    const sums = fields.map(({ dataTypeID }, i) => (dataTypeID === OID.numeric ? i : -1)).filter((i) => i >= 0)
    const names = Array.from({ length: count }, (_, i) => `c${i}`)
    const whole =
      sums.length === 0
        ? []
        : (
            await client.query({
              ...ONE_STATEMENT,
              text: `select ${sums.map((i) => `coalesce(bool_and(c${i} = trunc(c${i})), true)::int`)} from (${text}\n) q (${names})`,
              rowMode: 'array',
            })
          ).rows[0]!
    return fields.map(({ dataTypeID }, i) => {
      if (INTEGERS.includes(dataTypeID) || dataTypeID === OID.bool) return VALUE_TYPES.integer
      if (REALS.includes(dataTypeID)) return VALUE_TYPES.real
      if (dataTypeID === OID.numeric) return whole[sums.indexOf(i)] === 1 ? VALUE_TYPES.integer : VALUE_TYPES.real
      return VALUE_TYPES.text
    })
  } catch (error) {
    throw asStatementError(error)
  } finally {
    await client.end()
  }
}
