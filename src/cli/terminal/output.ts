import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allRows } from '../../db/engine.ts'
import { csvCell, type Dialect, excelRows, jsonCell, tsvCell } from '../../reports/cells.ts'
import { redact } from '../../util/redact.ts'
import { grouped, visible } from '../../util/text.ts'
import type { FORMATS } from '../flags.ts'
import { asOutputError } from './pipes.ts'
import { secrets } from './secrets.ts'
import { cellText, tableText } from './table.ts'

export type Format = (typeof FORMATS)[number]

type Row = readonly unknown[]
type Blocks = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>
type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

/** Writes each block of rows as one piece. */
async function* writeLines(blocks: Blocks, line: (row: Row) => string): AsyncGenerator<string> {
  for await (const block of blocks) yield block.map(line).join('')
}

/** Writes a row as a JSON object. */
function objectWriter(columns: readonly string[]): (row: Row) => string {
  const keys = columns.map((column) => `${JSON.stringify(column)}:`)
  return (row) => `{${keys.map((key, i) => key + jsonCell(row[i])).join(',')}}`
}

type Writer = (columns: readonly string[], blocks: Blocks, dialect: Dialect) => AsyncIterable<string>

/** The writers of the formats. Only a table needs all rows before it can write. */
const WRITERS: Readonly<Record<Format, Writer>> = {
  async *table(columns, blocks) {
    yield `${tableText({ columns, rows: await allRows(blocks) })}\n`
  },
  async *csv(columns, blocks, dialect) {
    const separator = dialect.excel ? ';' : ','
    const line = (row: Row): string => `${row.map((cell) => csvCell(cell, dialect)).join(separator)}\n`
    yield dialect.excel ? '\uFEFF' : line(columns)
    yield* writeLines(dialect.excel ? excelRows(columns, blocks) : blocks, line)
  },
  async *tsv(columns, blocks) {
    const line = (row: Row): string => `${row.map(tsvCell).join('\t')}\n`
    yield line(columns)
    yield* writeLines(blocks, line)
  },
  async *json(columns, blocks) {
    const object = objectWriter(columns)
    let written = 0
    yield* writeLines(blocks, (row) => `${written++ === 0 ? '[\n' : ',\n'}  ${object(row)}`)
    yield written === 0 ? '[]\n' : '\n]\n'
  },
  async *ndjson(columns, blocks) {
    const object = objectWriter(columns)
    yield* writeLines(blocks, (row) => `${object(row)}\n`)
  },
  async *markdown(columns, blocks) {
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
    yield line(columns) + line(columns.map(() => '---'))
    yield* writeLines(blocks, (row) => line(row.map((value) => cellText(value).replaceAll('|', '\\|'))))
  },
}

/** Writes rows in a format, in pieces. */
export const format = (
  name: Format,
  columns: readonly string[],
  blocks: Blocks,
  dialect: Dialect = {},
): AsyncIterable<string> => WRITERS[name](columns, blocks, dialect)

/** Prints a result to stdout, without keys and invisible characters. */
export function print(text: string): void {
  process.stdout.write(text === '' ? '' : `${visible(redact(text, secrets()))}\n`)
}

/** Prints a result as JSON with `--json`, else as text. */
export const printResult = ({ json }: { readonly json: boolean }, result: unknown, text: string): void =>
  print(json ? JSON.stringify(result, null, 2) : text)

/** Says on stderr that `--limit` left rows out. `rest`: what the rows are, if the total alone could be misread. */
export function warnOfLimit({ quiet }: { readonly quiet: boolean }, shown: number, total: number, rest = ''): void {
  if (shown < total && !quiet)
    process.stderr.write(
      `Showing the first ${grouped(shown)} of ${grouped(total)}${rest}. Use --limit 0 to show all.\n`,
    )
}

async function* makeVisible(pieces: Pieces): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? visible(piece) : piece
}

/** Error codes of an output whose reader has closed it. */
const READER_LEFT = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE']

/** Prints pieces no faster than they are read. A reader that leaves early, like `head`, is not an error. */
export async function stream(pieces: Pieces): Promise<void> {
  try {
    // A file gets the texts unchanged, a terminal without control characters.
    const printed = process.stdout.isTTY ? makeVisible(pieces) : pieces
    await pipeline(Readable.from(printed), process.stdout, { end: false })
  } catch (error) {
    if (!READER_LEFT.includes((error as NodeJS.ErrnoException).code ?? '')) throw asOutputError(error)
  }
}
