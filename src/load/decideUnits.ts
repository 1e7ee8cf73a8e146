import { BEGINNING } from '../db/tables/codes.ts'
import type { Instant } from '../util/time/instant.ts'
import type { DayNumber } from '../util/time/localDay.ts'

/** A quantity as a reply states it. */
export interface Quantity {
  readonly magnitude_id: number | null
  readonly magnitude: string | null
}

/** A quantity with the start of the time in which it applies, until the next one. The first one begins at `BEGINNING`. */
export interface UnitStretch extends Quantity {
  readonly from_at: Instant
  /** The fetch that first stated it here; null if that is not known. */
  readonly fetch_id: number | null
}

/** Whether two quantities are known to differ. Names without ids count only if both are in the same language. */
export function differs(a: Quantity, b: Quantity, hasSameLanguage: boolean): boolean {
  if (a.magnitude_id !== null && b.magnitude_id !== null) return a.magnitude_id !== b.magnitude_id
  if (a.magnitude_id !== null || b.magnitude_id !== null) return false
  return hasSameLanguage && a.magnitude !== null && b.magnitude !== null && a.magnitude !== b.magnitude
}

/** The stored local days of an indicator, of all its series and geos. */
export interface StoredDays {
  /** The days from the first one of the reply on, at least up to the first one after its last day, in order. */
  readonly days: readonly DayNumber[]
  /** Whether there are earlier ones. */
  readonly hasEarlier: boolean
}

/**
 * Decides when the quantities of an indicator apply after a reply that states one. It applies to the days of the reply without stored values:
 * the unit of a stored day never changes. So the order of replies about different days does not matter. `stretches` has at least one row.
 */
export function decideUnits(
  stretches: readonly UnitStretch[],
  stated: Quantity & { readonly fetch_id: number },
  replyDays: readonly DayNumber[],
  { days: storedDays, hasEarlier }: StoredDays,
  startOf: (day: DayNumber) => Instant,
): readonly UnitStretch[] {
  let result = stretches
  const stored = new Set(storedDays)
  const newDays = replyDays.filter((day) => !stored.has(day))
  let lastNext: DayNumber | undefined | null = null
  for (const day of newDays) {
    const next = storedDays.find((other) => other > day)
    // Later new days before the same stored day belong to the same stretch.
    if (lastNext !== null && next === lastNext) continue
    lastNext = next
    const isFirst = !hasEarlier && (storedDays.length === 0 || storedDays[0]! > day)
    const from = isFirst ? BEGINNING : startOf(day)
    const to = next === undefined ? Number.POSITIVE_INFINITY : startOf(next)
    const after = result.findLast(({ from_at }) => from_at <= to)!
    result = [
      ...result.filter(({ from_at }) => from_at < from),
      { ...stated, from_at: from },
      ...(next === undefined ? [] : [{ ...after, from_at: to }]),
      ...result.filter(({ from_at }) => from_at > to),
    ]
  }
  return result.filter((stretch, i) => i === 0 || differs(result[i - 1]!, stretch, true))
}
