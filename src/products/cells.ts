import { visible } from '../base/visible.ts'

/** How CSV is written for programs that are particular. */
export interface Dialect {
  /** Text that a spreadsheet would take for a formula is kept from being one. */
  readonly safe?: boolean
  /** For spreadsheets in languages that write 1,5: semicolons, a decimal comma and a byte order mark. */
  readonly excel?: boolean
}

/** A number as text that is read back as the same number: `-0.0` too, and whole numbers of 64 bits. */
const digits = (value: number | bigint): string => (Object.is(value, -0) ? '-0.0' : String(value))

/** A value as text, for people and for CSV: bytes are base64. */
export const plain = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'bigint') return digits(value)
  return Buffer.isBuffer(value) ? value.toString('base64') : String(value)
}

/** A value as JSON. What is too large for a double is written as a number that is read as infinity. */
export function jsonCell(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? digits(value) : value > 0 ? '1e999' : '-1e999'
  const text = JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value)
  return typeof value === 'string' ? visible(text) : text
}

/** Beginnings that spreadsheets take for formulas, wide forms too: https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell of CSV (RFC 4180). An empty text is `""`, so that it is another thing than no value. */
export function csvCell(value: unknown, { safe = false, excel = false }: Dialect = {}): string {
  const number = typeof value === 'number' || typeof value === 'bigint'
  const text = plain(value)
  if (number) return excel ? text.replace('.', ',') : text
  if (text === '') return value === null || value === undefined ? '' : '""'
  // A spreadsheet shows what follows the quote as it is.
  if ((safe || excel) && FORMULA.test(text)) return `"'${text.replaceAll('"', '""')}"`
  return /[",;\n\r]/.test(text) && (excel || /[",\n\r]/.test(text)) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Names of columns, each once: the second `a` is `a_2`. */
export function uniqueNames(names: readonly string[]): string[] {
  const given = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let i = 2; given.has(unique) || (unique !== name && names.includes(unique)); i++) unique = `${name}_${i}`
    given.add(unique)
    return unique
  })
}

/** A whole number as SQLite gave it, as a plain one where that is exact. */
export const exactNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value
