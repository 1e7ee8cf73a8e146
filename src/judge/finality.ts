import type { EarlierLookback } from '../job/duty.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { floorTo, type Unit } from '../util/time/zone.ts'
import type { Coverage } from './stored.ts'

/* When stored data can no longer change: R1–R3 (docs/decisions/001-coverage.md). */

/** The borders at which a series becomes final. */
export interface Finality {
  readonly zone: string
  /** Seconds. */
  readonly lookbackS: number
  readonly unit: Unit
  /** The periods of the series, if it has known calendar periods. */
  readonly periods?: Periods | undefined
  /** Shorter lookbacks that apply to older data. */
  readonly earlierLookbacks?: readonly EarlierLookback[]
}

/** The unit on whose borders a series may be cut: its bucket if that is longer than a day, else the day. */
export const borderUnit = (timeTrunc: string | null): Unit =>
  timeTrunc === 'month' || timeTrunc === 'year' ? timeTrunc : 'day'

/** The local border before which, at an instant, nothing can be revised. */
export const findSettledBorder = (at: Instant, finality: Finality): Instant =>
  findBorder(at - finality.lookbackS, finality)

/** The last local border that is not after an instant. */
function findBorder(at: Instant, { zone, unit, periods }: Finality): Instant {
  const border = floorTo(zone, at, unit)
  // A period that contains the border may still be revised.
  return periods ? floorTo(zone, periods.floor(border), unit) : border
}

/** R1: whether data was fetched within `refreshS`. A time in the future comes from a wrong clock, and does not count. */
export const isFresh = (fetchedAt: Instant, refreshS: number, now: Instant): boolean =>
  fetchedAt > now - refreshS && !isFuture(fetchedAt, now)

/** R2: the part of a stored interval that was settled when it was fetched. */
export function findSettledPart(stored: Coverage, finality: Finality, now: Instant): Interval {
  const ahead = Math.max(0, stored.fetchedAt - now)
  const settledEnd = (lookbackS: number): Instant =>
    stored.settledFor - ahead >= lookbackS
      ? stored.to
      : Math.min(stored.to, findSettledBorder(stored.fetchedAt - ahead, { ...finality, lookbackS }))
  const earlierEnds = (finality.earlierLookbacks ?? []).map(({ before, lookbackS }) =>
    Math.min(findBorder(before, finality), settledEnd(lookbackS)),
  )
  return { from: stored.from, to: Math.max(stored.from, settledEnd(finality.lookbackS), ...earlierEnds) }
}
