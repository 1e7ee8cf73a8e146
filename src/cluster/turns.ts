import { BREAKER, type BreakerOptions } from '../fetch/breaker.ts'
import { createTurns, type Turns } from '../fetch/turns.ts'
import type { Pace } from '../job/job.ts'
import type { Pacer } from './pacer.ts'

/** Calls so fast that only the pacer holds them up. */
const UNPACED = 1_000

/** The concurrency and the circuit breaker of one process, at a pace that it shares. `givesUp`: whether a host that keeps failing ends the run. */
export function createPacedTurns(
  pacer: Pacer,
  { concurrency }: Pace,
  signal: AbortSignal,
  { breaker = BREAKER, givesUp }: { readonly breaker?: BreakerOptions | undefined; readonly givesUp: boolean },
): Turns {
  const own = createTurns({ concurrency, perSecond: UNPACED }, signal, breaker)
  return {
    ...own,
    pass: (host, call) =>
      own.pass(host, async (onSend) => {
        await pacer.take(host, signal)
        return call(onSend)
      }),
    async report(host, result) {
      const { pauseMs, giveUp } = await own.report(host, result)
      // A worker does not give up: it tries again after the longest pause.
      const pause = giveUp && !givesUp ? breaker.pauseMs * 2 ** breaker.openings : pauseMs
      const ms = Math.max(pause, result.waitMs)
      if (ms > 0) await pacer.pause(host, ms)
      return { pauseMs: pause, giveUp: giveUp && givesUp }
    },
  }
}
