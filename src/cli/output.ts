import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A result as rows: every row has the same columns. */
export interface Result {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

export const FORMATS = ['table', 'csv', 'json', 'ndjson', 'markdown'] as const
export type Format = (typeof FORMATS)[number]

/** Columns that a terminal cell takes: East Asian wide letters are not counted double, for the service has none. */
const width = (text: string): number => [...text].length
const plain = (value: unknown): string =>
  value === null || value === undefined ? '' : Buffer.isBuffer(value) ? `<${value.length} bytes>` : String(value)
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
const jsonable = (value: unknown): unknown => (Buffer.isBuffer(value) ? value.toString('base64') : value)
const object = (columns: readonly string[], row: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(columns.map((column, i) => [column, jsonable(row[i])]))
const csvCell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Shortens a text to so many cells, with an ellipsis. */
const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${[...text].slice(0, Math.max(0, cells - 1)).join('')}…`

/** Aligned columns that fit a terminal: numbers to the right, the widest text columns shortened first. */
export function table({ columns, rows }: Result, cells = process.stdout.columns ?? 160): string {
  const texts = rows.map((row) => row.map((value) => oneLine(plain(value))))
  const widths = columns.map((column, i) =>
    texts.reduce((most, row) => Math.max(most, width(row[i] ?? '')), width(column)),
  )
  const total = () => widths.reduce((sum, w) => sum + w + 2, -2)
  while (total() > cells && Math.max(...widths) > 8) widths[widths.indexOf(Math.max(...widths))]!--
  const right = columns.map(
    (_, i) => rows.length > 0 && rows.every((row) => row[i] === null || typeof row[i] === 'number'),
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

type Writer = (columns: readonly string[], rows: Iterable<readonly unknown[]>, cells?: number) => Iterable<string>

/** How each format is written, a line or so at a time; only a table has to see all rows first. */
const WRITERS: Readonly<Record<Format, Writer>> = {
  *table(columns, rows, cells) {
    yield `${table({ columns, rows: [...rows] }, cells)}\n`
  },
  *csv(columns, rows) {
    yield `${columns.map(csvCell).join(',')}\n`
    for (const row of rows) yield `${row.map((value) => csvCell(plain(value))).join(',')}\n`
  },
  *json(columns, rows) {
    let told = 0
    for (const row of rows) yield `${told++ === 0 ? '[\n' : ',\n'}  ${JSON.stringify(object(columns, row))}`
    yield told === 0 ? '[]\n' : '\n]\n'
  },
  *ndjson(columns, rows) {
    for (const row of rows) yield `${JSON.stringify(object(columns, row))}\n`
  },
  *markdown(columns, rows) {
    const line = (cellsOfRow: readonly string[]): string => `| ${cellsOfRow.join(' | ')} |\n`
    yield line(columns)
    yield line(columns.map(() => '---'))
    for (const row of rows) yield line(row.map((value) => oneLine(plain(value)).replaceAll('|', '\\|')))
  },
}

/** Rows in one of the formats, in pieces. */
export const format = (
  how: Format,
  columns: readonly string[],
  rows: Iterable<readonly unknown[]>,
  cells?: number,
): Iterable<string> => WRITERS[how](columns, rows, cells)

/** Prints a result to stdout, where scripts read it. */
export function print(text: string): void {
  process.stdout.write(text === '' ? '' : `${text}\n`)
}

/** Prints pieces of text as they are made, no faster than they are read. A reader that leaves early, like `head`, is no error. */
export async function stream(pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** A number with thousands apart: 52,416. */
export const grouped = (n: number): string => n.toLocaleString('en-GB')
