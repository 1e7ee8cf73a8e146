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
const object = ({ columns }: Result, row: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(columns.map((column, i) => [column, jsonable(row[i])]))
const csvCell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Shortens a text to so many cells, with an ellipsis. */
const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${[...text].slice(0, Math.max(0, cells - 1)).join('')}…`

/** Aligned columns that fit a terminal: numbers to the right, the widest text columns shortened first. */
export function table({ columns, rows }: Result, cells = process.stdout.columns ?? 160): string {
  const texts = rows.map((row) => row.map((value) => oneLine(plain(value))))
  const widths = columns.map((column, i) => Math.max(width(column), ...texts.map((row) => width(row[i] ?? ''))))
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

const WRITERS: Readonly<Record<Format, (result: Result) => string>> = {
  table: (result) => table(result),
  csv: ({ columns, rows }) =>
    [columns, ...rows].map((row) => row.map((value) => csvCell(plain(value))).join(',')).join('\n'),
  json: (result) =>
    JSON.stringify(
      result.rows.map((row) => object(result, row)),
      null,
      2,
    ),
  ndjson: (result) => result.rows.map((row) => JSON.stringify(object(result, row))).join('\n'),
  markdown: ({ columns, rows }) =>
    [
      columns,
      columns.map(() => '---'),
      ...rows.map((row) => row.map((value) => oneLine(plain(value)).replaceAll('|', '\\|'))),
    ]
      .map((row) => `| ${row.join(' | ')} |`)
      .join('\n'),
}

/** A result in one of the formats, without the last line break. */
export const format = (result: Result, how: Format): string => WRITERS[how](result)

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
