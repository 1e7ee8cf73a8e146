/* How times, values and states are written. Server and browser share this file. */

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
  withdrawn: '–',
  none: '',
  unverified: '×',
  failed: '!',
  // States that only the page of a series distinguishes.
  absent: '×',
  late: '×',
  unrequested: '×',
  expected: '…',
} as const

/** The steps to the right and down of the arrow keys. */
export const ARROWS: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/*
 * In the browser, local time in the service's zone, from offsets that the server sends: the zone of the browser is never used.
 */

/** The offsets of a zone in seconds, each with the instant from which it holds; the first one also holds before. */
export type Offsets = readonly (readonly [at: number, seconds: number])[]

/** Seconds that local time is ahead of UTC at an instant. */
const offsetAt = (offsets: Offsets, at: number): number =>
  (offsets.findLast(([from]) => from <= at) ?? offsets[0] ?? [0, 0])[1]

/** The clock at an instant: `2025-10-26T02:15:00`. */
const clockAt = (offsets: Offsets, at: number): string =>
  new Date((at + offsetAt(offsets, at)) * 1000).toISOString().slice(0, 19)

/** An offset as `+02:00`. */
const offsetText = (seconds: number): string =>
  `${seconds < 0 ? '-' : '+'}${padTwo(Math.floor(Math.abs(seconds) / 3600))}:${padTwo((Math.abs(seconds) % 3600) / 60)}`

/** An instant for an address: a local day, if it is its beginning, else the time with its offset. */
export function addressText(offsets: Offsets, at: number): string {
  const clock = clockAt(offsets, at)
  return clock.endsWith('T00:00:00') ? clock.slice(0, 10) : `${clock}${offsetText(offsetAt(offsets, at))}`
}

/** Whether the clocks change on the local day of an instant, so that an hour of it may be repeated. */
const isOddDay = (offsets: Offsets, at: number): boolean =>
  offsets.slice(1).some(([change]) => clockAt(offsets, change).slice(0, 10) === clockAt(offsets, at).slice(0, 10))

/** Local time to the minute; with its offset on a day on which the clocks change. */
export const timeText = (offsets: Offsets, at: number): string =>
  clockAt(offsets, at).slice(0, 16).replace('T', ' ') +
  (isOddDay(offsets, at) ? ` ${offsetText(offsetAt(offsets, at))}` : '')
