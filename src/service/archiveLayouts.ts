import { isDate } from '../util/time/instant.ts'

/** A known layout of archive files, whose lines become rows of `archive_row`. */
export interface ArchiveLayout {
  /** The name in `archive_row.layout`. The view of its rows is `archive_` and this name. */
  readonly name: string
  /** JSON: the key of the list of rows, and the keys of the first cells for `accepts`. */
  readonly root?: string
  readonly keys?: readonly string[]
  /** Text with semicolons: the names of its files, and the number of lines before the rows. */
  readonly files?: RegExp
  readonly headLines?: number
  /** Whether the view can read the cells of a row. `file`: the name of its file. */
  readonly accepts: (cells: readonly unknown[], file: string) => boolean
}

const isText = (form: RegExp) => (cell: unknown) => typeof cell === 'string' && form.test(cell.trim())
const isNumber = isText(/^-?\d{1,20}(?:[.,]\d{1,20})?$/)
const isNumberOrEmpty = isText(/^(?:-?\d{1,20}(?:[.,]\d{1,20})?)?$/)
const isPeriod = isText(/^\d{1,2}$/)

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

/**
 * The known layouts of e·sios. The operator documents none; several public clients read PVPC, and one reads settlement. I90 files
 * are workbooks (XLS) in a ZIP.
 */
export const ARCHIVE_LAYOUTS: readonly ArchiveLayout[] = [
  {
    // Archive 70 as JSON: `{ PVPC: [{ Dia: "01/06/2021", Hora: "00-01", PCB: "116,33", CYM: "116,33", … }] }` in €/MWh.
    name: 'pvpc',
    root: 'PVPC',
    keys: ['Dia', 'Hora'],
    accepts: ([day, hours, ...prices]) =>
      isExistingDay(day) && isText(/^\d{2}-\d{2}$/)(hours) && prices.every(isNumberOrEmpty),
  },
  {
    // Files of `C2_liquicomun` (`A1` to `C7`): `C2_prdvsuqh_20240101_20240131`.
    name: 'settlement',
    files: /^[AC]\d_[A-Za-z0-9]+_\d{8}_\d{8}$/,
    headLines: 2,
    // `01/01/2024;1;4;81.3;` is a quarter of an hour, without the quarter an hour; `L 01;81.3;…` is a day of hours.
    accepts: ([day, ...values], file) =>
      isDayForm(day)
        ? isExistingDay(day) &&
          [2, 3].includes(values.length) &&
          values.slice(0, -1).every(isPeriod) &&
          isNumber(values.at(-1))
        : isDayOfRange(day, file) && values.length <= 25 && values.every(isNumberOrEmpty),
  },
]
