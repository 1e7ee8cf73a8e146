import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allRows } from '../../db/engine.ts'
import { csvCell, type Dialect, excelRows, jsonCell, tsvCell } from '../../reports/cells.ts'
import { redact } from '../../util/redact.ts'
import { visible } from '../../util/text.ts'
import type { FORMATS } from '../flags.ts'
import { asOutputError } from './pipes.ts'
import { secrets } from './secrets.ts'
import { shown, tableText } from './table.ts'

export type Format = (typeof FORMATS)[number]

/** How a form is written, where there is a choice. */
export interface FormOptions extends Dialect {
  /** Columns of the terminal. */
  readonly cells?: number
}

/** Rows some at a time. */
export type OutputRows = AsyncIterable<readonly (readonly unknown[])[]> | Iterable<readonly (readonly unknown[])[]>

type Writer = (columns: readonly string[], rows: OutputRows, options: FormOptions) => AsyncIterable<string>

/** A row as an object of JSON. */
function objectWriter(columns: readonly string[]): (row: readonly unknown[]) => string {
  const keys = columns.map((column) => `${JSON.stringify(column)}:`)
  return (row) => `{${keys.map((key, i) => key + jsonCell(row[i])).join(',')}}`
}

/** How each format is written, some lines at a time; only a table has to see all rows first. */
const WRITERS: Readonly<Record<Format, Writer>> = {
  async *table(columns, blocks, { cells }) {
    yield `${tableText({ columns, rows: await allRows(blocks) }, cells)}\n`
  },
  async *csv(columns, rows, dialect) {
    const between = dialect.excel ? ';' : ','
    const line = (cells: readonly unknown[]): string => `${cells.map((cell) => csvCell(cell, dialect)).join(between)}\n`
    if (dialect.excel) {
      yield '\uFEFF'
      for await (const block of excelRows(columns, rows)) yield block.map(line).join('')
    } else {
      yield line(columns)
      for await (const block of rows) yield block.map(line).join('')
    }
  },
  async *tsv(columns, rows) {
    const line = (cells: readonly unknown[]): string => `${cells.map(tsvCell).join('\t')}\n`
    yield line(columns)
    for await (const block of rows) yield block.map(line).join('')
  },
  async *json(columns, rows) {
    const object = objectWriter(columns)
    let written = 0
    for await (const block of rows)
      yield block.map((row) => `${written++ === 0 ? '[\n' : ',\n'}  ${object(row)}`).join('')
    yield written === 0 ? '[]\n' : '\n]\n'
  },
  async *ndjson(columns, rows) {
    const object = objectWriter(columns)
    for await (const block of rows) yield block.map((row) => `${object(row)}\n`).join('')
  },
  async *markdown(columns, rows) {
    const line = (cellsOfRow: readonly string[]): string => `| ${cellsOfRow.join(' | ')} |\n`
    yield line(columns)
    yield line(columns.map(() => '---'))
    const lineOf = (row: readonly unknown[]): string => line(row.map((value) => shown(value).replaceAll('|', '\\|')))
    for await (const block of rows) yield block.map(lineOf).join('')
  },
}

/** Rows in one of the formats, in pieces. */
export const format = (
  how: Format,
  columns: readonly string[],
  rows: OutputRows,
  options: FormOptions = {},
): AsyncIterable<string> => WRITERS[how](columns, rows, options)

/** Prints a result to stdout, where scripts read it: nothing that only a terminal would see, and never a key. */
export function print(text: string): void {
  process.stdout.write(text === '' ? '' : `${visible(redact(text, secrets()))}\n`)
}

async function* visiblePieces(pieces: Parameters<typeof stream>[0]): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? visible(piece) : piece
}

/** Error codes of an output whose reader has closed it. */
const READER_LEFT = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE']

/** Prints pieces as they are made, no faster than they are read. A reader that leaves early, like `head`, is not an error. */
export async function stream(
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  try {
    // A file gets texts as they are, a terminal nothing that would move it.
    const printed = process.stdout.isTTY ? visiblePieces(pieces) : pieces
    await pipeline(Readable.from(printed), process.stdout, { end: false })
  } catch (error) {
    if (!READER_LEFT.includes((error as NodeJS.ErrnoException).code ?? '')) throw asOutputError(error)
  }
}
