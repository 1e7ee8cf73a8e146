import { floorToSecond, type Instant } from '../../base/time/instant.ts'
import { dayIntervalAt, localDay } from '../../base/time/localDay.ts'
import { formatLocal } from '../../base/time/zone.ts'

/** A number as people of a language write it. */
export const numberText = (value: number | null | undefined, locale: string): string =>
  // What rounding leaves of nothing is nothing, and has no sign.
  value === null || value === undefined
    ? ''
    : (Number(value.toFixed(6)) || 0).toLocaleString(locale, { maximumFractionDigits: 3, signDisplay: 'negative' })

/** A count. */
export const countText = (count: number, locale: string): string => count.toLocaleString(locale)

/** Local time to the minute; on a day that is not 24 hours long with its offset, for some hour may come twice. */
export function timeText(zone: string, at: Instant): string {
  const local = formatLocal(zone, at)
  const isOdd = localDay(zone, dayIntervalAt(zone, at).day).seconds !== 86_400
  return `${local.slice(0, 10)} ${local.slice(11, local.slice(17, 19) === '00' ? 16 : 19)}${isOdd ? ` ${local.slice(19)}` : ''}`
}

/** When something happened here, in local time to the minute. */
export const momentText = (zone: string, moment: string): string => timeText(zone, floorToSecond(moment))

const LENGTHS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** A length of time in the largest unit in which it is whole. */
export function lengthText(seconds: number): string {
  const [size, unit] = LENGTHS.find(([length]) => seconds % length === 0) ?? [1, 's']
  return `${seconds / size} ${unit}`
}
