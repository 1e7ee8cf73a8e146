import { visible } from '../util/text.ts'

/** Variants of CSV. */
export interface Dialect {
  /** Escapes text that a spreadsheet would take for a formula. */
  readonly safe?: boolean
  /** For spreadsheets in languages that write 1,5: semicolons, a decimal comma, times as dates and a byte order mark. */
  readonly excel?: boolean
}

/** Writes a number so that the same number is read back, including `-0.0` and integers of 64 bits. */
const numberText = (value: number | bigint): string => (Object.is(value, -0) ? '-0.0' : String(value))

/** Writes a value as text; bytes as base64. */
export const plain = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(value)
  return Buffer.isBuffer(value) ? value.toString('base64') : String(value)
}

/** Writes a value as JSON; infinity as a number that is too large for a double. */
export function jsonCell(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return String(value)
  if (value === Infinity) return '1e999'
  if (value === -Infinity || Number.isNaN(value)) return '-1e999'
  if (typeof value === 'number') return numberText(value)
  const text = JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value)
  return typeof value === 'string' ? visible(text) : text
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** Quotes a value that has special characters. An empty text becomes `""`, to distinguish it from null. */
function quotedCell(value: unknown, special: RegExp): string {
  const text = plain(value)
  if (text === '') return value === null || value === undefined ? '' : '""'
  return special.test(text) ? quote(text) : text
}

/** Beginnings that spreadsheets take for formulas, including full-width forms: https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Writes a cell of CSV (RFC 4180). */
export function csvCell(value: unknown, { safe = false, excel = false }: Dialect = {}): string {
  const text = plain(value)
  if (typeof value === 'number' || typeof value === 'bigint') return excel ? text.replace('.', ',') : text
  // A spreadsheet shows a cell that begins with an apostrophe as text.
  if ((safe || excel) && FORMULA.test(text)) return quote(`'${text}`)
  return quotedCell(value, excel ? /[",;\n\r]/ : /[",\n\r]/)
}

/** Writes a cell of TSV, quoted as in CSV. */
export const tsvCell = (value: unknown): string => quotedCell(value, /["\t\n\r]/)

/** Matches a time of ISO 8601: day, clock, seconds, and offset if it has one. */
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))?$/

const readTime = (value: unknown): RegExpExecArray | null => (typeof value === 'string' ? ISO_TIME.exec(value) : null)

/** The number of rows that decide which columns have offsets. */
const SAMPLE_ROWS = 10_000

/** Writes the day, clock and seconds (`:00`) of a time. */
type WriteTime = (day: string, clock: string, seconds: string) => unknown

/** Writes a time as `2024-11-24 00:15`, because `T` and offset would keep it from being a date in a spreadsheet. */
const timeText: WriteTime = (day, clock, seconds) => `${day} ${clock}${seconds === ':00' ? '' : seconds}`

/** Writes a value for spreadsheets. */
function excelCells(value: unknown, hasOffsets: boolean, writeTime: WriteTime): unknown[] {
  const [, day, clock, seconds, sign, hours, minutes] = readTime(value) ?? []
  if (sign !== undefined && !hasOffsets) return [value]
  const cell = day === undefined ? value : writeTime(day, clock!, seconds!)
  if (!hasOffsets) return [cell]
  return [cell, sign === undefined ? null : (Number(hours) + Number(minutes) / 60) * (sign === '-' ? -1 : 1)]
}

/**
 * Writes rows for spreadsheets, the names of the columns first. A column with the offset from UTC in hours follows each column of times
 * with offsets: `at_offset_h` for `at_local`. An offset that appears only after the sample stays in its time.
 */
export async function* excelRows(
  columns: readonly string[],
  blocks: AsyncIterable<readonly (readonly unknown[])[]> | Iterable<readonly (readonly unknown[])[]>,
  writeTime: WriteTime = timeText,
): AsyncGenerator<unknown[][]> {
  let sample: (readonly unknown[])[] = []
  let hasOffsets: boolean[] | undefined
  const toCells = (row: readonly unknown[]) =>
    row.flatMap((value, i) => excelCells(value, hasOffsets?.[i] ?? false, writeTime))
  const begin = (): unknown[][] => {
    hasOffsets = columns.map((_, i) => sample.some((row) => readTime(row[i])?.[4] !== undefined))
    const names = columns.flatMap((name, i) =>
      hasOffsets?.[i] ? [name, `${name.replace(/_local$/, '')}_offset_h`] : [name],
    )
    return [uniqueNames(names), ...sample.map(toCells)]
  }
  for await (const block of blocks) {
    if (hasOffsets) yield block.map(toCells)
    else {
      sample = sample.concat(block)
      if (sample.length >= SAMPLE_ROWS) yield begin()
    }
  }
  if (!hasOffsets) yield begin()
}

/** Makes the names of columns unique: the second `a` becomes `a_2`. Databases do not distinguish `a` from `A`. */
export function uniqueNames(names: readonly string[], { ignoreCase = false } = {}): string[] {
  const keyOf = (name: string): string => (ignoreCase ? name.toLowerCase() : name)
  const given = new Set(names.map(keyOf))
  const used = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let i = 2; used.has(keyOf(unique)) || (unique !== name && given.has(keyOf(unique))); i++)
      unique = `${name}_${i}`
    used.add(keyOf(unique))
    return unique
  })
}

/** Converts a bigint to a number if that is exact; returns anything else unchanged. */
export const exactNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value
