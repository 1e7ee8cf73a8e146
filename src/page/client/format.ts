/* How lengths of time, values and states are written. Server and browser share this file. */

/** A number of a clock or a date: `07`. */
export const padTwo = (number: number): string => String(number).padStart(2, '0')

/** The locale by which times and numbers are written: days come before months. */
export const writtenLocale = (locale: string): string => (locale === 'en' ? 'en-GB' : locale)

const LENGTHS = { d: 86_400, h: 3_600, min: 60 }

/** A length of time in the largest unit of which it is a whole number: `6 h`. */
export function lengthText(seconds: number): string {
  const [unit, size] = Object.entries(LENGTHS).find(([, length]) => seconds % length === 0) ?? ['s', 1]
  return `${seconds / size} ${unit}`
}

/** A value by its magnitude: no decimals from a thousand on, else two; three digits of a small one. */
export function valueText(value: number, locale: string): string {
  const size = Math.abs(value)
  if (size > 0 && size < 0.1) return value.toLocaleString(locale, { maximumSignificantDigits: 3 })
  const digits = size >= 1000 ? 0 : 2
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The sign of each state of an interval, so that colour is never the only one. */
export const SIGNS = {
  final: '',
  provisional: '~',
  empty: 'o',
  none: '',
  unverified: '×',
  failed: '!',
  // A state that only the page of a series distinguishes.
  absent: '×',
} as const
