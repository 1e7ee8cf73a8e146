import { DAY, floorToSecond, type Instant } from '../util/time/instant.ts'

/* How far a series usually is behind when it is fetched. */

/** A fetch that reached the present: when it was recorded, the last instant with a value (null for an empty reply), and the step. */
export interface LagSample {
  readonly finished_at: string
  readonly last_at: Instant | null
  readonly step_s: number | null
}

/** Returns the quantile of some numbers. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(share * (sorted.length - 1))]!
}

/**
 * Gives empty replies the last value before them. Only those that waited for a value that came count: a source that publishes once a
 * week is usually that far behind, and one that has ended is not.
 */
function fillEmpty(fetches: readonly LagSample[]): LagSample[] {
  const filled: LagSample[] = []
  let waiting: LagSample[] = []
  let last: LagSample | null = null
  for (const fetch of fetches.toSorted((a, b) => (a.finished_at < b.finished_at ? -1 : 1)))
    if (fetch.last_at === null) waiting.push({ ...fetch, last_at: last?.last_at ?? null, step_s: last?.step_s ?? null })
    else {
      if (last && fetch.last_at > last.last_at!) filled.push(...waiting)
      filled.push(fetch)
      waiting = []
      last = fetch
    }
  return filled
}

/**
 * Returns the lag of a series that is normal until its next fetch, by its last fetches: the seconds after the last period until a new value
 * is late. Null if too little is known.
 */
export function findAllowedLag(lastFetches: readonly LagSample[]): number | null {
  const fetches = fillEmpty(lastFetches)
  if (fetches.length < 3) return null
  const times = fetches.map(({ finished_at }) => floorToSecond(finished_at)).sort((a, b) => a - b)
  const intervals = times.slice(1).flatMap((at, i) => (at - times[i]! > 60 ? [at - times[i]!] : []))
  const interval = intervals.length === 0 ? DAY : quantile(intervals, 0.5)
  // Since the end of the last period; negative for the future.
  const lags = fetches.map(({ finished_at, last_at, step_s }) => floorToSecond(finished_at) - last_at! - (step_s ?? 0))
  const step = Math.max(...fetches.map(({ step_s }) => step_s ?? 0))
  // The upper quartile, so that a few late publications do not count as usual.
  const usual = quantile(lags, 0.75)
  const spread = usual - quantile(lags, 0.1)
  return Math.round(usual + Math.max(interval * 1.25, step) + spread / 2)
}
