import type * as Xlsx from '@e965/xlsx'
import { loadPeer } from './package.ts'

/** A filled cell of a sheet. */
export type Cell = string | number | boolean

/** The cells of a row, by column from 0. Empty ones are holes. */
export type SheetRow = readonly (Cell | undefined)[]

/** A sheet of a workbook. Empty rows are holes. */
export interface Sheet {
  readonly name: string
  readonly rows: readonly (SheetRow | undefined)[]
}

/** A workbook cannot be read. */
class WorkbookError extends Error {}

const PACKAGE = '@e965/xlsx'

/** The columns of a sheet with a hundred quarter-hours have at most a few measures each. */
const MAX_COLUMNS = 1_000

/** The first bytes of a compound file, in which the old binary format (XLS) lies. */
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/** Whether bytes begin as an XLS file does. */
export const isXls = (bytes: Buffer): boolean => bytes.subarray(0, COMPOUND_FILE.length).equals(COMPOUND_FILE)

/** The package needs 600 bytes for a cell. */
const MAX_CELLS = 2_000_000

/** The codes of records of the binary format with one cell each, and of those with several numbers. */
const CELL_RECORDS = new Set([0x06, 0xd6, 0xfd, 0x0201, 0x0203, 0x0204, 0x0205, 0x0206, 0x027e, 0x0406])
const NUMBERS_RECORD = 0xbd

/** Counts the cells of an XLS file: each record has a code, a length and its content. */
function countCells(bytes: Buffer): number {
  let cells = 0
  for (let at = 0; at + 4 <= bytes.length; ) {
    const code = bytes.readUInt16LE(at)
    const length = bytes.readUInt16LE(at + 2)
    if (code === NUMBERS_RECORD) cells += Math.floor(Math.max(0, length - 6) / 6)
    else if (CELL_RECORDS.has(code)) cells++
    at += 4 + length
  }
  return cells
}

/** Throws WorkbookError if an XLS file has too many cells for the memory. */
function refuseFullXls({ CFB }: typeof Xlsx, bytes: Buffer): void {
  const file = CFB.read(bytes, { type: 'buffer' })
  const stream = CFB.find(file, 'Workbook') ?? CFB.find(file, 'Book')
  const cells = stream ? countCells(Buffer.from(stream.content)) : 0
  if (cells > MAX_CELLS)
    throw new WorkbookError(`the workbook has ${cells} cells (limit ${MAX_CELLS}, as it is read into memory)`)
}

/** A cell without the characters that PostgreSQL refuses in JSON; undefined if it is empty. */
function toCell({ t: type, v: value }: Xlsx.CellObject): Cell | undefined {
  if (type === 'e') return `error ${String(value)}`
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as boolean | number
  const text = String(value ?? '')
    .toWellFormed()
    .replaceAll('\0', '')
    .trim()
  return text === '' ? undefined : text
}

/** Copies the filled cells of a sheet. `forEach` skips holes, so that a distant cell costs nothing. */
function toSheet(name: string, sheet: Xlsx.WorkSheet): Sheet {
  const rows: Cell[][] = []
  const data = (sheet['!data'] ?? []) as Xlsx.CellObject[][]
  data.forEach((received, r) => {
    if (received.length > MAX_COLUMNS) throw new WorkbookError(`sheet ${name} has more than ${MAX_COLUMNS} columns`)
    const row: Cell[] = []
    received.forEach((cell, c) => {
      const value = toCell(cell)
      if (value !== undefined) row[c] = value
    })
    if (row.length > 0) rows[r] = row
  })
  return { name, rows }
}

/**
 * Reads the sheets of a workbook (XLS or XLSX) into memory, with at most `maxRows` rows each. Throws WorkbookError if it is damaged,
 * has more rows, or the optional package that reads it is not installed.
 */
export async function readWorkbook(bytes: Buffer, maxRows: number): Promise<readonly Sheet[]> {
  const xlsx = await loadPeer<typeof Xlsx>(PACKAGE)
  if (!xlsx) throw new WorkbookError(`workbooks need the package ${PACKAGE}; install it: npm install ${PACKAGE}`)
  let book: Xlsx.WorkBook
  try {
    if (isXls(bytes)) refuseFullXls(xlsx, bytes)
    const options = { cellFormula: false, cellHTML: false, cellText: false, dense: true, sheetRows: maxRows + 1 }
    book = xlsx.read(bytes, { type: 'buffer', ...options })
  } catch (error) {
    if (error instanceof WorkbookError) throw error
    throw new WorkbookError(`the workbook is damaged: ${(error as Error).message}`, { cause: error })
  }
  if (new Set(book.SheetNames).size < book.SheetNames.length) throw new WorkbookError('two sheets have one name')
  const sheets = book.SheetNames.map((name) => {
    const sheet = toSheet(name, book.Sheets[name]!)
    // Its memory is needed for the others.
    delete book.Sheets[name]
    return sheet
  })
  const long = sheets.find(({ rows }) => rows.length > maxRows)
  if (long) throw new WorkbookError(`sheet ${long.name} has more than ${maxRows} rows`)
  return sheets
}
