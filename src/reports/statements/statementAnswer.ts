import { allRows, SEEN } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import { TABLE_NAMES } from '../../db/tables/schema.ts'
import { exactNumber, uniqueNames } from '../cells.ts'
import type { ExportColumn, Exported } from '../export.ts'
import type { StatementRequest } from './runner.ts'

type Type = Exclude<ExportColumn['type'], 'instant'>

const OWN_NAMES: ReadonlySet<string> = new Set(TABLE_NAMES)
const DECLARED: Readonly<Record<string, Type>> = { integer: 'integer', real: 'real', text: 'text' }

/** The type that holds all that was seen exactly. */
function typeFor(seen: number): Type {
  if (seen & SEEN.text || seen === 0) return 'text'
  if (!(seen & SEEN.real)) return 'integer'
  return seen & SEEN.huge ? 'text' : 'real'
}

/** What one value is, as bits. */
function countBits(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'bigint')
    return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER ? SEEN.integer | SEEN.huge : SEEN.integer
  return typeof value === 'number' ? SEEN.real : SEEN.text
}

/**
 * The answer of a statement, whole numbers exact to 64 bits. With `typed`, each column has the type that holds all its rows:
 * a column of a table declares it; for the others the statement is run once more.
 */
export async function answerStatement(
  { engine }: Reader,
  { sql, parameters, typed = false }: Omit<StatementRequest, 'file'>,
): Promise<Exported> {
  // Both see the database at one instant, until it is closed.
  if (typed) await engine.beginSnapshot()
  const answer = await engine.query(sql, parameters)
  const { columns } = answer
  const names = uniqueNames(columns.map(({ name }) => name))
  const declared = columns.map(({ table, type }) =>
    table !== null && OWN_NAMES.has(table) ? DECLARED[type?.toLowerCase() ?? ''] : undefined,
  )
  let kept: unknown[][] | null = null
  let types: (Type | undefined)[] = declared
  try {
    if (typed && declared.includes(undefined)) types = (await engine.seen(sql, columns.length)).map(typeFor)
  } catch {
    // A statement that cannot be a subquery, such as a pragma, has few rows.
    kept = await allRows(answer.rows)
    types = columns.map((_, i) => typeFor(kept!.reduce((seen, row) => seen | countBits(row[i]), 0)))
  }
  async function* rows(): Exported['rows'] {
    for await (const block of kept ? [kept] : answer.rows) yield block.map((row) => row.map(exactNumber))
  }
  return { columns: names.map((name, i) => ({ name, type: types[i] ?? 'text' })), rows: rows() }
}
