import type { AttachedTable } from '../../db/engine.ts'
import { isDate } from '../../util/time/instant.ts'
import { type CsvFile, refuseCsv } from './parseCsv.ts'

/** The decimal mark of numbers; the other one separates thousands. */
type DecimalMark = (typeof DECIMAL_MARKS)[number]
export const DECIMAL_MARKS = ['.', ','] as const

/** The order of days that spreadsheets show, such as 01/02/2026: the day first, or the month. */
type DateOrder = (typeof DATE_ORDERS)[number]
export const DATE_ORDERS = ['dmy', 'mdy'] as const

/** What the user says about the numbers and days of a file. */
export interface ReadingRules {
  readonly decimal?: DecimalMark | undefined
  readonly dates?: DateOrder | undefined
}

/** A cell that is not empty, with the number of its line. */
interface Cell {
  readonly line: number
  readonly text: string
  readonly isQuoted: boolean
}

/** Throws the error for a cell, with a hint that solves it. */
type Refuse = (cell: Cell, message: string, hint: string) => never

type Column = AttachedTable['columns'][number]
type Value = string | number | bigint | null

/** A column with its values, which are converted one by one. */
interface TypedColumn {
  readonly type: Column['type']
  readonly convert: (text: string) => Value
}

const INTEGER = /^[+-]?(?:0|[1-9]\d*)$/
/** Numbers of a decimal mark, with thousands or without. `E5` is not a number. */
const NUMBERS: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^[+-]?(?=\.?\d)(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d+)?(?:e[+-]?\d+)?$/i,
  ',': /^[+-]?(?=,?\d)(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)?(?:,\d+)?(?:e[+-]?\d+)?$/i,
}

/** What spreadsheets write for a number or day that is missing. */
const MISSING = /^(?:[-–—]|#?n\/[ad]|n[ad]|n\.[ad]\.|s\/d|null|nan)$/i

/** A day or time of ISO 8601, also with a space, without seconds and with an offset. */
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/
/** A day as spreadsheets show it, with a clock or without. */
const SHOWN_DAY = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/

/** The form of a cell. All cells of a column have the same. */
type Form = 'number' | 'ISO day or time' | 'day or time as spreadsheets show it' | 'text'

function formOf(text: string): Form {
  if (possibleMarks(text).length > 0) return 'number'
  if (ISO.test(text)) return 'ISO day or time'
  return SHOWN_DAY.test(text) ? 'day or time as spreadsheets show it' : 'text'
}

const AS_TEXT = 'To read the column as text, quote its numbers and days, but not those of other columns.'

const isNumber = (text: string, mark: DecimalMark): boolean => /\d/.test(text) && NUMBERS[mark].test(text)

/** The decimal marks that a number may have: both for 1.234 and for 12. */
const possibleMarks = (text: string): readonly DecimalMark[] => DECIMAL_MARKS.filter((mark) => isNumber(text, mark))

/** The decimal mark of a number that can have only one. */
function certainMark({ text }: Cell): DecimalMark | undefined {
  const marks = possibleMarks(text)
  return marks.length === 1 ? marks[0] : undefined
}

function toNumber(text: string, mark: DecimalMark): number {
  return Number(mark === '.' ? text.replaceAll(',', '') : text.replaceAll('.', '').replace(',', '.'))
}

const MARK_WORDS = { '.': 'a decimal point', ',': 'a decimal comma' } as const

/** Finds the one decimal mark of some cells; refuses cells of both. */
function findMark(cells: readonly Cell[], refuse: Refuse): DecimalMark | undefined {
  const [first, ...rest] = cells.flatMap((cell) => {
    const mark = certainMark(cell)
    return mark ? [{ cell, mark }] : []
  })
  const other = rest.find(({ mark }) => mark !== first!.mark)
  if (other)
    refuse(
      other.cell,
      `${other.cell.text} has ${MARK_WORDS[other.mark]}, but ${first!.cell.text} in line ${first!.cell.line} has ${MARK_WORDS[first!.mark]}.`,
      'Write all numbers of a column with one decimal mark.',
    )
  return first?.mark
}

/** Writes a day and clock of a cell in ISO form; undefined if the calendar or the clock does not have it. */
function isoTime(day: readonly (string | undefined)[], clock: readonly (string | undefined)[]): string | undefined {
  const [hours, minutes, seconds] = clock.map((part) => Number(part ?? 0)) as [number, number, number]
  const [year, month, date] = day.map(Number) as [number, number, number]
  if (!isDate(year, month, date) || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const pad = (part: string | undefined): string => (part ?? '0').padStart(2, '0')
  return `${day.map(pad).join('-')}T${clock.map(pad).join(':')}`
}

/** Types days or times in ISO form, read by `read`. Those without any clock are days. */
function typeTimes(
  cells: readonly Cell[],
  refuse: Refuse,
  hasClock: boolean,
  read: (text: string) => string | undefined,
): TypedColumn {
  for (const cell of cells)
    if (read(cell.text) === undefined)
      refuse(
        cell,
        `${cell.text} is no ${hasClock ? 'time' : 'day of the calendar'}.`,
        'Correct the cell. A day has 00:00 to 23:59; midnight at its end is 00:00 of the next day.',
      )
  return {
    type: hasClock ? 'time' : 'date',
    convert: (text) => (hasClock ? read(text)! : read(text)!.slice(0, 'YYYY-MM-DD'.length)),
  }
}

/** Types days as spreadsheets show them. The first number above 12 decides which one is the day, unless the user does. */
function typeShownDays(cells: readonly Cell[], refuse: Refuse, dates: DateOrder | undefined): TypedColumn {
  const parse = (text: string): RegExpExecArray => SHOWN_DAY.exec(text)!
  const short = cells.find(({ text }) => parse(text)[3]!.length === 2)
  if (short) refuse(short, `${short.text} has a year of two digits.`, 'Write years with four digits.')
  const dayFirst = cells.find(({ text }) => Number(parse(text)[1]) > 12)
  const monthFirst = cells.find(({ text }) => Number(parse(text)[2]) > 12)
  if (dayFirst && monthFirst && dates === undefined && dayFirst !== monthFirst)
    refuse(
      monthFirst,
      `${monthFirst.text} begins with the month, but ${dayFirst.text} in line ${dayFirst.line} with the day.`,
      'Write all days of a column in one order.',
    )
  const order = dates ?? (dayFirst && 'dmy') ?? (monthFirst && 'mdy')
  if (order === undefined)
    return refuse(
      cells[0]!,
      `${cells[0]!.text} may begin with the day or with the month.`,
      'Pass --dates dmy if the day is first, else --dates mdy.',
    )
  const hasClock = cells.some(({ text }) => parse(text)[4] !== undefined)
  return typeTimes(cells, refuse, hasClock, (text) => {
    const [, first, second, year, ...clock] = parse(text)
    return isoTime(order === 'dmy' ? [year, second, first] : [year, first, second], clock)
  })
}

/** Types a column of ISO days or times. Times get the form of the views: `at_utc` with `Z`, `at_local` with an offset. */
function typeIsoTimes(cells: readonly Cell[], refuse: Refuse): TypedColumn {
  const offsetOf = (text: string): string => ISO.exec(text)![7] ?? ''
  const hasOffsets = offsetOf(cells[0]!.text) !== ''
  const other = cells.find(({ text }) => (offsetOf(text) !== '') !== hasOffsets)
  if (other)
    refuse(
      other,
      `${other.text} has ${hasOffsets ? 'no' : 'an'} offset from UTC, unlike ${cells[0]!.text} in line ${cells[0]!.line}.`,
      'Write all times of a column with an offset, or none.',
    )
  const hasClock = cells.some(({ text }) => ISO.exec(text)![4] !== undefined)
  const typed = typeTimes(cells, refuse, hasClock, (text) => {
    const [, year, month, day, ...clock] = ISO.exec(text)!
    const [, hours, minutes] = /(\d{2}):(\d{2})$/.exec(offsetOf(text)) ?? []
    if (Number(hours ?? 0) > 15 || Number(minutes ?? 0) > 59) return undefined
    const time = isoTime([year, month, day], clock.slice(0, 3))
    return time === undefined ? undefined : time + offsetOf(text)
  })
  return hasOffsets ? { ...typed, type: 'instant' } : typed
}

/** Whether numbers are codes: whole, some with leading zeros. */
const areCodes = (numbers: readonly Cell[]): boolean =>
  numbers.every(({ text }) => /^[+-]?\d+$/.test(text)) && numbers.some(({ text }) => !INTEGER.test(text))

/**
 * Finds the form of a column, without what is missing. Refuses cells of several forms: a sum over them would be wrong without notice.
 * Numbers and days in quotes are text, unless the whole file is quoted.
 */
function findForm(cells: readonly Cell[], refuse: Refuse, isAllQuoted: boolean): Form {
  const formed = cells.map((cell) => ({ cell, form: formOf(cell.text) }))
  const first = formed.find(({ form }) => form !== 'text')
  const other = first && formed.find(({ form }) => form !== first.form)
  if (!other) return first?.form ?? 'text'
  const values = formed.filter(({ form }) => form !== 'text').map(({ cell }) => cell)
  if (!isAllQuoted && values.every(({ isQuoted }) => isQuoted)) return 'text'
  if (formed.every(({ form }) => form === 'number' || form === 'text') && areCodes(values)) return 'text'
  return refuse(
    other.cell,
    `${JSON.stringify(other.cell.text)} is no ${first.form}, unlike ${first.cell.text} in line ${first.cell.line}.`,
    `Leave cells without a value empty. ${AS_TEXT}`,
  )
}

/**
 * Guesses the types of the columns of a CSV file: integer, real, date, time or text. Refuses cells with two meanings, such as 1.234 in a
 * file with semicolons without other numbers, and columns of several forms. The user's rules decide what has two meanings.
 */
export function guessTypes(file: string, name: string, csv: CsvFile, rules: ReadingRules = {}): AttachedTable {
  const filled = csv.names.map((_, i) =>
    csv.rows.flatMap(({ line, cells, quoted }): Cell[] => {
      const text = cells[i]?.trim() ?? ''
      return text === '' ? [] : [{ line, text, isQuoted: quoted.has(i) }]
    }),
  )
  const isAllQuoted = filled.every((cells) => cells.every(({ isQuoted }) => isQuoted))
  const columns = filled.map((cells) => cells.filter(({ text }) => !MISSING.test(text)))
  const refuseAt =
    (column: number): Refuse =>
    (cell, message, hint) =>
      refuseCsv(file, `line ${cell.line}, column ${csv.names[column]}`, message, hint)
  const forms = columns.map((cells, i) => findForm(cells, refuseAt(i), isAllQuoted))
  const marks = columns.map((cells, i) =>
    forms[i] === 'number' ? (rules.decimal ?? findMark(cells, refuseAt(i))) : undefined,
  )
  // A comma that separates cells cannot be the decimal mark.
  const others = new Set(marks.filter((mark) => mark !== undefined).concat(csv.separator === ',' ? '.' : []))

  function typeNumbers(column: number): TypedColumn {
    const cells = columns[column]!
    if (cells.every(({ text }) => INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)))
      return { type: 'integer', convert: (text) => BigInt(text) }
    if (cells.every(({ text }) => /^[+-]?\d+$/.test(text))) return { type: 'text', convert: String }
    const refuse = refuseAt(column)
    const unclear = cells.find(({ text }) => {
      const [one, another] = possibleMarks(text).map((mark) => toNumber(text, mark))
      return another !== undefined && one !== another
    })
    const mark = marks[column] ?? (others.size === 1 || !unclear ? ([...others][0] ?? '.') : undefined)
    if (!mark)
      return refuse(
        unclear!,
        `${unclear!.text} may be ${toNumber(unclear!.text, '.')} or ${toNumber(unclear!.text, ',')}.`,
        'Pass --decimal with the decimal mark, or write numbers without thousands.',
      )
    const wrong = cells.find(({ text }) => !isNumber(text, mark))
    if (wrong)
      refuse(wrong, `${wrong.text} does not have ${MARK_WORDS[mark]}.`, 'Correct the cell, or pass another --decimal.')
    const isWhole = cells.every(({ text }) => Number.isSafeInteger(toNumber(text, mark)) && !text.includes(mark))
    return {
      type: isWhole ? 'integer' : 'real',
      convert: (text) => (isWhole ? BigInt(toNumber(text, mark)) : toNumber(text, mark)),
    }
  }

  function typeColumn(column: number): TypedColumn {
    const cells = columns[column]!
    switch (cells.length === 0 ? 'text' : forms[column]!) {
      case 'number':
        return typeNumbers(column)
      case 'ISO day or time':
        return typeIsoTimes(cells, refuseAt(column))
      case 'day or time as spreadsheets show it':
        return typeShownDays(cells, refuseAt(column), rules.dates)
      case 'text':
        return { type: 'text', convert: String }
    }
  }
  const typed = csv.names.map((_, i) => typeColumn(i))
  const toValue = (cell: string | null, { type, convert }: TypedColumn): Value => {
    if (type === 'text') return cell
    const text = cell?.trim() ?? ''
    return text === '' || MISSING.test(text) ? null : convert(text)
  }
  return {
    name,
    columns: csv.names.map((column, i) => ({ name: column, type: typed[i]!.type })),
    rows: csv.rows.map(({ cells }) => cells.map((cell, i) => toValue(cell, typed[i]!))),
  }
}
