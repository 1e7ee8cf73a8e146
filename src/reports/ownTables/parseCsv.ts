import { InputError } from '../../util/errors.ts'
import { grouped } from '../../util/text.ts'
import { uniqueNames } from '../cells.ts'

/** A row of a CSV file: the number of its line, from 1, and its cells. An empty cell without quotes is null. */
interface CsvRow {
  readonly line: number
  readonly cells: readonly (string | null)[]
  /** The numbers of the cells in quotes. */
  readonly quoted: ReadonlySet<number>
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

/** The first characters of files that are taken for CSV. */
const OTHER_FILES: readonly (readonly [beginning: string, what: string, hint: string])[] = [
  ['PK\x03\x04', 'a workbook or an archive', 'Save the sheet as CSV first.'],
  ['\xd0\xcf\x11\xe0', 'a workbook', 'Save the sheet as CSV first.'],
  ['SQLite format 3', 'an SQLite database', 'Export its table as CSV first.'],
  ['PAR1', 'a Parquet file', 'Convert it to CSV first.'],
]
const ENCODINGS: readonly (readonly [beginning: string, encoding: string])[] = [
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
]

/** Decodes UTF-8, UTF-16 with a byte order mark, else the Western European encoding of Excel. Refuses a file that is not text. */
function decodeText(file: string, bytes: Buffer): string {
  const beginning = bytes.toString('latin1', 0, 16)
  const other = OTHER_FILES.find(([start]) => beginning.startsWith(start))
  if (other) throw new InputError(`${file} is ${other[1]}, not CSV.`, { hint: other[2], code: 'bad-csv' })
  const encoding = ENCODINGS.find(([start]) => beginning.startsWith(start))?.[1]
  if (encoding) return new TextDecoder(encoding).decode(bytes)
  if (bytes.includes(0))
    throw new InputError(`${file} is not text: it has bytes that are zero.`, {
      hint: 'Save it as CSV in UTF-8.',
      code: 'bad-csv',
    })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** The values of more cells exceed the memory of a statement; both databases hold tables of so many columns. */
const MAX_CELLS = 1_000_000
const MAX_COLUMNS = 1000

/** Chooses the most frequent separator of the first line; Excel may name it in a line of its own: `sep=;`. */
function chooseSeparator(text: string): { separator: Separator; start: number } {
  const named = /^sep=([;\t,])\r?\n/i.exec(text)
  if (named) return { separator: named[1] as Separator, start: named[0].length }
  const unquoted = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/g, '')
  const count = (separator: Separator): number => unquoted.split(separator).length
  return { separator: SEPARATORS.reduce((best, next) => (count(next) > count(best) ? next : best)), start: 0 }
}

const NONE: ReadonlySet<number> = new Set()
/** Rows without quotes share an empty set, which saves memory. */
const quotedSet = (cells: readonly number[]): ReadonlySet<number> => (cells.length > 0 ? new Set(cells) : NONE)

/** Splits a text into rows of cells (RFC 4180). Blank lines and those of separators only, which Excel adds, are skipped. */
function splitRows(file: string, text: string, separator: Separator, start: number): CsvRow[] {
  const rows: CsvRow[] = []
  // A cell in quotes, or one up to the next separator, and what ends it.
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|((?!")[^${separator}\r\n]*))(${separator}|\r\n|\n|\r|$)`, 'y')
  cell.lastIndex = start
  let line = text.slice(0, start).split('\n').length
  let cells: (string | null)[] = []
  let quotedCells: number[] = []
  let count = 0
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
    if (quoted !== undefined) quotedCells.push(cells.length)
    cells.push(quoted?.replaceAll('""', '"') ?? (plain!.trim() || null))
    if (++count > MAX_CELLS)
      return refuseCsv(
        file,
        `line ${line}`,
        `the file has ${(text.length / 2 ** 20).toFixed(1)} MiB and more than ${grouped(MAX_CELLS)} cells, the limit.`,
        'Leave out rows and columns that the statement does not need.',
      )
    line += whole.split(/\r\n|\n|\r/).length - 1
    if (end === separator) {
      // A separator at the very end is followed by one more empty cell.
      if (cell.lastIndex < text.length) continue
      cells.push(null)
    }
    if (cells.some((value) => value !== null)) rows.push({ line: firstLine, cells, quoted: quotedSet(quotedCells) })
    cells = []
    quotedCells = []
    firstLine = line
  }
  return rows
}

/** Parses CSV with commas, semicolons or tabs. The first row names the columns; `file` names it in errors. */
export function parseCsv(file: string, bytes: Buffer): CsvFile {
  const text = decodeText(file, bytes)
  const { separator, start } = chooseSeparator(text)
  const [head, ...rows] = splitRows(file, text, separator, start)
  if (!head) return refuseCsv(file, 'line 1', 'the file is empty.', 'Its first line must name the columns.')
  const width = head.cells.length
  if (width > MAX_COLUMNS)
    refuseCsv(
      file,
      `line ${head.line}`,
      `the file has ${grouped(width)} columns; at most ${grouped(MAX_COLUMNS)} fit.`,
      'Leave out columns that the statement does not need.',
    )
  for (const { line, cells } of rows)
    if (cells.length !== width)
      refuseCsv(
        file,
        `line ${line}`,
        `the line has ${cells.length} cells, but the first one has ${width}.`,
        `Quote cells that contain ${separator === '\t' ? 'tabs' : JSON.stringify(separator)}.`,
      )
  const names = head.cells.map((name, i) => name?.trim() || `column_${i + 1}`)
  return { separator, names: uniqueNames(names, { ignoreCase: true }), rows }
}
