import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { redact } from '../../base/redact.ts'
import { oneLine, visible } from '../../base/visible.ts'
import { secrets } from '../secrets.ts'
import { csvCell, type Dialect, jsonCell, plain } from './cells.ts'
import { asOutputError } from './pipes.ts'

/** A result as rows: every row has the same columns. */
export interface Result {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export const FORMATS = ['table', 'csv', 'json', 'ndjson', 'markdown'] as const
export type Format = (typeof FORMATS)[number]

/** Columns that a terminal cell takes: East Asian wide letters are not counted double, for the service has none. */
const width = (text: string): number => [...text].length
/** A value for people, or so many letters of it. What stood apart comes together when what is not seen is taken out: then it is looked through again. */
function shown(value: unknown, letters = Number.POSITIVE_INFINITY): string {
  const text = Buffer.isBuffer(value) ? `<${value.length} bytes>` : plain(value).slice(0, letters)
  const line = oneLine(text)
  return line === text ? line : redact(line, secrets())
}
/** No terminal shows more of a line: what is longer is cut before it is looked at letter by letter. */
const LETTERS = 4_000

/** Shortens a text to so many cells, with an ellipsis. */
const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${[...text].slice(0, Math.max(0, cells - 1)).join('')}…`

/** Aligned columns that fit a terminal: numbers to the right, the widest text columns shortened first. */
export function table({ columns, rows }: Result, cells = process.stdout.columns ?? 160): string {
  const texts = rows.map((row) => row.map((value) => shown(value, LETTERS)))
  const widths = columns.map((column, i) =>
    texts.reduce((most, row) => Math.max(most, width(row[i] ?? '')), width(column)),
  )
  const total = () => widths.reduce((sum, w) => sum + w + 2, -2)
  while (total() > cells && Math.max(...widths) > 8) widths[widths.indexOf(Math.max(...widths))]!--
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

/** How a form is written, where there is a choice. */
export interface FormOptions extends Dialect {
  /** Columns of the terminal. */
  readonly cells?: number
}

type Writer = (columns: readonly string[], rows: Iterable<readonly unknown[]>, options: FormOptions) => Iterable<string>

/** A row as an object of JSON. */
function objects(columns: readonly string[]): (row: readonly unknown[]) => string {
  const keys = columns.map((column) => `${JSON.stringify(column)}:`)
  return (row) => `{${keys.map((key, i) => key + jsonCell(row[i])).join(',')}}`
}

/** How each format is written, a line or so at a time; only a table has to see all rows first. */
const WRITERS: Readonly<Record<Format, Writer>> = {
  *table(columns, rows, { cells }) {
    yield `${table({ columns, rows: [...rows] }, cells)}\n`
  },
  *csv(columns, rows, dialect) {
    const between = dialect.excel ? ';' : ','
    const line = (cells: readonly unknown[]): string => `${cells.map((cell) => csvCell(cell, dialect)).join(between)}\n`
    yield (dialect.excel ? '\uFEFF' : '') + line(columns)
    for (const row of rows) yield line(row)
  },
  *json(columns, rows) {
    const object = objects(columns)
    let told = 0
    for (const row of rows) yield `${told++ === 0 ? '[\n' : ',\n'}  ${object(row)}`
    yield told === 0 ? '[]\n' : '\n]\n'
  },
  *ndjson(columns, rows) {
    const object = objects(columns)
    for (const row of rows) yield `${object(row)}\n`
  },
  *markdown(columns, rows) {
    const line = (cellsOfRow: readonly string[]): string => `| ${cellsOfRow.join(' | ')} |\n`
    yield line(columns)
    yield line(columns.map(() => '---'))
    for (const row of rows) yield line(row.map((value) => shown(value).replaceAll('|', '\\|')))
  },
}

/** Rows in one of the formats, in pieces. */
export const format = (
  how: Format,
  columns: readonly string[],
  rows: Iterable<readonly unknown[]>,
  options: FormOptions = {},
): Iterable<string> => WRITERS[how](columns, rows, options)

/** Prints a result to stdout, where scripts read it: nothing that only a terminal would see, and never a key. */
export function print(text: string): void {
  process.stdout.write(text === '' ? '' : `${visible(redact(text, secrets()))}\n`)
}

function* seen(pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield visible(piece)
}

/** What is said of an output whose reader has left, now or before. */
const LEFT = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE']

/** Prints pieces of text as they are made, no faster than they are read. A reader that leaves early, like `head`, is no error. */
export async function stream(pieces: Iterable<string>): Promise<void> {
  try {
    // A file gets texts as they are, a terminal nothing that would move it.
    const told = process.stdout.isTTY ? seen(pieces) : pieces
    await pipeline(Readable.from(told), process.stdout, { end: false })
  } catch (error) {
    if (!LEFT.includes((error as NodeJS.ErrnoException).code ?? '')) throw asOutputError(error)
  }
}

/** A number with thousands apart: 52,416. */
export const grouped = (n: number): string => n.toLocaleString('en-GB')
