import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import type { RecordedOutcome } from '../util/eventFields.ts'
import { floorToSecond, HOUR, type Instant } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { valueText, writtenLocale } from './client/format.ts'
import type { PageRequest } from './page.ts'
import { isOddDay } from './timeTicks.ts'

/* How numbers, times and names are written. */

/** The name of a kind of indicators; null for the usual kind. */
export function kindText(kind: string, { words: { common } }: PageRequest): string | null {
  if (kind === ENTRY_ROUTES.series) return null
  return kind === ENTRY_ROUTES.offers ? common.offer : kind.replaceAll('_', ' ')
}

/** Describes how a series is grouped: its step, and the aggregations of its values and geos. */
export const groupingText = ({ words: { common } }: PageRequest, ...parts: readonly (string | null)[]): string =>
  parts.flatMap((part) => (part === null ? [] : (common.steps[part] ?? part))).join(', ')

/** The class that gives the outcome of a run its sign. */
export const outcomeStyle = (outcome: RecordedOutcome): string =>
  ({ done: 'good', running: 'running', partial: 'warn', stopped: 'warn', failed: 'bad' })[outcome]

/** A number with at most three decimals; empty for null. */
export const numberText = (value: number | null | undefined, locale: string, minimumFractionDigits = 0): string =>
  // A value that rounds to zero is written without a sign.
  value?.toLocaleString(locale, { minimumFractionDigits, maximumFractionDigits: 3, signDisplay: 'negative' }) ?? ''

/** A length of time in hours, with one decimal. */
export const hoursText = (seconds: number, locale: string): string =>
  numberText(Math.round((10 * seconds) / HOUR) / 10, locale)

/** The decimals that any of some values needs. */
export const mostDecimals = (values: readonly (number | null)[]): number =>
  Math.max(0, ...values.map((value) => numberText(value, 'en').split('.')[1]?.length ?? 0))

/** A difference with its sign: by its magnitude, or with at least some decimals; empty for null. */
export function signedText(difference: number | null, locale: string, decimals?: number): string {
  if (difference === null) return ''
  const text = decimals === undefined ? valueText(difference, locale) : numberText(difference, locale, decimals)
  return `${difference > 0 ? '+' : ''}${text}`
}

export const countText = ({ locale }: { readonly locale: string }, count: number) => count.toLocaleString(locale)

/** Local time to the minute, with its offset on days of a clock change. */
export function timeText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  return `${local.slice(0, 10)} ${local.slice(11, local.slice(17, 19) === '00' ? 16 : 19)}${isOddDay(zone, at) ? ` ${local.slice(19)}` : ''}`
}

/** A moment (UTC, ISO 8601) in local time. */
export const momentText = (zone: string, moment: string): string => timeText(zone, floorToSecond(moment))

/** A moment (UTC, ISO 8601) in the zone of the service; any other text as it is. */
export const localText = ({ service }: Pick<PageRequest, 'service'>, moment: string): string =>
  Number.isNaN(Date.parse(moment)) ? moment : momentText(service.timeZone, moment)

/** The days of a range: `14–16 Nov`. */
export function daysText({ locale, service, now }: PageRequest, from: number, to: number): string {
  const year = to > now - 300 * 86_400 ? undefined : 'numeric'
  const { timeZone } = service
  const format = new Intl.DateTimeFormat(writtenLocale(locale), { timeZone, day: 'numeric', month: 'short', year })
  return format.formatRange(from * 1000, Math.max(from, to - 1) * 1000)
}

/** A length of time, rounded to minutes, hours or days. */
export function roughLength({ words: { common } }: PageRequest, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < 5_400) return common.minutes(Math.round(size / 60))
  return size < 96 * 3_600 ? common.hours(Math.round(size / 3_600)) : common.days(Math.round(size / 86_400))
}

/** A duration in seconds, minutes or hours. */
export function duration({ locale }: Pick<PageRequest, 'locale'>, seconds: number): string {
  if (seconds < 60) return `${seconds.toLocaleString(locale, { maximumFractionDigits: 1 })} s`
  const whole = Math.round(seconds)
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`
}
