import { daysFromCivil, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/** A month: twelve times the year, plus 0 for January to 11 for December. In UTC, unless another zone is named. */
export type Month = number

/** The month in which an instant lies. */
export function monthOf(at: Instant): Month {
  const date = new Date(at * 1000)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

export const yearOf = (month: Month): number => Math.floor(month / 12)

/** The instants of a month. */
export const monthInterval = (month: Month): Interval => ({ from: firstOfMonth(month), to: firstOfMonth(month + 1) })

const firstOfMonth = (month: Month): Instant => daysFromCivil(yearOf(month), (month % 12) + 1, 1) * 86_400

/** `2025-11`. */
export const monthText = (month: Month): string =>
  `${yearText(yearOf(month))}-${String((month % 12) + 1).padStart(2, '0')}`
export const yearText = (year: number): string => String(year).padStart(4, '0')

/** The months from one to another, both included. */
export const monthsBetween = (first: Month, last: Month): Month[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
