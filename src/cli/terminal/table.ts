import { plain } from '../../reports/cells.ts'
import { redact } from '../../util/redact.ts'
import { oneLine } from '../../util/text.ts'
import { secrets } from './secrets.ts'
import { cutTo, width, wrapText } from './width.ts'

/** A result whose rows all have the same columns. */
export interface ResultRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** Longer values are cut before they are examined letter by letter: no terminal shows such a line. */
const MAX_CHARACTERS = 4_000

/** Writes a value in one line. Removing invisible characters may join the parts of a secret, so the line is redacted again. */
export function cellText(value: unknown, characters = Number.POSITIVE_INFINITY): string {
  const whole = Buffer.isBuffer(value) ? `<${value.length} bytes>` : plain(value)
  const text = whole.length > characters ? `${whole.slice(0, characters)}…` : whole
  const line = oneLine(text)
  return line === text ? line : redact(line, secrets())
}

/** Texts of several words may be shortened; numbers, times and names to be typed may not. */
const SEVERAL_WORDS = /\p{L}\S*\s+\S*\p{L}/u
/** The least cells of words, and of texts that are too long to be read or typed. */
const MIN_WORDS = 8
const MIN_LONG = 24
const LONG_TEXT = 40

/** Returns the smallest useful width of a column, in cells. */
function minWidth(column: string, texts: readonly string[], max: number): number {
  if (texts.some((text) => SEVERAL_WORDS.test(text))) return Math.min(max, Math.max(width(column), MIN_WORDS))
  return max > LONG_TEXT ? Math.max(width(column), MIN_LONG) : max
}

/** Writes each row as a paragraph with a line for each column, for rows that are too wide. */
function paragraphs(columns: readonly string[], texts: readonly (readonly string[])[], cells: number): string {
  const margin = Math.max(...columns.map(width)) + 2
  const room = Math.max(cells, margin + MIN_LONG)
  return texts
    .flatMap((row, i) => [
      `── ${i + 1} ${'─'.repeat(Math.max(0, Math.min(cells, 60) - 4 - String(i + 1).length))}`,
      ...columns.map((column, k) => {
        const label = column + ' '.repeat(margin - width(column))
        return wrapText(row[k] ?? '', room, ' '.repeat(margin), label).trimEnd()
      }),
    ])
    .join('\n')
}

/** The cells of a line: of the terminal, or of COLUMNS; unlimited for a file or a pipe. */
const tableWidth = (): number => process.stdout.columns ?? (Number(process.env.COLUMNS) || Number.POSITIVE_INFINITY)

const isNumber = (value: unknown): boolean => value === null || typeof value === 'number' || typeof value === 'bigint'

/**
 * Writes aligned columns, numbers to the right. If they are too wide, shortens texts of several words, the widest first. If that
 * is not enough, writes paragraphs.
 */
export function tableText({ columns, rows }: ResultRows, cells = tableWidth()): string {
  const texts = rows.map((row) => row.map((value) => cellText(value, MAX_CHARACTERS)))
  const widths = columns.map((column, i) =>
    texts.reduce((max, row) => Math.max(max, width(row[i] ?? '')), width(column)),
  )
  const total = (parts: readonly number[]) => parts.reduce((sum, part) => sum + part + 2, -2)
  if (total(widths) > cells) {
    const columnTexts = (i: number) => texts.map((row) => row[i] ?? '')
    const least = columns.map((column, i) => minWidth(column, columnTexts(i), widths[i]!))
    if (rows.length > 0 && total(least) > cells) return paragraphs(columns, texts, cells)
    while (total(widths) > cells) {
      const widest = widths.reduce((best, w, i) => (w > least[i]! && w > (widths[best] ?? 0) ? i : best), -1)
      if (widest < 0) break
      widths[widest]!--
    }
  }
  const isRight = columns.map((_, i) => rows.length > 0 && rows.every((row) => isNumber(row[i])))
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => {
        const cut = cutTo(text, widths[i]!)
        const gap = ' '.repeat(widths[i]! - width(cut))
        return isRight[i] ? gap + cut : cut + gap
      })
      .join('  ')
      .trimEnd()
  return [line(columns), line(widths.map((columnWidth) => '─'.repeat(columnWidth))), ...texts.map(line)].join('\n')
}
