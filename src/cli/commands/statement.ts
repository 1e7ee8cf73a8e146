import { InputError } from '../../base/errors.ts'
import type { openReader } from '../../db/open.ts'
import type { ExportColumn, Exported } from '../../products/export.ts'
import { TABLE_NAMES } from '../../tables/schema.ts'
import { lean, uniqueNames } from '../terminal/cells.ts'

type OpenReader = ReturnType<typeof openReader>
type Type = Exclude<ExportColumn['type'], 'instant'>

const OURS: ReadonlySet<string> = new Set(TABLE_NAMES)
const DECLARED: Readonly<Record<string, Type>> = { integer: 'integer', real: 'real', text: 'text' }
/** What a column was seen to hold, as bits. */
const SEEN = { integer: 1, real: 2, text: 4, huge: 8 } as const
/** Whole numbers beyond this are not exact as doubles. */
const EXACT = Number.MAX_SAFE_INTEGER

/** The type that holds all that was seen exactly. */
function typeFor(seen: number): Type {
  if (seen & SEEN.text || seen === 0) return 'text'
  if (!(seen & SEEN.real)) return 'integer'
  return seen & SEEN.huge ? 'text' : 'real'
}

/** What one value is, as bits. */
function bitsOf(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'bigint') return value > EXACT || value < -EXACT ? SEEN.integer | SEEN.huge : SEEN.integer
  return typeof value === 'number' ? SEEN.real : SEEN.text
}

/** Asks the database what the columns of a statement hold, from the first row to the last. */
function typesIn(db: OpenReader, sql: string, count: number): Type[] {
  const names = Array.from({ length: count }, (_, i) => `c${i}`)
  const bits = names.map(
    (name) => `max(typeof(${name}) = 'integer') * ${SEEN.integer} + max(typeof(${name}) = 'real') * ${SEEN.real}
      + max(typeof(${name}) in ('text', 'blob')) * ${SEEN.text}
      + max(typeof(${name}) = 'integer' and ${name} not between -${EXACT} and ${EXACT}) * ${SEEN.huge}`,
  )
  const plain = sql.trim().replace(/;+\s*$/, '')
  const statement = db.raw.prepare(`with q(${names.join(', ')}) as (${plain}\n) select ${bits.join(', ')} from q`)
  const row = statement.raw().get() as (number | null)[]
  return row.map((seen) => typeFor(seen ?? 0))
}

/**
 * The answer of a statement, whole numbers exact to 64 bits. With `typed`, each column has the type that holds all its rows:
 * one of a table says it itself, for the others the statement is asked once more.
 */
export function exportStatement(db: OpenReader, sql: string, typed: boolean): Exported {
  const statement = db.raw.prepare(sql)
  if (!statement.reader)
    throw new InputError('The statement answers no rows; only reading is possible.', {
      hint: 'Give a SELECT statement.',
      code: 'bad-export',
    })
  statement.raw().safeIntegers()
  const columns = statement.columns()
  const names = uniqueNames(columns.map(({ name }) => name))
  const declared = columns.map(({ table, type }) =>
    table !== null && OURS.has(table) ? DECLARED[type?.toLowerCase() ?? ''] : undefined,
  )
  let kept: unknown[][] | null = null
  let types: (Type | undefined)[] = declared
  // Both see the database at one instant, until it is closed.
  db.raw.exec('begin')
  try {
    if (typed && declared.includes(undefined)) types = typesIn(db, sql, columns.length)
  } catch {
    // What cannot stand inside another statement, such as a pragma, has few rows.
    kept = statement.all() as unknown[][]
    types = columns.map((_, i) => typeFor(kept!.reduce((seen, row) => seen | bitsOf(row[i]), 0)))
  }
  function* rows(): Generator<unknown[]> {
    for (const row of kept ?? (statement.iterate() as IterableIterator<unknown[]>)) yield row.map(lean)
  }
  return { columns: names.map((name, i) => ({ name, type: types[i] ?? 'text' })), rows: rows() }
}
