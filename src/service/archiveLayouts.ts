import { brief, isObject } from '../util/json.ts'
import { isDate } from '../util/time/instant.ts'

/** A known layout of archive files, whose lines become rows of `archive_row`. */
interface Layout {
  /** The name in `archive_row.layout`. The view of its rows is `archive_` and this name. */
  readonly name: string
}

/** JSON with a list of rows. */
export interface JsonLayout extends Layout {
  /** The key of the list. */
  readonly root: string
  /** Why the view cannot read a row; null if it can. */
  readonly findFault: (row: unknown) => string | null
}

/** A line of a text, or a row of JSON, with its number from 1. */
interface LayoutLine {
  readonly line: number
  readonly cells: readonly string[]
}

/** Why a file of a known layout cannot be loaded, with the first line that shows it. */
export class FileError extends Error {
  readonly line: number | null
  constructor(reason: string, line: number | null = null) {
    super(reason)
    this.line = line
  }
}

/** Lines of cells with semicolons between them. Empty cells at the end are removed. */
export interface TextLayout extends Layout {
  /** The names of its files. */
  readonly files: RegExp
  /** The number of lines before the rows. */
  readonly headLines: number
  /** The line after the last row. Some files lack it. */
  readonly endLine: string
  /** Whether the first row of a file shows that it has this layout. */
  readonly isLike: (cells: readonly string[]) => boolean
  /** Returns the lines as the view reads them. Throws FileError if it cannot. `file`: the name of the file. */
  readonly check: (lines: readonly LayoutLine[], file: string) => readonly LayoutLine[]
}

const isText = (form: RegExp) => (cell: unknown) => typeof cell === 'string' && form.test(cell.trim())
const isNumberOrEmpty = isText(/^(?:-?\d{1,20}(?:[.,]\d{1,20})?)?$/)
const isPeriod = isText(/^\d{1,2}$/)
/** What a number may become if a file is damaged. A text in its place shows another layout. */
const isLikeNumber = isText(/^[-+\d.,e]*$/i)

const isDayForm = isText(/^\d{2}\/\d{2}\/\d{4}$/)
/** Whether a cell with the form of a day, `31/01/2024`, is a date that exists. */
function isExistingDay(cell: unknown): boolean {
  const [day, month, year] = String(cell).trim().split('/').map(Number)
  return isDayForm(cell) && isDate(year!, month!, day!)
}

/** The letters of the days of a week in Spanish, from Sunday. */
const WEEKDAYS = 'DLMXJVS'

/** The range of days that the name of a file ends with, as [year, month, day]. */
function parseRange(file: string): [from: number[], to: number[]] {
  const numbers = /(\d{4})(\d\d)(\d\d)_(\d{4})(\d\d)(\d\d)$/.exec(file)?.slice(1).map(Number) ?? []
  return [numbers.slice(0, 3), numbers.slice(3)]
}

/**
 * Whether a cell, `L 01`, is a day of the range in a file's name. A day of the month before the first day of the range is in the
 * next month. The weekday must be right.
 */
function isDayOfRange(cell: unknown, file: string): boolean {
  const [, letter, digits] = /^([LMXJVSD]) ?(\d{1,2})$/.exec(String(cell).trim()) ?? []
  const [[year, month, first], [lastYear, lastMonth, last]] = parseRange(file) as [
    [number, number, number],
    [number, number, number],
  ]
  const months = lastYear * 12 + lastMonth - (year * 12 + month)
  if (letter === undefined || !(months === 0 || (months === 1 && last < first))) return false
  const day = Number(digits)
  const isFirstMonth = day >= first
  if (months === 0 ? day < first || day > last : !isFirstMonth && day > last) return false
  const [cellYear, cellMonth] = isFirstMonth ? [year, month] : [lastYear, lastMonth]
  return (
    isDate(cellYear, cellMonth, day) &&
    WEEKDAYS[new Date(Date.UTC(cellYear, cellMonth - 1, day)).getUTCDay()] === letter
  )
}

const isWeekdayForm = isText(/^[LMXJVSD] ?\d{1,2}$/)

/** The first cell of a list that a test refuses, in words; null if there is none. */
function findWrong(cells: readonly unknown[], isRight: (cell: unknown) => boolean, what: string): string | null {
  const wrong = cells.find((cell) => !isRight(cell))
  return wrong === undefined ? null : `${brief(wrong)} is not ${what}`
}

/** Prices of the single tariff since June 2021, and of the tariffs 2.0A, 2.0DHA and 2.0DHS before. */
const PVPC_PRICES = ['PCB', 'CYM', 'GEN', 'NOC', 'VHC']
const MAX_KEY_LENGTH = 100

/** Why the view of PVPC cannot read a row. */
function findPvpcFault(row: unknown): string | null {
  if (!isObject(row)) return `${brief(row)} is not an object`
  const { Dia: day, Hora: hours, ...prices } = row
  if (!isExistingDay(day)) return `Dia ${brief(day)} is not a day`
  if (!isText(/^\d{2}-\d{2}$/)(hours)) return `Hora ${brief(hours)} is not an hour`
  if (!PVPC_PRICES.some((key) => key in prices)) return `it has none of the prices ${PVPC_PRICES.join(', ')}`
  const isKey = (key: unknown): boolean => String(key).length <= MAX_KEY_LENGTH && /^\w+$/.test(String(key))
  return (
    findWrong(Object.keys(prices), isKey, 'a valid key') ?? findWrong(Object.values(prices), isNumberOrEmpty, 'a price')
  )
}

/** Hours of a day in a file of days: the longest day has 25. */
const MAX_HOURS = 25

/** Whether a row is a day, `01/01/2024;1;4;81.3`: a quarter of an hour, or without the quarter an hour. */
const isLong = ([day]: readonly string[]): boolean => isDayForm(day)

/** Whether a row is a period of a day, or a day of hours, `L 01;81.3;…`. */
const isLikeSettlement = (cells: readonly string[]): boolean =>
  cells.slice(1).every(isLikeNumber) &&
  (isLong(cells) ? [3, 4].includes(cells.length) : isWeekdayForm(cells[0]) && cells.length <= MAX_HOURS + 1)

/** Why the view cannot read a period of a day. `width`: the cells of each line of the file. */
function findPeriodFault([day, ...values]: readonly string[], width: number): string | null {
  if (!isExistingDay(day)) return `${brief(day)} is not a day`
  if (values.length !== width - 1) return `it has ${values.length + 1} cells instead of ${width}`
  return (
    findWrong(values.slice(0, -1), isPeriod, 'an hour or quarter') ??
    findWrong(values.slice(-1), isNumberOrEmpty, 'a number')
  )
}

/** Why the view cannot read a day of hours. */
function findDayFault([day, ...values]: readonly string[], file: string): string | null {
  if (!isDayOfRange(day, file)) return `${brief(day)} is not a day of the file`
  if (values.length > MAX_HOURS) return `it has ${values.length} values instead of ${MAX_HOURS}`
  return findWrong(values, isNumberOrEmpty, 'a number')
}

/** Checks the lines of a settlement. A period without a value gets an empty cell: without it, its quarter would be its value. */
function checkSettlement(lines: readonly LayoutLine[], file: string): readonly LayoutLine[] {
  const isQuarters = lines.some(({ cells }) => isLong(cells) && cells.length > 3)
  const width = isQuarters ? 4 : 3
  const keys = new Set<string>()
  return lines.map(({ line, cells: received }) => {
    const isPeriodOfDay = isLong(received)
    const cells = isPeriodOfDay && received.length === width - 1 ? [...received, ''] : received
    const key = cells.slice(0, isPeriodOfDay ? width - 1 : 1).join(' ')
    const reason = isPeriodOfDay ? findPeriodFault(cells, width) : findDayFault(cells, file)
    if (reason !== null) throw new FileError(reason, line)
    if (keys.has(key)) throw new FileError(`${brief(key)} is repeated`, line)
    keys.add(key)
    return { line, cells }
  })
}

/**
 * The known layouts of e·sios besides workbooks. The operator documents none; several public clients read PVPC, and one reads
 * settlement.
 */
export const JSON_LAYOUTS: readonly JsonLayout[] = [
  {
    // Archive 70 as JSON: `{ PVPC: [{ Dia: "01/06/2021", Hora: "00-01", PCB: "116,33", CYM: "116,33", … }] }` in €/MWh.
    name: 'pvpc',
    root: 'PVPC',
    findFault: findPvpcFault,
  },
]

export const TEXT_LAYOUTS: readonly TextLayout[] = [
  {
    // Files of `C2_liquicomun` (`A1` to `C7`): `C2_prdvsuqh_20240101_20240131`.
    name: 'settlement',
    files: /^[AC]\d_[A-Za-z0-9]+_\d{8}_\d{8}$/,
    headLines: 2,
    endLine: '*',
    isLike: isLikeSettlement,
    check: checkSettlement,
  },
]

/** The names of I90 workbooks (archive 34), with the day of their data. */
export const I90_FILE = /^I90DIA.*\.xlsx?$/i
/** The names of ZIPs with I90 workbooks in a ZIP of several days. */
export const I90_ZIP = /^I90DIA.*\.zip$/i
/** The archive of I90 workbooks. */
export const I90_ARCHIVE = /^I90DIA/i
/** The sheets of a workbook, with their number. */
export const I90_SHEET = /^I90DIA(\d\d)$/
/** The sheet with the dates of data and publication, and a table of contents. */
export const I90_COVER = 'I90DIA00'
/** The layout of rows of I90 workbooks that are not values. */
export const I90_OTHER = 'i90_other'

/** The names of labels that views read. Sheets write them with or without accents and capitals. */
export const I90_LABELS = ['Sentido', 'Redespacho', 'Tipo Oferta', 'Sesión'] as const

/** Sheets of I90 workbooks with a view, as public clients describe them. */
export const I90_SHEETS = {
  '01': 'PDVP, the provisional daily viable programme (MWh)',
  '02': 'P48, the final programme (MWh)',
  '03': 'redispatches for technical restrictions of the day-ahead programme (MWh)',
  '05': 'secondary reserve (MW)',
  '06': 'replacement reserves, RR (MWh)',
  '07': 'tertiary reserve, mFRR (MWh)',
  '08': 'redispatches for technical restrictions in real time (MWh)',
  '09': 'prices of redispatches for technical restrictions of the day-ahead programme (€/MWh)',
  '10': 'prices of redispatches for technical restrictions in real time (€/MWh)',
  '11': 'prices of replacement reserves, RR (€/MWh)',
  '26': 'PDBF, the daily base programme (MWh)',
  '27': 'bilateral contracts in the daily base programme (MWh)',
  '30': 'prices of the tertiary reserve, mFRR (€/MWh)',
  '37': 'secondary reserve, aFRR (MWh)',
} as const
