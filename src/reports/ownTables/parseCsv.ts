import { InputError } from '../../util/errors.ts'
import { uniqueNames } from '../cells.ts'

/** A row of a CSV file: the number of its line, from 1, and its cells. An empty cell without quotes is null. */
interface CsvRow {
  readonly line: number
  readonly cells: readonly (string | null)[]
}

/** The separators of cells. */
type Separator = ';' | '\t' | ','

/** A CSV file: its separator, the names of its columns, and its rows. */
export interface CsvFile {
  readonly separator: Separator
  readonly names: readonly string[]
  readonly rows: readonly CsvRow[]
}

const SEPARATORS: readonly Separator[] = [';', '\t', ',']

/** Throws the error for a file that cannot be a table. `place`: its line and column. */
export function refuseCsv(file: string, place: string, message: string, hint: string): never {
  throw new InputError(`${file}, ${place}: ${message}`, { hint, code: 'bad-csv' })
}

/** Decodes UTF-8, else the Western European encoding of Excel. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Chooses the most frequent separator of the first line; Excel may name it in a line of its own: `sep=;`. */
function chooseSeparator(text: string): { separator: Separator; start: number } {
  const named = /^sep=([;\t,])\r?\n/i.exec(text)
  if (named) return { separator: named[1] as Separator, start: named[0].length }
  const unquoted = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/g, '')
  const count = (separator: Separator): number => unquoted.split(separator).length
  return { separator: SEPARATORS.reduce((best, next) => (count(next) > count(best) ? next : best)), start: 0 }
}

/** Splits a text into rows of cells (RFC 4180). Blank lines are skipped. */
function splitRows(file: string, text: string, separator: Separator, start: number): CsvRow[] {
  const rows: CsvRow[] = []
  // A cell in quotes, or one up to the next separator, and what ends it.
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|((?!")[^${separator}\r\n]*))(${separator}|\r\n|\n|\r|$)`, 'y')
  cell.lastIndex = start
  let line = text.slice(0, start).split('\n').length
  let cells: (string | null)[] = []
  let firstLine = line
  while (cell.lastIndex < text.length || cells.length > 0) {
    const match = cell.exec(text)
    if (!match)
      return refuseCsv(
        file,
        `line ${line}, cell ${cells.length + 1}`,
        'the quotes are wrong.',
        'Write a quote inside a cell as "".',
      )
    const [whole, quoted, plain, end] = match
    cells.push(quoted?.replaceAll('""', '"') ?? (plain!.trim() || null))
    line += whole.split(/\r\n|\n|\r/).length - 1
    if (end === separator) {
      // A separator at the very end is followed by one more empty cell.
      if (cell.lastIndex < text.length) continue
      cells.push(null)
    }
    if (cells.length > 1 || cells[0] !== null) rows.push({ line: firstLine, cells })
    cells = []
    firstLine = line
  }
  return rows
}

/** Parses CSV with commas, semicolons or tabs. The first row names the columns; `file` names it in errors. */
export function parseCsv(file: string, text: string): CsvFile {
  const { separator, start } = chooseSeparator(text)
  const [head, ...rows] = splitRows(file, text, separator, start)
  if (!head) return refuseCsv(file, 'line 1', 'the file is empty.', 'Its first line must name the columns.')
  const width = head.cells.length
  for (const { line, cells } of rows)
    if (cells.length !== width)
      refuseCsv(
        file,
        `line ${line}`,
        `the line has ${cells.length} cells, but the first one has ${width}.`,
        `Quote cells that contain ${separator === '\t' ? 'tabs' : JSON.stringify(separator)}.`,
      )
  const names = head.cells.map((name, i) => name?.trim() || `column_${i + 1}`)
  return { separator, names: uniqueNames(names), rows }
}
