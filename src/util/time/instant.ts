/** An instant: whole seconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** The seconds of an hour, and of a day of 24 hours. */
export const HOUR = 3_600
export const DAY = 86_400
/** Seconds, and milliseconds, by which two clocks may differ without one of them being wrong. */
export const CLOCK_ERROR_S = 300
export const CLOCK_ERROR_MS = CLOCK_ERROR_S * 1000
/** Whether a stored time is in the future, because a clock was wrong. */
export const isFuture = (at: Instant, now: Instant): boolean => at > now + CLOCK_ERROR_S
/** The milliseconds of a minute, of an hour, and of a day of 24 hours. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The first and last instants with a four-digit year, 0001 to 9999. */
export const EARLIEST: Instant = -62_135_596_800
export const LATEST: Instant = 253_402_300_799

/** The days after which the calendar repeats. */
const DAYS_IN_400_YEARS = 146_097

/** Days from 1970-01-01 to a date. Months outside 1 to 12 count on from the year. */
export const daysFromCivil = (year: number, month: number, day: number): number =>
  // `Date.UTC` takes years below 100 as years of the last century.
  Date.UTC(year + 400, month - 1, day) / DAY_MS - DAYS_IN_400_YEARS

const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/** Whether a date exists: 2021-02-29 does not. */
export function isDate(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > DAYS_IN_MONTH[month - 1]!) return false
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))
}

const two = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

/**
 * Reads `YYYY-MM-DDThh:mm:ss`, with or without a fraction (dropped), followed by `Z` or `±hh:mm`.
 * Returns NaN for any other text, a date or time that does not exist, or a missing offset: an instant is never guessed.
 * Written by hand, because it is strict and runs for every value.
 */
export function parseInstant(text: string): Instant {
  const year = two(text, 0) * 100 + two(text, 2)
  const month = two(text, 5)
  const day = two(text, 8)
  const hour = two(text, 11)
  const minute = two(text, 14)
  const second = two(text, 17)
  if (!isDate(year, month, day) || !(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return Number.NaN
  let at = 19
  if (text[at] === '.') {
    at++
    const first = at
    while (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++
    if (at === first) return Number.NaN
  }
  const local = daysFromCivil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
  const sign = text[at]
  if (sign === 'Z') return at + 1 === text.length ? local : Number.NaN
  if (sign !== '+' && sign !== '-') return Number.NaN
  const offsetHour = two(text, at + 1)
  const offsetMinute = two(text, at + 4)
  if (text.length !== at + 6 || text[at + 3] !== ':' || !(offsetHour <= 23 && offsetMinute <= 59)) return Number.NaN
  const offset = offsetHour * 3_600 + offsetMinute * 60
  return sign === '+' ? local - offset : local + offset
}

/** The instant of epoch milliseconds, such as those of a clock, down to whole seconds. */
export const toInstant = (ms: number): Instant => Math.floor(ms / 1000)

/** Formats an instant as `2025-10-01T00:00:00Z`, the form of the database and of indicator routes. */
export const formatUtc = (at: Instant): string => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`

/** Formats epoch milliseconds as `2025-10-01T00:00:00.000Z`: the time of a local event. */
export const formatMillis = (ms: number): string => new Date(ms).toISOString()

/** Parses the time of a local event, down to whole seconds. */
export const floorToSecond = (moment: string): Instant => toInstant(Date.parse(moment))
