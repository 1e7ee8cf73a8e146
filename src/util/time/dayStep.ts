import { modulo } from '../modulo.ts'
import { DAY, HOUR, type Instant } from './instant.ts'
import type { LocalDay } from './localDay.ts'
import { isCalendarStep } from './periods.ts'
import { offsetAt } from './zone.ts'

/** A day holds a step if it has values in at least this share of its periods: sources lose some values of whole days. */
export const WHOLE_DAY = 7 / 8

/**
 * Seconds since the last border of a step. Periods up to an hour follow each other in UTC; longer ones begin at the same local times
 * every day.
 */
export const phaseAt = (zone: string, at: Instant, step: number): number =>
  modulo(step <= HOUR ? at : at + offsetAt(zone, at), Math.min(step, DAY))

/** The steps that a day may have, in seconds: whole minutes that divide an hour, whole hours that divide a day, and the day. */
const STEPS: readonly number[] = [
  ...[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 4, 6, 8, 12, 24].map((hours) => hours * 3600),
]

/** The step of a day and its offset, and how many values are off the periods of the step; null without a step. */
export interface DayStep {
  readonly step: number | null
  readonly offset: number | null
  readonly strays: number | null
}

const NO_STEP: DayStep = { step: null, offset: null, strays: null }

/** The step of a day whose periods follow each other without a gap, if it is a usual step and the day holds it; else null. */
export function evenStep(zone: string, day: LocalDay, firstAt: Instant, count: number, step: number): DayStep | null {
  if (!STEPS.includes(step) || isCalendarStep(step) || count * step < day.seconds * WHOLE_DAY) return null
  // Longer periods begin at other times after clocks changed.
  if (step > HOUR && offsetAt(zone, day.from) !== offsetAt(zone, day.to - 1)) return null
  return { step, offset: phaseAt(zone, firstAt, step), strays: 0 }
}

/** Finds the finest step of which a day holds seven eighths of the periods. `at`: its instants with values, in order. */
export function findDayStep(zone: string, day: LocalDay, at: readonly Instant[]): DayStep {
  for (const step of STEPS) {
    const periods = isCalendarStep(step) ? 1 : day.seconds / step
    if (at.length < periods * WHOLE_DAY) continue
    const counts = new Map<number, number>()
    for (const instant of at) {
      // If the clocks skip midnight, the day begins later.
      const phase = isCalendarStep(step) && instant === day.from ? 0 : phaseAt(zone, instant, step)
      counts.set(phase, (counts.get(phase) ?? 0) + 1)
    }
    const [offset, count] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))
    // Most values have the step of the day: two of thirteen hours of sun are not a step of twelve hours.
    if (count >= periods * WHOLE_DAY && count * 2 > at.length) return { step, offset, strays: at.length - count }
  }
  return NO_STEP
}
