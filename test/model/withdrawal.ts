/* Which stored values a reply withdraws (M6). */
import { HOUR } from './calendar.ts'
import type { StoredValue } from './oracle.ts'
import { dayOf, type Interval, isLong } from './units.ts'

/** What decides whether a reply may withdraw final values. */
export interface Guard {
  /** Values before this instant can no longer be revised. */
  readonly settledBefore: number
  readonly isRestate: boolean
}

interface Withdrawal {
  readonly withdrawn: readonly StoredValue[]
  /** The days of which the reply lacks too many final values. */
  readonly unverifiedDays: readonly Interval[]
}

/** A second reply at this distance from the first one confirms a withdrawal. */
const SECOND_AFTER = 20 * HOUR

/**
 * Decides which stored values of a geo a reply withdraws. It needs a second reply for a day of which it lacks more than an eighth of
 * the final values, or more than one period of a day and longer.
 */
export function judgeWithdrawal(
  suspectedSince: Map<string, number>,
  geo: number,
  stored: readonly StoredValue[],
  sent: ReadonlySet<number>,
  now: number,
  { settledBefore, isRestate }: Guard,
): Withdrawal {
  const isFinal = ({ at, version: { step } }: StoredValue): boolean => at + (step ?? 0) <= settledBefore
  const isLacking = ({ at }: StoredValue): boolean => !sent.has(at)
  const longLacking = stored.filter((one) => isLong(one.version.step) && isFinal(one) && isLacking(one)).length
  const withdrawn: StoredValue[] = []
  const unverifiedDays: Interval[] = []
  for (const [day, ofDay] of Map.groupBy(stored, ({ at }) => dayOf(at).from)) {
    const name = `${geo} ${day}`
    const final = ofDay.filter(isFinal)
    const lacking = final.filter(isLacking)
    const since = suspectedSince.get(name)
    const isMuch = lacking.every(({ version }) => isLong(version.step))
      ? lacking.length > 0 && (longLacking > 1 || since !== undefined)
      : lacking.length * 8 > final.length
    const isConfirmed = isRestate || (since !== undefined && now - since >= SECOND_AFTER)
    if (isMuch && !isConfirmed) {
      suspectedSince.set(name, since ?? now)
      unverifiedDays.push({ from: day, to: lastEnd(ofDay, day) })
      continue
    }
    suspectedSince.delete(name)
    withdrawn.push(...ofDay.filter(isLacking))
  }
  return { withdrawn, unverifiedDays }
}

/** Returns the end of a day, or of the longest period that begins in it. */
function lastEnd(ofDay: readonly StoredValue[], day: number): number {
  const ends = ofDay.flatMap(({ at, version: { step } }) => (isLong(step) ? [at + step!] : []))
  return Math.max(dayOf(day).to, ...ends)
}
