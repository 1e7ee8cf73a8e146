import { Readable } from 'node:stream'
import writeWorkbook from 'write-excel-file/node'
import { excelRows, plain } from '../../reports/cells.ts'
import type { ExportTable } from '../../reports/exportValues.ts'
import { InputError } from '../../util/errors.ts'
import { grouped } from '../../util/text.ts'

/** Limits of Excel: rows of a sheet with its header, columns, characters of a cell and of a sheet name. */
const MAX_ROWS = 1_048_576
const MAX_COLUMNS = 16_384
const MAX_TEXT = 32_767
const MAX_NAME = 31
/** Cells of a workbook. It is in memory as a whole, and a cell needs about 450 bytes. */
const MAX_CELLS = 2_000_000
/** Characters of all texts of a workbook: 64 million distinct ones take 500 MB. */
const MAX_CHARACTERS = 50_000_000

/** The first day that Excel and other programs number alike: Excel knows a 29 February 1900. */
const FIRST_DAY = Date.UTC(1900, 2, 1)
const DAY = /^\d{4}-\d{2}-\d{2}$/

type Cell = string | number | Date | null | { value: Date; type: typeof Date; format: string }

const refuse = (message: string): never => {
  throw new InputError(message, {
    hint: 'Select less with --from, --to or --resample, or write a file that ends with .csv or .parquet.',
    code: 'workbook-too-large',
  })
}

/** Parses a day or time without an offset; undefined if it does not exist or is too early for Excel. */
function parseDate(iso: string): Date | undefined {
  const date = new Date(iso)
  const isValid = date.getTime() >= FIRST_DAY && date.toISOString().startsWith(iso.slice(0, 10))
  return isValid ? date : undefined
}

/** Writes a time as a date; Excel dates have no zone. */
const timeCell = (day: string, clock: string, seconds: string): unknown =>
  parseDate(`${day}T${clock}${seconds}Z`) ?? `${day} ${clock}${seconds}`

/** Escapes characters that XML cannot contain, and texts that look like such an escape. */
const escapeControls = (text: string): string =>
  text.replaceAll(
    /(?![\t\n])[\p{Cc}\p{Cs}\ufffe\uffff]|_(?=x[\da-f]{4}_)/giu,
    (letter) => `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )

/** Converts a value to a cell; numbers that are not exact in a double become text. */
function toCell(value: unknown, column: string): Cell {
  if (value === null || value === undefined || value instanceof Date) return value ?? null
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const text = plain(value)
  const day = DAY.test(text) ? parseDate(text) : undefined
  if (day) return { value: day, type: Date, format: 'yyyy-mm-dd' }
  if (text.length > MAX_TEXT)
    refuse(`A text of column ${column} is too long for a cell of a workbook (limit ${grouped(MAX_TEXT)} characters).`)
  return escapeControls(text)
}

/** Makes texts the names of sheets: without forbidden characters, at most 31 characters, and unique without case. */
export function sheetNames(texts: readonly string[]): string[] {
  // Excel reserves this name.
  const used = new Set(['history'])
  return texts.map((text) => {
    const clean = text.replaceAll(/[\p{Cc}[\]/\\:*?\s]+/gu, ' ').replaceAll(/^[\s']+|[\s']+$/g, '') || 'sheet'
    const shorten = (suffix: string): string =>
      `${clean.slice(0, MAX_NAME - suffix.length).replace(/[\s'\ud800-\udbff]+$/, '')}${suffix}`
    let name = shorten('')
    for (let i = 2; used.has(name.toLowerCase()); i++) name = shorten(` (${i})`)
    used.add(name.toLowerCase())
    return name
  })
}

/** Reads the cells of a table, its header first. `count` counts them and their characters. */
async function readCells(
  { columns, rows }: ExportTable,
  count: (cells: number, characters: number) => void,
): Promise<Cell[][]> {
  const headers = new Map(columns.map(({ name, header = name }) => [name, header]))
  const sheet: Cell[][] = []
  let names: string[] | undefined
  for await (const block of excelRows(Array.from(headers.keys()), rows, timeCell))
    for (const row of block) {
      names ??= row as string[]
      if (row.length > MAX_COLUMNS) refuse(`A sheet of a workbook has at most ${grouped(MAX_COLUMNS)} columns.`)
      if (sheet.length === MAX_ROWS) refuse(`A sheet of a workbook has at most ${grouped(MAX_ROWS)} rows.`)
      count(
        row.length,
        row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0),
      )
      const cells = sheet.length === 0 ? row.map((name) => headers.get(name as string) ?? name) : row
      sheet.push(cells.map((value, i) => toCell(value, names![i]!)))
    }
  return sheet
}

/** Writes an Excel workbook with one sheet per table; tables without rows are left out, unless all have none. */
export async function xlsxStream(tables: readonly ExportTable[]): Promise<Readable> {
  let cells = 0
  let characters = 0
  const count = (moreCells: number, moreCharacters: number): void => {
    cells += moreCells
    characters += moreCharacters
    if (cells > MAX_CELLS) refuse(`A workbook may have at most ${grouped(MAX_CELLS)} cells, because it is in memory.`)
    if (characters > MAX_CHARACTERS)
      refuse(`A workbook may have at most ${grouped(MAX_CHARACTERS)} characters, because it is in memory.`)
  }
  const sheets: { text: string; data: Cell[][] }[] = []
  for (const table of tables) sheets.push({ text: table.sheet ?? 'rows', data: await readCells(table, count) })
  const filled = sheets.filter(({ data }) => data.length > 1)
  const kept = filled.length > 0 ? filled : sheets.slice(0, 1)
  const names = sheetNames(kept.map(({ text }) => text))
  const workbook = writeWorkbook(
    kept.map(({ data }, i) => ({
      data,
      sheet: names[i]!,
      dateFormat: 'yyyy-mm-dd hh:mm',
      stickyRowsCount: 1,
      columns: data[0]!.map(() => ({ width: 17 })),
    })),
  )
  return Readable.from([await workbook.toBuffer()])
}
