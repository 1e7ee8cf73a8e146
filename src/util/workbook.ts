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

/** The characters of a cell: no workbook program stores more. */
const MAX_TEXT = 32_767

/** The characters of all cells. Cells may share a text, but their rows are stored with a copy each. */
const MAX_CHARACTERS = 20_000_000

/** A workbook has one sheet for each part of a day: 43 in known ones. */
const MAX_SHEETS = 100

/** The codes of records of the binary format with one cell each, and of those with several numbers. */
const CELL_RECORDS = new Set([0x06, 0xd6, 0xfd, 0x0201, 0x0203, 0x0204, 0x0205, 0x0206, 0x027e, 0x0406])
const NUMBERS_RECORD = 0xbd
/** The codes of links and their tooltips, with the offset of the range whose cells the package visits one by one. */
const LINK_RECORDS = new Map([
  [0x01b8, 4],
  [0x0800, 6],
])

/** Counts the cells of a range in the binary format: first and last row, first and last column. */
function countRange(bytes: Buffer, at: number): number {
  if (at + 8 > bytes.length) return 0
  const top = bytes.readUInt16LE(at)
  const bottom = bytes.readUInt16LE(at + 2)
  const left = bytes.readUInt16LE(at + 4)
  const right = bytes.readUInt16LE(at + 6)
  return Math.max(0, bottom - top + 1) * Math.max(0, right - left + 1)
}

/** Counts the cells of an XLS file: each record has a code, a length and its content. */
function countCells(bytes: Buffer): number {
  let cells = 0
  for (let at = 0; at + 4 <= bytes.length; ) {
    const code = bytes.readUInt16LE(at)
    const length = bytes.readUInt16LE(at + 2)
    if (code === NUMBERS_RECORD) cells += Math.floor(Math.max(0, length - 6) / 6)
    else if (CELL_RECORDS.has(code)) cells++
    else if (LINK_RECORDS.has(code)) cells += countRange(bytes, at + LINK_RECORDS.get(code)!)
    at += 4 + length
  }
  return cells
}

/** Throws WorkbookError if there are too many cells for the memory. */
function refuseFull(cells: number): void {
  if (cells > MAX_CELLS)
    throw new WorkbookError(`the workbook has ${cells} cells (limit ${MAX_CELLS}, as it is read into memory)`)
}

/** Throws WorkbookError if an XLS file has too many cells for the memory. */
function refuseFullXls({ CFB }: typeof Xlsx, bytes: Buffer): void {
  const file = CFB.read(bytes, { type: 'buffer' })
  const stream = CFB.find(file, 'Workbook') ?? CFB.find(file, 'Book')
  // The package would read other formats, whose cells are not counted.
  if (!stream) throw new WorkbookError('it is not a workbook')
  refuseFull(countCells(Buffer.from(stream.content)))
}

/** Bytes of the smallest cell of a part in a binary format. */
const SMALLEST_CELL = 8
const columnNumber = (letters: string): number =>
  [...letters.toUpperCase()].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0)

/** Counts the cells of a range: `A1:C3` has nine. */
function countArea(range: string): number {
  const [, left, top, right, bottom] = /^\$?([a-z]+)\$?(\d+):\$?([a-z]+)\$?(\d+)/i.exec(range) ?? []
  if (left === undefined) return 1
  return (Math.abs(columnNumber(right!) - columnNumber(left)) + 1) * (Math.abs(Number(bottom) - Number(top)) + 1)
}

/** Counts the cells that the package may create for a part of an XLSX file: those with a value, a comment or a link. */
export function countPartCells(path: string, bytes: Buffer): number {
  if (/\.bin$/i.test(path)) return Math.floor(bytes.length / SMALLEST_CELL)
  // In UTF-16, every second byte is zero.
  const text = bytes.toString('latin1').replaceAll('\0', '')
  let cells = 0
  for (const _ of text.matchAll(/<(?:\w+:)?(?:c|\w*comment)[\s/>]/gi)) cells++
  for (const [tag] of text.matchAll(/<(?:\w+:)?hyperlink\s[^<>]*/gi))
    for (const [, range] of tag.matchAll(/ref\s*=\s*["']?([^"'\s>]+)/gi)) cells += countArea(range!)
  return cells
}

/** A cell without the characters that PostgreSQL refuses in JSON; undefined if it is empty. Throws WorkbookError if it is too long. */
function toCell({ t: type, v: value }: Xlsx.CellObject): Cell | undefined {
  if (type === 'e') return `error ${String(value)}`
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as boolean | number
  if (typeof value === 'string' && value.length > MAX_TEXT)
    throw new WorkbookError(`a cell has ${value.length} characters (limit ${MAX_TEXT})`)
  const text = String(value ?? '')
    .toWellFormed()
    .replaceAll('\0', '')
    .trim()
  return text === '' ? undefined : text
}

/** Copies the filled cells of a sheet. Only existing rows and cells are visited, so that a distant one costs nothing. */
function toSheet(name: string, sheet: Xlsx.WorkSheet, maxRows: number): Sheet {
  const rows: Cell[][] = []
  const data = (sheet['!data'] ?? []) as Xlsx.CellObject[][]
  for (const [r, received] of Object.entries(data)) {
    if (received.length > MAX_COLUMNS) throw new WorkbookError(`sheet ${name} has more than ${MAX_COLUMNS} columns`)
    const row: Cell[] = []
    received.forEach((cell, c) => {
      const value = toCell(cell)
      if (value !== undefined) row[c] = value
    })
    if (row.length === 0) continue
    if (Number(r) >= maxRows) throw new WorkbookError(`sheet ${name} has more than ${maxRows} rows`)
    rows[Number(r)] = row
  }
  return { name, rows }
}

/** Counts the cells of a sheet as the package returns them. */
const countRead = (sheet: Xlsx.WorkSheet): number =>
  Object.values((sheet['!data'] ?? []) as unknown[][]).reduce((sum, row) => sum + Object.keys(row).length, 0)

/** Counts the characters of a sheet. */
function countCharacters({ rows }: Sheet): number {
  let characters = 0
  rows.forEach((row) => {
    row?.forEach((cell) => {
      if (typeof cell === 'string') characters += cell.length
    })
  })
  return characters
}

/** Turns an error of the package into a WorkbookError. */
const asWorkbookError = (error: unknown): WorkbookError =>
  error instanceof WorkbookError
    ? error
    : new WorkbookError(`the workbook is damaged: ${(error as Error).message}`, { cause: error })

/**
 * Reads a workbook: all of its sheets at once, or one after the other if the sheets of an XLSX file could have too many cells.
 * Several sheets may be one and the same part of the file, whose size then says little. `largestCells`: the cells of the largest part.
 */
function* readBooks(
  xlsx: typeof Xlsx,
  bytes: Buffer,
  largestCells: number,
): Generator<[name: string, Xlsx.WorkSheet | undefined]> {
  const options = { type: 'buffer', cellFormula: false, cellHTML: false, cellText: false, dense: true } as const
  const { SheetNames: names } = xlsx.read(bytes, { ...options, bookSheets: true })
  if (new Set(names).size < names.length) throw new WorkbookError('two sheets have one name')
  if (names.length > MAX_SHEETS)
    throw new WorkbookError(`the workbook has ${names.length} sheets (limit ${MAX_SHEETS})`)
  const isSafe = names.length * largestCells <= MAX_CELLS
  const all = isSafe ? xlsx.read(bytes, options).Sheets : {}
  for (const [i, name] of names.entries()) {
    yield [name, isSafe ? all[name] : xlsx.read(bytes, { ...options, sheets: i }).Sheets[name]]
    // Its memory is needed for the others.
    delete all[name]
  }
}
/**
 * Reads the sheets of a workbook (XLS or XLSX) into memory, with at most `maxRows` rows each. `largestCells`: the cells of the largest
 * part of an XLSX file. Throws WorkbookError if it is damaged, too large, or the optional package that reads it is not installed.
 */
export async function readWorkbook(bytes: Buffer, maxRows: number, largestCells: number): Promise<readonly Sheet[]> {
  const xlsx = await loadPeer<typeof Xlsx>(PACKAGE)
  if (!xlsx) throw new WorkbookError(`workbooks need the package ${PACKAGE}; install it: npm install ${PACKAGE}`)
  const sheets: Sheet[] = []
  let cells = 0
  let characters = 0
  try {
    refuseFull(largestCells)
    if (isXls(bytes)) refuseFullXls(xlsx, bytes)
    for (const [name, received] of readBooks(xlsx, bytes, largestCells)) {
      // The package leaves out a sheet that it cannot read.
      if (!received)
        throw new WorkbookError(`sheet ${name} is damaged: its part is missing or refers to a text that does not exist`)
      cells += countRead(received)
      refuseFull(cells)
      const sheet = toSheet(name, received, maxRows)
      characters += countCharacters(sheet)
      if (characters > MAX_CHARACTERS)
        throw new WorkbookError(`the texts of its cells have more than ${MAX_CHARACTERS} characters`)
      sheets.push(sheet)
    }
  } catch (error) {
    throw asWorkbookError(error)
  }
  return sheets
}
