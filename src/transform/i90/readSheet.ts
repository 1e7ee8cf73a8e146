import type { archive_i90_row, archive_row } from '../../db/tables/content.ts'
import type { RowOf } from '../../db/tables/declare.ts'
import { FileError, I90_LABELS, I90_OTHER, I90_SHEET } from '../../service/archiveLayouts.ts'
import { brief } from '../../util/json.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Cell, Sheet, SheetRow } from '../../util/workbook.ts'
import { columnLetters, findHeader, type Header, MAX_NAME } from './header.ts'
import type { DayLength } from './periods.ts'

export type OtherRow = Omit<RowOf<typeof archive_row>, 'kind' | 'id' | 'date'>
type I90Row = Omit<RowOf<typeof archive_i90_row>, 'kind' | 'id' | 'date'>

/** The local day of a workbook. */
export interface I90Day extends DayLength {
  readonly date: string
  readonly at: Instant
}

/** The rows of a sheet. `rows`: those without values; all of them if the sheet is not understood. */
export interface ReadSheet {
  readonly rows: readonly OtherRow[]
  readonly i90Rows: readonly I90Row[]
  /** Why the sheet is not understood. */
  readonly misfit?: string
  /** Why the values of a known sheet cannot be loaded. */
  readonly fault?: { readonly line: number | null; readonly reason: string }
}

/** The value of a cell; undefined if it is empty. Throws FileError if it is not a number. */
function toValue(cell: Cell | undefined, line: number, column: number): number | undefined {
  if (cell === undefined || typeof cell === 'number') return cell
  const number =
    typeof cell === 'string' && /^-?\d+(?:[.,]\d+)?$/.test(cell) ? Number(cell.replace(',', '.')) : Number.NaN
  // A text of 400 digits is infinite.
  if (Number.isFinite(number)) return number
  throw new FileError(`column ${columnLetters(column)} has ${brief(cell)} instead of a number`, line)
}

/** A text without case and accents, to compare names. */
const fold = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase()
const LABEL_NAMES = new Map(I90_LABELS.map((name) => [fold(name), name]))
const isUnit = (name: string): boolean => /^unidad( de)? programacion$|^up$/.test(fold(name))

/** The names of label columns, each once. Those without a name have the letters of their column. */
function nameColumns({ labels }: Header): (column: number) => string {
  const names = new Map<number, string>()
  const taken = new Set<string>()
  for (const [column, received] of labels) {
    const name = LABEL_NAMES.get(fold(received)) ?? received
    const unique = taken.has(name) ? `${name} (${columnLetters(column)})` : name
    taken.add(unique)
    names.set(column, unique)
  }
  return (column) => names.get(column) ?? columnLetters(column)
}

/** A row as received: its cells by the letters of their columns. */
function toOtherRow(file: string, sheet: string, i: number, row: SheetRow): OtherRow {
  const cells: [string, Cell][] = []
  row.forEach((cell, column) => {
    cells.push([columnLetters(column), cell!])
  })
  return {
    file: `${file}/${sheet}`,
    line: i + 1,
    layout: I90_OTHER,
    columns: JSON.stringify(Object.fromEntries(cells)),
  }
}

/** Keeps the rows of a sheet as received. */
export function keepSheet(file: string, { name, rows }: Sheet): readonly OtherRow[] {
  const kept: OtherRow[] = []
  rows.forEach((row, i) => {
    if (row) kept.push(toOtherRow(file, name, i, row))
  })
  return kept
}

/** Reads the rows below a header: one for each measure with values. Rows without values stay as they are. */
function readRows({ name: sheet, rows }: Sheet, file: string, header: Header, day: I90Day) {
  const { end, labels, measures, columns, stepS } = header
  const periods = (day.hours * 3600) / stepS
  const nameOf = nameColumns(header)
  const isPeriod = new Set(columns.map(({ column }) => column))
  const unitColumn = labels.entries().find(([, name]) => isUnit(name))?.[0]
  const i90Rows: I90Row[] = []
  const others: OtherRow[] = []
  rows.forEach((row, i) => {
    if (!row) return
    const values = measures.map(() => Array.from({ length: periods }, (): number | null => null))
    const used = new Set<number>()
    for (const { column, period, measure } of i < end ? [] : columns) {
      const value = toValue(row[column], i + 1, column)
      if (value === undefined) continue
      values[measure]![period] = value
      used.add(measure)
    }
    if (used.size === 0) {
      others.push(toOtherRow(file, sheet, i, row))
      return
    }
    const cells: [string, Cell][] = []
    row.forEach((cell, column) => {
      if (!isPeriod.has(column) && column !== unitColumn) cells.push([nameOf(column), cell!])
    })
    const unit = unitColumn === undefined ? undefined : row[unitColumn]
    if (String(unit).length > MAX_NAME) throw new FileError(`its unit has more than ${MAX_NAME} characters`, i + 1)
    const common = {
      file,
      sheet: I90_SHEET.exec(sheet)![1]!,
      line: i + 1,
      local_date: day.date,
      unit: unit === undefined ? null : String(unit),
      labels: JSON.stringify(Object.fromEntries(cells)),
      at: day.at,
      step_s: stepS,
    }
    for (const measure of used)
      i90Rows.push({ ...common, measure: measures[measure]!, period_values: JSON.stringify(values[measure]) })
  })
  return { rows: others, i90Rows }
}

/** Reads a sheet. If it is not understood, or a cell is not a number, all of its rows are kept as received. */
export function readSheet(file: string, sheet: Sheet, day: I90Day): ReadSheet {
  const kept = (more: Pick<ReadSheet, 'misfit' | 'fault'>): ReadSheet => ({
    rows: keepSheet(file, sheet),
    i90Rows: [],
    ...more,
  })
  if (!I90_SHEET.test(sheet.name)) return kept({ misfit: 'its name is not I90DIA and two digits' })
  const header = findHeader(sheet.rows, day)
  if (typeof header === 'string') return kept({ misfit: header })
  try {
    return readRows(sheet, file, header, day)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return kept({ fault: { line: error.line, reason: error.message } })
  }
}
