import { allRows, VALUE_TYPES } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import { TABLE_NAMES } from '../../db/tables/schema.ts'
import { exactNumber, uniqueNames } from '../cells.ts'
import type { ExportColumn, ExportTable } from '../exportValues.ts'
import type { StatementRequest } from './runner.ts'

type Type = Exclude<ExportColumn['type'], 'instant'>

const TABLES: ReadonlySet<string> = new Set(TABLE_NAMES)
const DECLARED: Readonly<Record<string, Type>> = { integer: 'integer', real: 'real', text: 'text' }

/** Returns the type that holds all seen values exactly. */
function chooseType(seen: number): Type {
  if (seen & VALUE_TYPES.text || seen === 0) return 'text'
  if (!(seen & VALUE_TYPES.real)) return 'integer'
  return seen & VALUE_TYPES.huge ? 'text' : 'real'
}

/** Returns the bits of a value. */
function seenBits(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'bigint')
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER
      ? VALUE_TYPES.integer | VALUE_TYPES.huge
      : VALUE_TYPES.integer
  return typeof value === 'number' ? VALUE_TYPES.real : VALUE_TYPES.text
}

/**
 * Runs a query; whole numbers are exact to 64 bits. With `typed`, each column has a type that holds all its rows: a column of a table
 * declares it, for the others the query runs once more.
 */
export async function runQuery(
  { engine }: Reader,
  { sql, parameters, isTyped = false }: Omit<StatementRequest, 'file'>,
): Promise<ExportTable> {
  // Both queries see the database at one instant, until it is closed.
  if (isTyped) await engine.beginSnapshot()
  const result = await engine.query(sql, parameters)
  const { columns } = result
  const names = uniqueNames(columns.map(({ name }) => name))
  let types = columns.map(({ table, type }) =>
    table !== null && TABLES.has(table) ? DECLARED[type?.toLowerCase() ?? ''] : undefined,
  )
  let buffered: unknown[][] | null = null
  try {
    if (isTyped && types.includes(undefined)) types = (await engine.findValueTypes(sql, columns.length)).map(chooseType)
  } catch {
    // A statement that cannot be a subquery, such as a pragma, has few rows.
    const rows = await allRows(result.rows)
    buffered = rows
    types = columns.map((_, i) => chooseType(rows.reduce((seen, row) => seen | seenBits(row[i]), 0)))
  }
  async function* rows(): ExportTable['rows'] {
    for await (const block of buffered ? [buffered] : result.rows) yield block.map((row) => row.map(exactNumber))
  }
  return { columns: names.map((name, i) => ({ name, type: types[i] ?? 'text' })), rows: rows() }
}
