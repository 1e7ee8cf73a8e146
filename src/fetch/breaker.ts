/** Stops hammering a host that fails: after a number of failures in a row all calls are paused, then one is let out to probe. */
export interface Breaker {
  /** Called after a response, good or refusing: the host works. */
  alive(): void
  /**
   * Called after a failure; `isUnreachable`: no response came at all. Returns how many milliseconds to pause all calls, 0 for none,
   * and undefined to give up.
   */
  failed(isUnreachable: boolean): number | undefined
}

/** When a breaker opens, and when the run ends. */
export interface BreakerOptions {
  /** Failures in a row until it opens. */
  readonly failures: number
  /** The first pause (milliseconds); each further one is twice as long. */
  readonly pauseMs: number
  /** How often it opens before the run ends. */
  readonly openings: number
  /** Milliseconds since the first of several failures in a row after which a host that cannot be reached is given up. */
  readonly giveUpMs: number
}

/** A service that is down ends a run within a minute: 35 s of pauses, and the calls before and between them. */
export const BREAKER: BreakerOptions = { failures: 8, pauseMs: 5_000, openings: 3, giveUpMs: 30_000 }

/**
 * A circuit breaker (Nygard, "Release It!", 2007) for one host. While it is half open a single failure opens it again, each
 * time for twice as long. `now`: a monotonic clock in milliseconds.
 */
export function createBreaker(
  { failures, pauseMs, openings, giveUpMs }: BreakerOptions,
  now: () => number = () => performance.now(),
): Breaker {
  let inARow = 0
  let opened = 0
  let firstAt = 0
  return {
    alive() {
      inARow = 0
      opened = 0
    },
    failed(isUnreachable) {
      if (inARow++ === 0) firstAt = now()
      // Each attempt to connect may take seconds: not even the first opening may come in time.
      if (isUnreachable && inARow > 2 && now() - firstAt >= giveUpMs) return undefined
      if (opened === 0 && inARow < failures) return 0
      opened++
      return opened > openings ? undefined : pauseMs * 2 ** (opened - 1)
    },
  }
}
