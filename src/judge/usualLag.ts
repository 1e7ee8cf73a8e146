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

/** A fetch with the last value that the series had then. */
type KnownSample = LagSample & { readonly last_at: Instant }

/**
 * Selects the fetches that show how far a series usually is behind: those with a later value than all before, and those that waited for one
 * that came. A source that publishes once a week is usually that far behind; one that has ended or lost its newest values is not.
 */
function selectSamples(fetches: readonly LagSample[]): KnownSample[] {
  const samples: KnownSample[] = []
  let waiting: KnownSample[] = []
  let newest: KnownSample | null = null
  for (const fetch of fetches.toSorted((a, b) => (a.finished_at < b.finished_at ? -1 : 1))) {
    const { finished_at, last_at } = fetch
    if (last_at !== null && (newest === null || last_at > newest.last_at)) {
      newest = { ...fetch, last_at }
      samples.push(...waiting, newest)
      waiting = []
    } else if (newest !== null) waiting.push({ ...newest, finished_at })
  }
  return samples
}

/** The seconds since the end of the last period at each fetch; negative for the future. */
const lagsOf = (fetches: readonly KnownSample[]): number[] =>
  fetches.map(({ finished_at, last_at, step_s }) => floorToSecond(finished_at) - last_at - (step_s ?? 0))

/** Returns how far a series usually is behind when it is fetched, in seconds; null if too little is known. */
export function findUsualLag(lastFetches: readonly LagSample[]): number | null {
  const fetches = selectSamples(lastFetches)
  return fetches.length < 3 ? null : quantile(lagsOf(fetches), 0.5)
}

/**
 * Returns the lag of a series that is normal until its next fetch, by its last fetches: the seconds after the last period until a new value
 * is late. Null if too little is known.
 */
export function findAllowedLag(lastFetches: readonly LagSample[]): number | null {
  const fetches = selectSamples(lastFetches)
  if (fetches.length < 3) return null
  const times = fetches.map(({ finished_at }) => floorToSecond(finished_at)).sort((a, b) => a - b)
  const intervals = times.slice(1).flatMap((at, i) => (at - times[i]! > 60 ? [at - times[i]!] : []))
  const interval = intervals.length === 0 ? DAY : quantile(intervals, 0.5)
  const lags = lagsOf(fetches)
  const step = Math.max(...fetches.map(({ step_s }) => step_s ?? 0))
  // The upper quartile, so that a few late publications do not count as usual.
  const usual = quantile(lags, 0.75)
  const spread = usual - quantile(lags, 0.1)
  return Math.round(usual + Math.max(interval * 1.25, step) + spread / 2)
}
