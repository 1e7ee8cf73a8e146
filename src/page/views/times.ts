import { floorToSecond, type Instant } from '../../util/time/instant.ts'
import { dayIntervalAt, localDay } from '../../util/time/localDay.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'

/** Local time to the minute; with its offset on a day that is not 24 hours long, because an hour may come twice. */
export function timeText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  const isOdd = localDay(zone, dayIntervalAt(zone, at).day).seconds !== 86_400
  return `${local.slice(0, 10)} ${local.slice(11, local.slice(17, 19) === '00' ? 16 : 19)}${isOdd ? ` ${local.slice(19)}` : ''}`
}

/** When something happened here, in local time to the minute. */
export const momentText = (zone: string, moment: string): string => timeText(zone, floorToSecond(moment))

/** A moment (UTC, ISO 8601) in the time of the service, as every time of the page. */
export const localText = ({ service }: Pick<PageRequest, 'service'>, moment: string): string =>
  Number.isNaN(Date.parse(moment)) ? moment : momentText(service.timeZone, moment)

/** The same for a reader and for a program; nothing without a moment. */
export const timeElement = (request: Pick<PageRequest, 'service'>, moment: string | null | undefined): HtmlPart =>
  moment ? html`<time datetime="${moment}">${localText(request, moment)}</time>` : null

const LENGTHS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** A length of time in the largest unit of which it is a whole number. */
export function lengthText(seconds: number): string {
  const [size, unit] = LENGTHS.find(([length]) => seconds % length === 0) ?? [1, 's']
  return `${seconds / size} ${unit}`
}

/** A length of time in words, rounded: minutes, hours or days. */
export function roughLength({ words: { common } }: PageRequest, seconds: number): string {
  const size = Math.abs(seconds)
  if (size < 5_400) return common.minutes(Math.round(size / 60))
  return size < 96 * 3_600 ? common.hours(Math.round(size / 3_600)) : common.days(Math.round(size / 86_400))
}

/** How long something took. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
