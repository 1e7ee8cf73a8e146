import { plain } from '../../reports/cells.ts'
import { redact } from '../../util/redact.ts'
import { oneLine } from '../../util/text.ts'
import { secrets } from './secrets.ts'
import { cutTo, width } from './width.ts'
import { wrapped } from './wrap.ts'

/** A result as rows: every row has the same columns. */
export interface ResultRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** A value for people, cut to a number of letters. Removing invisible characters may join the parts of a secret, so the result is redacted again. */
export function shown(value: unknown, letters = Number.POSITIVE_INFINITY): string {
  const whole = Buffer.isBuffer(value) ? `<${value.length} bytes>` : plain(value)
  const text = whole.length > letters ? `${whole.slice(0, letters)}…` : whole
  const line = oneLine(text)
  return line === text ? line : redact(line, secrets())
}

/** No terminal shows a longer line: a longer one is cut before it is examined letter by letter. */
const LONGEST_LINE = 4_000

/** Columns of words, which may be shortened; numbers, times and names to be typed may not. */
const WORDS_COLUMN = /\p{L}\S*\s+\S*\p{L}/u
/** How many cells are left of words, and of what is too long to be read or typed. */
const LEAST_WORDS = 8
const LEAST_LONG = 24
const LONG_TEXT = 40

/** The smallest useful width of a column, in cells. */
function leastWidth(column: string, texts: readonly string[], most: number): number {
  if (texts.some((text) => WORDS_COLUMN.test(text))) return Math.min(most, Math.max(width(column), LEAST_WORDS))
  return most > LONG_TEXT ? Math.max(width(column), LEAST_LONG) : most
}

/** A row a paragraph, a column a line, for rows that are too wide for the place. */
function paragraphs(columns: readonly string[], texts: readonly (readonly string[])[], cells: number): string {
  const name = Math.max(...columns.map(width)) + 2
  return texts
    .map((row, i) =>
      [
        `── ${i + 1} ${'─'.repeat(Math.max(0, Math.min(cells, 60) - 4 - String(i + 1).length))}`,
        ...columns.map((column, k) =>
          wrapped(
            row[k] ?? '',
            Math.max(cells, name + LEAST_LONG),
            ' '.repeat(name),
            column + ' '.repeat(name - width(column)),
          ).trimEnd(),
        ),
      ].join('\n'),
    )
    .join('\n')
}

/** Cells of a line: of the terminal, or of COLUMNS; unlimited for a file or a pipe. */
const cellsOfTable = (): number => process.stdout.columns ?? (Number(process.env.COLUMNS) || Number.POSITIVE_INFINITY)

/**
 * Aligned columns, numbers to the right. Where the place is too narrow, texts of several words are shortened, the widest
 * first; numbers, times and names never are. Where that is not enough, every row is a paragraph.
 */
export function tableText({ columns, rows }: ResultRows, cells = cellsOfTable()): string {
  const texts = rows.map((row) => row.map((value) => shown(value, LONGEST_LINE)))
  const widths = columns.map((column, i) =>
    texts.reduce((most, row) => Math.max(most, width(row[i] ?? '')), width(column)),
  )
  const total = () => widths.reduce((sum, w) => sum + w + 2, -2)
  if (total() > cells) {
    const least = columns.map((column, i) =>
      leastWidth(
        column,
        texts.map((row) => row[i] ?? ''),
        widths[i]!,
      ),
    )
    if (rows.length > 0 && least.reduce((sum, w) => sum + w + 2, -2) > cells) return paragraphs(columns, texts, cells)
    while (total() > cells) {
      const widest = widths.reduce((best, w, i) => (w > least[i]! && w > (widths[best] ?? 0) ? i : best), -1)
      if (widest < 0) break
      widths[widest]!--
    }
  }
  const right = columns.map(
    (_, i) => rows.length > 0 && rows.every((row) => row[i] === null || ['number', 'bigint'].includes(typeof row[i])),
  )
  const line = (cellsOfRow: readonly string[]): string =>
    cellsOfRow
      .map((text, i) => {
        const cut = cutTo(text, widths[i]!)
        const gap = ' '.repeat(widths[i]! - width(cut))
        return right[i] ? gap + cut : cut + gap
      })
      .join('  ')
      .trimEnd()
  return [line(columns), line(widths.map((w) => '─'.repeat(w))), ...texts.map(line)].join('\n')
}
