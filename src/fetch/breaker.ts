/** Stops calls to a failing host: after several failures in a row all calls are paused, then one call probes the host. */
export interface Breaker {
  /** Called after a response that shows that the host works, even if it refused the request. */
  succeeded(): void
  /** Called after a failure about an item, such as `/indicators/600`. `isUnreachable`: there was no response at all. */
  failed(item: string, isUnreachable: boolean): Verdict
}

/** The decision of a breaker after a failure. It gives up an item if all failures in a row are about it and the host responds, else the host. */
export type Verdict =
  | { readonly kind: 'continue' | 'giveUpItem' | 'giveUpHost' }
  /** All calls pause. */
  | { readonly kind: 'pause'; readonly ms: number }

/** When a breaker opens, and when the run ends. */
export interface BreakerOptions {
  /** Failures in a row until it opens. */
  readonly failures: number
  /** The first pause (milliseconds); each further one is twice as long. */
  readonly pauseMs: number
  /** How often it opens before the run ends. */
  readonly openings: number
  /** Milliseconds after the first failure in a row until an unreachable host is given up. */
  readonly giveUpMs: number
}

/** Ends a run within a minute if the service is down: 35 s of pauses, and the calls before and between them. */
export const BREAKER: BreakerOptions = { failures: 8, pauseMs: 5_000, openings: 3, giveUpMs: 30_000 }

/**
 * Creates a circuit breaker (Nygard, "Release It!", 2007) for one host. While it is half open, one failure opens it again, for twice
 * as long. `now`: a monotonic clock in milliseconds.
 */
export function createBreaker(
  { failures, pauseMs, openings, giveUpMs }: BreakerOptions,
  now: () => number = () => performance.now(),
): Breaker {
  let failuresInRow = 0
  let opened = 0
  let firstFailureAt = 0
  const items = new Set<string>()
  return {
    succeeded() {
      failuresInRow = 0
      opened = 0
      items.clear()
    },
    failed(item, isUnreachable) {
      items.add(item)
      if (failuresInRow++ === 0) firstFailureAt = now()
      // Each attempt to connect may take so long that the breaker has not even opened yet.
      if (isUnreachable && failuresInRow > 2 && now() - firstFailureAt >= giveUpMs) return { kind: 'giveUpHost' }
      if (opened === 0 && failuresInRow < failures) return { kind: 'continue' }
      opened++
      if (opened <= openings) return { kind: 'pause', ms: pauseMs * 2 ** (opened - 1) }
      return { kind: items.size > 1 || isUnreachable ? 'giveUpHost' : 'giveUpItem' }
    },
  }
}
