import { FileError, I90_COVER } from '../../service/archiveLayouts.ts'
import { DAY_MS, isDate } from '../../util/time/instant.ts'
import { addUnits, type LocalDate, padTwo, startOfDate } from '../../util/time/zone.ts'
import type { Cell, Sheet } from '../../util/workbook.ts'
import { type I90Day, keepSheet, type ReadSheet, readSheet } from './readSheet.ts'

/** The rows of the cover that may have the dates of data and publication: the fourth or the sixth in known workbooks. */
const DATE_ROWS = 9
/** Day 0 of the numbers that Excel stores for dates. */
const EXCEL_EPOCH = Date.UTC(1899, 11, 30)
/** The days of 2000 and 2100, between which a number on the cover is a date. */
const DATE_NUMBERS = [36_526, 73_050] as const

const formatDate = (year: number, month: number, day: number): LocalDate | null =>
  isDate(year, month, day) ? `${year}-${padTwo(month)}-${padTwo(day)}` : null

/** Reads a date, which is a number or a text such as `03/07/2025` or `2025-07-03`; null for any other cell. */
function readDate(cell: Cell | undefined): LocalDate | null {
  if (typeof cell === 'number') {
    const isNear = cell >= DATE_NUMBERS[0] && cell < DATE_NUMBERS[1]
    return isNear ? new Date(EXCEL_EPOCH + Math.floor(cell) * DAY_MS).toISOString().slice(0, 10) : null
  }
  const text = String(cell ?? '')
  const local = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})\b/.exec(text)?.slice(1).map(Number)
  if (local) return formatDate(local[2]!, local[1]!, local[0]!)
  const iso = /^(\d{4})-(\d{2})-(\d{2})\b/.exec(text)?.slice(1).map(Number)
  return iso ? formatDate(iso[0]!, iso[1]!, iso[2]!) : null
}

/** The date of the data on the cover: the first row with dates in the columns A and C. */
function readCover(cover: Sheet | undefined): LocalDate | null {
  const row = cover?.rows.slice(0, DATE_ROWS).find((cells) => readDate(cells?.[0]) && readDate(cells?.[2]))
  return readDate(row?.[0])
}

/** The date in the name of a workbook. */
function readName(file: string): LocalDate | null {
  const date = /(\d{4})(\d\d)(\d\d)(?!\d)/.exec(file)?.slice(1).map(Number)
  return date ? formatDate(date[0]!, date[1]!, date[2]!) : null
}

/** The local day of a date. */
function dayOf(date: LocalDate, timeZone: string): I90Day {
  const at = startOfDate(timeZone, date)!
  const hours = (addUnits(timeZone, at, 'day', 1) - at) / 3600
  return { date, at, hours, isChanged: hours !== 24 }
}

/** A sheet of a workbook, read. */
export interface NamedSheet extends ReadSheet {
  readonly name: string
  /** The local day of its workbook. */
  readonly day: LocalDate
}

/** Reads the sheets of an I90 workbook, one after the other. Throws FileError if it has no date. */
export function* readI90(file: string, sheets: readonly Sheet[], timeZone: string): Generator<NamedSheet> {
  const cover = sheets.find(({ name }) => name === I90_COVER)
  const covered = readCover(cover)
  const date = readName(file) ?? covered
  if (date === null) throw new FileError('neither its name nor its cover has the date of its data')
  if (cover) {
    const isOther = covered !== null && covered !== date
    const misfit = isOther ? { misfit: `its date is ${covered}, but the file is of ${date}, which was taken` } : {}
    yield { name: cover.name, day: date, rows: keepSheet(file, cover), i90Rows: [], ...misfit }
  }
  const day = dayOf(date, timeZone)
  for (const sheet of sheets) if (sheet !== cover) yield { name: sheet.name, day: date, ...readSheet(file, sheet, day) }
}
