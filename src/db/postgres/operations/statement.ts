import type pg from 'pg'
import { InputError } from '../../../util/errors.ts'
import { type QueryResult, SEEN } from '../../engine.ts'
import {
  badSql,
  missingParameter,
  noWriting,
  severalStatements,
  valueTooLarge,
  withoutRows,
} from '../../statementErrors.ts'
import { OID } from '../connection/binary.ts'
import type { Connection, ReadTransaction } from '../connection/connection.ts'
import { underlyingError } from '../storeErrors.ts'

/** Rows of a user's statement that are read at a time: they may be wide. */
const ROWS_PER_FETCH = 250

const WHOLE: readonly number[] = [OID.int8, OID.int4, OID.int2]
const REAL: readonly number[] = [OID.float4, OID.float8]

const BYTEA = 17

/** A time as the server writes it in UTC, as ISO 8601: whole seconds, or at least milliseconds. */
const isoTime = (value: string): string =>
  value
    .replace(' ', 'T')
    .replace(/\+00$/, 'Z')
    .replace(/(\.\d+)Z$/, (fraction) => `${fraction.slice(0, -1).padEnd(4, '0')}Z`)

/** Whole numbers are bigints, as the interface says; times and all other values become text. */
const exactTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid) => (value: unknown) => {
    if (typeof value !== 'string') return value
    if (WHOLE.includes(oid)) return BigInt(value)
    if (oid === OID.bool) return value === 't' ? 1n : 0n
    if (oid === OID.numeric) return /^-?\d+$/.test(value) ? BigInt(value) : Number(value)
    if (REAL.includes(oid)) return Number(value)
    if (oid === OID.timestamptz || oid === OID.timestamp) return isoTime(value)
    return oid === BYTEA && value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : value
  },
}

/** A value as it stands in a statement. */
function valueLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return `(${value})::bigint`
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `(${value})::bigint` : `('${value}')::float8`
  const text = String(value).replaceAll('\0', '\uFFFD')
  return `(e'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}')::text`
}

type StatementParameters = Readonly<Record<string, unknown>>

/** Strings, quoted names, comments, dollar quotes, casts and words, in which nothing is a parameter; and parameters. */
const TOKEN =
  /e'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|::|:=|:([a-z_]\w*)|[a-z_][\w$]*/gi

/** A statement as it was written, with the values of its parameters in it. */
const writtenStatement = (sql: string, parameters: StatementParameters): string =>
  sql
    .replace(TOKEN, (text: string, _tag: unknown, name: string | undefined) =>
      name !== undefined && Object.hasOwn(parameters, name) ? valueLiteral(parameters[name]) : text,
    )
    .trim()
    .replace(/;+\s*$/, '')

/** Names the value that is missing where a statement could not be read: a `:name` may also be the end of an array slice. */
function explainMissingValue(thrown: unknown, sql: string, parameters: StatementParameters): void {
  const error = underlyingError(thrown)
  if (!(error instanceof Error && 'code' in error && error.code === '42601' && /":"/.test(error.message))) return
  const names = [...sql.matchAll(TOKEN)].flatMap(([, , name]) => name ?? [])
  const lacking = names.find((name) => !Object.hasOwn(parameters, name))
  if (lacking === undefined) return
  throw missingParameter(`Missing named parameter "${lacking}".`, error)
}

/** The protocol that takes one statement only: a second one after `;` could end the read-only transaction. */
const ONE_STATEMENT = { queryMode: 'extended' } as const

/** Statements that answer rows, but not through a cursor. */
const RETURNS_ROWS = /^(explain|show)\b/i
/** Statements that do something instead; what begins with any other word is a mistake, which the server names. */
const WRITING = `insert update delete merge replace truncate create drop alter comment grant revoke begin start commit end
  rollback abort savepoint release set reset discard lock copy do call vacuum analyze cluster reindex refresh checkpoint
  listen unlisten notify load prepare execute deallocate declare fetch move close import security pragma attach detach`
const WITHOUT_ROWS = new RegExp(`^(${WRITING.split(/\s+/).join('|')})\\b|^$`, 'i')

/** Refuses a statement with words that only SQLite has. */
function refuseOthers(sql: string): void {
  if (!/\bsearch\s+match\b/i.test(sql)) return
  throw new InputError('PostgreSQL has no `match`. Search texts with `indicator-sync discover TEXT`.', {
    hint: "In SQL: select t.* from search s join texts t on t.id = s.id where s.words @@ to_tsquery('word:*')",
    code: 'bad-sql',
  })
}

/** The tables that columns come from, by their numbers. */
async function tableNames(client: ReadTransaction, fields: readonly pg.FieldDef[]): Promise<Map<number, string>> {
  const oids = [...new Set(fields.map(({ tableID }) => tableID))].filter((oid) => oid !== 0)
  if (oids.length === 0) return new Map()
  const { rows } = await client.query({
    text: 'select oid::int8 as oid, relname from pg_class where oid = any($1::oid[])',
    values: [oids],
  })
  return new Map(rows.map(({ oid, relname }) => [Number(oid), relname]))
}

const typeName = (oid: number): string | null =>
  WHOLE.includes(oid) ? 'integer' : REAL.includes(oid) ? 'real' : oid === OID.numeric ? null : 'text'

let answers = 0

/** Runs a user's own statement in a read-only transaction, and passes its rows on as they are read. */
export async function query(
  connection: Connection,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<QueryResult> {
  refuseOthers(sql)
  const text = writtenStatement(sql, parameters)
  if (WITHOUT_ROWS.test(text)) throw withoutRows()
  const client = await connection.reading()
  try {
    const name = `answer_${++answers}`
    const send = (statement: string) =>
      client.query({ ...ONE_STATEMENT, text: statement, rowMode: 'array', types: exactTypes })
    if (RETURNS_ROWS.test(text)) {
      const { fields, rows } = await send(text)
      await client.end()
      return { columns: fields.map(({ name }) => ({ name, table: null, type: null })), rows: once(rows) }
    }
    await send(`declare ${name} no scroll cursor for ${text}`)
    const { fields } = await send(`fetch 0 from ${name}`)
    const tables = await tableNames(client, fields)
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
    explainMissingValue(error, sql, parameters)
    throw asStatementError(error)
  }
}

async function* once(rows: unknown[][]): QueryResult['rows'] {
  if (rows.length > 0) yield rows
}

/** What a server says of a value that it has no room for: a limit of its program, its memory, or an allocation that it refuses. */
const OUT_OF_ROOM = /^(54000|53200)$/
const NO_ROOM = /^invalid memory alloc request size/

/** An error in the statement keeps the words of the database; an error of the database has ours. */
function asStatementError(thrown: unknown): unknown {
  const error = underlyingError(thrown)
  if (!(error instanceof Error)) return thrown
  const code = 'code' in error ? String(error.code) : ''
  if (OUT_OF_ROOM.test(code) || NO_ROOM.test(error.message)) return valueTooLarge(error)
  const { message } = error
  if (/^(25006|0A000)$/.test(code) && /read-only transaction|data-modifying/.test(message)) return noWriting(error)
  if (code === '42601' && /multiple commands/.test(message)) return severalStatements(error)
  if (code === '42501')
    return new InputError(`SQL: ${message}.`, {
      hint: 'Check the privileges of the user in the database URL; docs/postgresql.md lists the roles.',
      code: 'not-allowed',
      cause: error,
    })
  // Syntax and names, data that does not fit, and what is unknown or not allowed to a reader.
  return /^(42|22|0A|25001)/.test(code) ? badSql(error) : thrown
}

/** Asks the database what the columns of a statement hold. */
export async function seen(connection: Connection, sql: string, count: number): Promise<number[]> {
  const client = await connection.reading()
  try {
    const text = writtenStatement(sql, {})
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
      if (WHOLE.includes(dataTypeID) || dataTypeID === OID.bool) return SEEN.integer
      if (REAL.includes(dataTypeID)) return SEEN.real
      if (dataTypeID === OID.numeric) return whole[sums.indexOf(i)] === 1 ? SEEN.integer : SEEN.real
      return SEEN.text
    })
  } catch (error) {
    throw asStatementError(error)
  } finally {
    await client.end()
  }
}
