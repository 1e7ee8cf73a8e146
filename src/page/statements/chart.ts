import type { DrawnLine } from '../drawing.ts'
import type { StatementAnswer } from './statements.ts'

/** A day, or an instant with or without its offset. */
const TIME = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?)?$/
/** Columns of numbers that are not measurements. */
const NO_MEASURE = /(?:^|_)(?:id|at|s|geo|series)$/
/** How many lines can be distinguished. */
const MAX_CHART_LINES = 4

/** The instant of a cell of the first column; NaN where it is not a time. */
const timeOf = (cell: string | number | null): number =>
  typeof cell === 'string' && TIME.test(cell)
    ? Date.parse(/[T ]\d.*(?:Z|[+-]\d{2}:\d{2})$/.test(cell) ? cell : `${cell}${cell.length > 10 ? 'Z' : ''}`)
    : Number.NaN

/** The lines of an answer whose first column is a time; null where it has none. A time that comes twice does not make a line. */
export function linesOfAnswer({
  columns,
  rows,
}: StatementAnswer): { readonly lines: DrawnLine[]; readonly ends: [string, string] } | null {
  const times = rows.map(([cell]) => timeOf(cell ?? null))
  if (rows.length < 2 || times.some(Number.isNaN) || new Set(times).size < times.length) return null
  const order = times.map((_, i) => i).sort((a, b) => times[a]! - times[b]!)
  const measures = columns.flatMap((name, i) => {
    const cells = rows.map((row) => row[i] ?? null)
    const isMeasure = i > 0 && !NO_MEASURE.test(name) && cells.every((cell) => typeof cell !== 'string')
    return isMeasure && cells.some((cell) => cell !== null) ? [{ name, i }] : []
  })
  if (measures.length === 0) return null
  return {
    lines: measures.slice(0, MAX_CHART_LINES).map(({ name, i }) => ({
      name,
      points: order.map((row) => [times[row]!, rows[row]![i] as number | null] as const),
    })),
    ends: [String(rows[order[0]!]![0]), String(rows[order.at(-1)!]![0])],
  }
}
