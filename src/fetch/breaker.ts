/** Stops hammering a host that fails: after a run of failures all calls are paused, then one is let out to probe. */
export interface Breaker {
  /** Called after an answer, good or refusing: the host works. */
  alive(): void
  /** Called after a failure. Returns how many milliseconds to pause all calls, 0 for none, and undefined to give up. */
  failed(): number | undefined
}

/** Failures in a row until it opens; the first pause; and how often it opens before the run ends. */
export interface BreakerOptions {
  readonly failures: number
  readonly pauseMs: number
  readonly openings: number
}

export const BREAKER: BreakerOptions = { failures: 8, pauseMs: 15_000, openings: 3 }

/**
 * A circuit breaker (Nygard, "Release It!", 2007) for one host. While it is half open a single failure opens it again, each
 * time for twice as long.
 */
export function createBreaker({ failures, pauseMs, openings }: BreakerOptions): Breaker {
  let inARow = 0
  let opened = 0
  return {
    alive() {
      inARow = 0
      opened = 0
    },
    failed() {
      inARow++
      if (opened === 0 && inARow < failures) return 0
      opened++
      return opened > openings ? undefined : pauseMs * 2 ** (opened - 1)
    },
  }
}
