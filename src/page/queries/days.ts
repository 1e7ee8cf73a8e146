import type { Instant } from '../../util/time/instant.ts'
import { addUnits, floorTo, localDate } from '../../util/time/zone.ts'

/** Consecutive local days: their dates, and their borders, of which there is one more. */
export interface Days {
  readonly dates: readonly string[]
  readonly borders: readonly Instant[]
}

/** The last local days of a zone, as many as given, up to and including the one that holds an instant. */
export function lastDays(zone: string, now: Instant, count: number): Days {
  const today = floorTo(zone, now, 'day')
  const borders = [addUnits(zone, today, 'day', 1)]
  while (borders.length <= count) borders.unshift(addUnits(zone, borders[0]!, 'day', -1))
  return { dates: borders.slice(0, -1).map((at) => localDate(zone, at)), borders }
}

/** The local days of a zone from one instant to before another. */
export function daysBetween(zone: string, from: Instant, to: Instant): Days {
  const borders = [floorTo(zone, from, 'day')]
  while (borders.at(-1)! < to) borders.push(addUnits(zone, borders.at(-1)!, 'day', 1))
  return { dates: borders.slice(0, -1).map((at) => localDate(zone, at)), borders }
}
