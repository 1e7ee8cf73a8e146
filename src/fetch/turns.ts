import { StoppedError } from '../base/errors.ts'
import { quantity } from '../base/quantity.ts'
import type { Pace } from '../job/job.ts'
import { type BreakerOptions, createBreaker } from './breaker.ts'
import { createGate } from './pace.ts'

/** What came of a call, as far as the manners towards its host go. */
export interface Heard {
  /** `good`: an answer that counts; `alive`: a refusal by a host that works; `failed`: none, or one that says that it suffers. */
  readonly what: 'good' | 'alive' | 'failed'
  /** For how many milliseconds the host asks to be left alone; 0 for not at all. */
  readonly waitMs: number
}

/** What follows for all calls to the host: for how many milliseconds they are held, and why; and whether it is time to give up. */
export interface Consequence {
  readonly holdMs: number
  readonly giveUp: boolean
}

/** Decides when a call to a host may begin, and is told how it went: for this process by itself, or for all that share a host. */
export interface Turns {
  /** Runs a call to a host when its turn has come. Throws StoppedError when the signal comes before its turn, or none comes. */
  pass<T>(host: string, call: () => Promise<T>): Promise<T>
  /** Told what came of a call, before the next one may begin. */
  heard(host: string, heard: Heard): Promise<Consequence>
  close(): Promise<void>
}

/** The service may request a longer wait than this: then the run ends, and a later one goes on. */
export const MAX_WAIT_MS = 15 * 60_000

/** Why a run ends that would wait too long. */
export const tooLong = (ms: number): StoppedError =>
  new StoppedError(`The service asks to wait ${quantity(Math.round(ms / 60_000), 'minute')}; the run ends here.`, {
    hint: 'Run the same command again after that; it goes on where it stopped.',
    code: 'retry-after',
  })

/** The turns of one process: a pace, an adaptive limit and a circuit breaker for whatever it sends. */
export function createTurns(
  pace: Pick<Pace, 'perSecond' | 'concurrency'>,
  signal: AbortSignal,
  options: BreakerOptions,
): Turns {
  const gate = createGate(pace, signal)
  const breaker = createBreaker(options)
  const hold = (ms: number): void => {
    if (ms > 0 && ms <= MAX_WAIT_MS) gate.hold(ms)
  }
  return {
    pass: (_host, call) => gate.pass(call),
    async heard(_host, { what, waitMs }) {
      hold(waitMs)
      if (what !== 'failed') {
        breaker.alive()
        if (what === 'good') gate.faster()
        return { holdMs: 0, giveUp: false }
      }
      gate.slower()
      const ms = breaker.failed()
      hold(ms ?? 0)
      return { holdMs: ms ?? 0, giveUp: ms === undefined }
    },
    async close() {
      gate.close()
    },
  }
}
