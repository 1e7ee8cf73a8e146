import { visible } from '../util/text.ts'

/** Variants of CSV. */
export interface Dialect {
  /** Whether text that a spreadsheet would take for a formula is escaped. */
  readonly safe?: boolean
  /** For spreadsheets in languages that write 1,5: semicolons, a decimal comma, times as dates and a byte order mark. */
  readonly excel?: boolean
}

/** A number as text that is read back as the same number, `-0.0` and integers of 64 bits included. */
const digits = (value: number | bigint): string => (Object.is(value, -0) ? '-0.0' : String(value))

/** A value as text; bytes as base64. */
export const plain = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'bigint') return digits(value)
  return Buffer.isBuffer(value) ? value.toString('base64') : String(value)
}

/** A value as JSON. Infinity is written as a number that is too large for a double. */
export function jsonCell(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? digits(value) : value > 0 ? '1e999' : '-1e999'
  const text = JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value)
  return typeof value === 'string' ? visible(text) : text
}

/** Beginnings that spreadsheets take for formulas, full-width forms included: https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell of CSV (RFC 4180). An empty text is `""`, to distinguish it from null. */
export function csvCell(value: unknown, { safe = false, excel = false }: Dialect = {}): string {
  const number = typeof value === 'number' || typeof value === 'bigint'
  const text = plain(value)
  if (number) return excel ? text.replace('.', ',') : text
  if (text === '') return value === null || value === undefined ? '' : '""'
  // A spreadsheet shows a cell that begins with an apostrophe as text.
  if ((safe || excel) && FORMULA.test(text)) return `"'${text.replaceAll('"', '""')}"`
  return /[",;\n\r]/.test(text) && (excel || /[",\n\r]/.test(text)) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A time of ISO 8601: day, clock, seconds, offset. */
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/

const isLocalTime = (column: string): boolean => column.endsWith('_local')

/** The columns for spreadsheets: one with the offset from UTC in hours follows each local time. */
export const excelColumns = (columns: readonly string[]): string[] =>
  columns.flatMap((column) => (isLocalTime(column) ? [column, column.replace(/local$/, 'offset_h')] : [column]))

/** The cells of a row under `excelColumns`: times as `2024-11-24 00:15`, without the `T` and offset that keep them from being dates. */
export const excelCells = (columns: readonly string[], row: readonly unknown[]): unknown[] =>
  row.flatMap((value, i) => {
    const [, day, clock, seconds, sign, hours, minutes] =
      (typeof value === 'string' ? ISO_TIME.exec(value) : null) ?? []
    const cell = day === undefined ? value : `${day} ${clock}${seconds === ':00' ? '' : seconds}`
    if (!isLocalTime(columns[i] ?? '')) return [cell]
    return [cell, sign === undefined ? null : (Number(hours) + Number(minutes) / 60) * (sign === '-' ? -1 : 1)]
  })

/** A cell of a text with tabs between its columns; what has a tab, a quote or a line break in it is quoted as in CSV. */
export function tsvCell(value: unknown): string {
  const text = plain(value)
  if (text === '') return value === null || value === undefined ? '' : '""'
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Unique names of columns: the second `a` becomes `a_2`. */
export function uniqueNames(names: readonly string[]): string[] {
  const given = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let i = 2; given.has(unique) || (unique !== name && names.includes(unique)); i++) unique = `${name}_${i}`
    given.add(unique)
    return unique
  })
}

/** A bigint as a number where that is exact; anything else unchanged. */
export const exactNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value
