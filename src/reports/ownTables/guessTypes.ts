import type { AttachedTable } from '../../db/engine.ts'
import { type CsvFile, refuseCsv } from './parseCsv.ts'

/** The decimal mark of numbers; the other one separates thousands. */
export type DecimalMark = (typeof DECIMAL_MARKS)[number]
export const DECIMAL_MARKS = ['.', ','] as const

/** A cell that is not empty, with the number of its line. */
interface Cell {
  readonly line: number
  readonly text: string
}

type Column = AttachedTable['columns'][number]
type Value = string | number | bigint | null

/** A column with its values, which are converted one by one. */
interface TypedColumn {
  readonly type: Column['type']
  readonly convert: (text: string) => Value
}

const INTEGER = /^[+-]?(?:0|[1-9]\d*)$/
/** Numbers of a decimal mark, with thousands or without. */
const NUMBERS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^[+-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  ',': /^[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)?(?:,\d+)?(?:e[+-]?\d+)?$/i,
}

/** A time of ISO 8601, also with a space, without seconds and with an offset. */
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/
const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/
/** A day as spreadsheets show it, with a clock or without. */
const SHOWN_DAY = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/

const isNumber = (text: string, mark: DecimalMark): boolean => /\d/.test(text) && NUMBERS[mark].test(text)

/** The decimal marks that a number may have: both for 1.234 and for 12. */
const possibleMarks = (text: string): readonly DecimalMark[] => DECIMAL_MARKS.filter((mark) => isNumber(text, mark))

/** The decimal mark of a number that can have only one. */
function certainMark({ text }: Cell): DecimalMark | undefined {
  const marks = possibleMarks(text)
  return marks.length === 1 ? marks[0] : undefined
}

/** Whether all cells are numbers, each with one mark or the other. */
const isNumeric = (cells: readonly Cell[]): boolean => cells.every(({ text }) => possibleMarks(text).length > 0)

function toNumber(text: string, mark: DecimalMark): number {
  return Number(mark === '.' ? text.replaceAll(',', '') : text.replaceAll('.', '').replace(',', '.'))
}

const MARK_WORDS = { '.': 'a decimal point', ',': 'a decimal comma' } as const

/** Finds the one decimal mark of some cells; refuses cells of both. */
function findMark(cells: readonly Cell[], refuse: (cell: Cell, message: string) => never): DecimalMark | undefined {
  const [first, ...rest] = cells.flatMap((cell) => {
    const mark = certainMark(cell)
    return mark ? [{ cell, mark }] : []
  })
  const other = rest.find(({ mark }) => mark !== first!.mark)
  if (other)
    refuse(
      other.cell,
      `${other.cell.text} has ${MARK_WORDS[other.mark]}, but ${first!.cell.text} in line ${first!.cell.line} has ${MARK_WORDS[first!.mark]}.`,
    )
  return first?.mark
}

/** Types a column of days as spreadsheets show them. The first number above 12 decides which one is the day. */
function typeDays(cells: readonly Cell[], refuse: (cell: Cell, message: string) => never): TypedColumn | undefined {
  const parsed = cells.map(({ text }) => SHOWN_DAY.exec(text))
  if (parsed.includes(null)) return undefined
  const isDayFirst = parsed.some((parts) => Number(parts![1]) > 12)
  const isMonthFirst = parsed.some((parts) => Number(parts![2]) > 12)
  if (isDayFirst && isMonthFirst) return undefined
  if (!isDayFirst && !isMonthFirst) refuse(cells[0]!, `${cells[0]!.text} may begin with the day or with the month.`)
  const pad = (part: string | undefined): string => (part ?? '0').padStart(2, '0')
  const hasClock = parsed.some((parts) => parts![4] !== undefined)
  return {
    type: hasClock ? 'time' : 'date',
    convert(text) {
      const [, first, second, year, hours, minutes, seconds] = SHOWN_DAY.exec(text)!
      const [month, day] = isDayFirst ? [second, first] : [first, second]
      const date = `${year}-${pad(month)}-${pad(day)}`
      return hasClock ? `${date}T${pad(hours)}:${pad(minutes)}:${pad(seconds)}` : date
    },
  }
}

/** Types a column of ISO days or times. Times get the form of the views: `at_utc` with `Z`, `at_local` with an offset. */
function typeIsoTimes(cells: readonly Cell[]): TypedColumn | undefined {
  if (cells.every(({ text }) => ISO_DAY.test(text))) return { type: 'date', convert: (text) => text }
  const times = cells.map(({ text }) => ISO_TIME.exec(text))
  if (times.includes(null)) return undefined
  const offsets = times.filter((parts) => parts![4] !== undefined).length
  if (offsets > 0 && offsets < times.length) return undefined
  return {
    type: offsets > 0 ? 'instant' : 'time',
    convert(text) {
      const [, day, clock, seconds = ':00', offset = ''] = ISO_TIME.exec(text)!
      return `${day}T${clock}${seconds}${offset}`
    },
  }
}

/**
 * Guesses the types of the columns of a CSV file: integer, real, date, time or text. Refuses numbers and days with two meanings, such as
 * 1.234 in a file with semicolons without other numbers. `decimal` decides them.
 */
export function guessTypes(file: string, name: string, csv: CsvFile, decimal?: DecimalMark): AttachedTable {
  const columns = csv.names.map((_, i) =>
    csv.rows.flatMap(({ line, cells }): Cell[] => {
      const text = cells[i]?.trim() ?? ''
      return text === '' ? [] : [{ line, text }]
    }),
  )
  const refuseAt = (column: number) => (cell: Cell, message: string) =>
    refuseCsv(
      file,
      `line ${cell.line}, column ${csv.names[column]}`,
      message,
      'Write numbers without thousands and days as 2025-10-01, or pass --decimal with the decimal mark.',
    )
  const numeric = columns.map(isNumeric)
  const marks = columns.map((cells, i) => (numeric[i] ? (decimal ?? findMark(cells, refuseAt(i))) : undefined))
  // A comma between cells is none in a number.
  const others = new Set(marks.filter((mark) => mark !== undefined).concat(csv.separator === ',' ? '.' : []))

  function typeNumbers(column: number): TypedColumn | undefined {
    const cells = columns[column]!
    if (!numeric[column]) return undefined
    if (cells.every(({ text }) => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)))
      return { type: 'integer', convert: (text) => BigInt(text) }
    const refuse = refuseAt(column)
    const unclear = cells.find(({ text }) => !/^[+-]?\d+$/.test(text))
    // Numbers with leading zeros are codes.
    if (!unclear) return undefined
    const mark = marks[column] ?? (others.size === 1 ? [...others][0]! : undefined)
    if (!mark)
      return refuse(unclear, `${unclear.text} may be ${toNumber(unclear.text, '.')} or ${toNumber(unclear.text, ',')}.`)
    const wrong = cells.find(({ text }) => !isNumber(text, mark))
    if (wrong) refuse(wrong, `${wrong.text} does not have ${MARK_WORDS[mark]}.`)
    const isWhole = cells.every(({ text }) => Number.isSafeInteger(toNumber(text, mark)) && !text.includes(mark))
    return {
      type: isWhole ? 'integer' : 'real',
      convert: (text) => (isWhole ? BigInt(toNumber(text, mark)) : toNumber(text, mark)),
    }
  }

  const typed = columns.map((cells, i): TypedColumn => {
    const text: TypedColumn = { type: 'text', convert: String }
    if (cells.length === 0) return text
    return typeNumbers(i) ?? typeIsoTimes(cells) ?? typeDays(cells, refuseAt(i)) ?? text
  })
  const toValue = (cell: string | null, { type, convert }: TypedColumn): Value => {
    if (type === 'text') return cell
    return cell === null || cell.trim() === '' ? null : convert(cell.trim())
  }
  return {
    name,
    columns: csv.names.map((column, i) => ({ name: column, type: typed[i]!.type })),
    rows: csv.rows.map(({ cells }) => cells.map((cell, i) => toValue(cell, typed[i]!))),
  }
}
