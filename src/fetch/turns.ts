import { StoppedError } from '../base/errors.ts'
import { quantity } from '../base/quantity.ts'
import { MAX_ACCEPTED_WAIT_MS } from '../base/time/wait.ts'
import type { Pace } from '../job/job.ts'
import { type BreakerOptions, createBreaker } from './breaker.ts'
import { createGate } from './pace.ts'

/** The result of a call, as far as it says how to treat the host. */
interface CallResult {
  /** `good`: a normal answer; `alive`: a refusal by a host that works; `failed`: no answer, or one by which the host is overloaded or broken. */
  readonly what: 'good' | 'alive' | 'failed'
  /** How many milliseconds the host asks not to be called; 0 if it does not ask. */
  readonly waitMs: number
  /** Whether no answer came at all. */
  readonly isUnreachable?: boolean
}

/** What follows for all calls to the host: how many milliseconds they are paused, and whether to give up. */
interface Consequence {
  readonly pauseMs: number
  readonly giveUp: boolean
}

/** A request is not sent now: its turn has not begun yet, or has passed. Whoever gives out turns tries again. */
export class NotNowError extends Error {}

/** A request is not sent because its lease may have ended and others may have what it asks for: what is left of it is looked up first. */
export class LapsedError extends NotNowError {}

/** Throws LapsedError where others may be requesting, or have loaded, what is about to be requested. */
export type CheckLease = () => void

/** Is called at the moment at which a request is written to its connection. Throws NotNowError where that is not within its turn. */
export type OnSend = () => void

/** Decides when a call to a host may begin, from the results of earlier ones: those of this process, or of all that share the host. */
export interface Turns {
  /**
   * Runs a call to a host when its turn has come, and again as often as it was too late for it. Throws StoppedError if the signal
   * comes first, or the turn never comes, and what `checkLease` throws: it is called before the call and right before the request is sent.
   */
  pass<T>(host: string, call: (onSend: OnSend) => Promise<T>, checkLease?: CheckLease): Promise<T>
  /** Takes the result of a call, before the next one may begin. */
  report(host: string, result: CallResult): Promise<Consequence>
  close(): Promise<void>
}

/** Opens the turns of a run; `onPause` is called when its calls wait: for how many milliseconds, and why. */
export type OpenTurns = (pace: Pace, onPause?: (ms: number, reason: string) => void) => Turns

/** If the service asks for a longer wait than this, the run ends, and a later run continues. */
export const MAX_WAIT_MS = 15 * 60_000

/** The error of a run that would have to wait too long. */
export function tooLong(ms: number): StoppedError {
  const [pause, then] =
    ms < MAX_ACCEPTED_WAIT_MS
      ? [quantity(Math.round(ms / 60_000), 'minute'), 'after that']
      : ['a day or more', 'in a day, when the service is asked again at the earliest']
  return new StoppedError(`The service asks to wait ${pause}; the run ends here.`, {
    hint: `Run the same command again ${then}; it continues where it stopped.`,
    code: 'retry-after',
  })
}

/** The turns of one process: a pace, an adaptive limit and a circuit breaker for all its calls. */
export function createTurns(
  pace: Pick<Pace, 'perSecond' | 'concurrency'>,
  signal: AbortSignal,
  options: BreakerOptions,
  recentCalls?: readonly number[],
): Turns {
  const gate = createGate(pace, signal, recentCalls)
  const breaker = createBreaker(options)
  const pause = (ms: number): void => {
    if (ms > 0 && ms <= MAX_WAIT_MS) gate.pause(ms)
  }
  return {
    pass: (_host, call, checkLease) =>
      gate.pass(async (onSend) => {
        checkLease?.()
        return call(() => {
          checkLease?.()
          onSend()
        })
      }),
    async report(_host, { what, waitMs, isUnreachable = false }) {
      pause(waitMs)
      if (what !== 'failed') {
        breaker.alive()
        if (what === 'good') gate.faster()
        return { pauseMs: 0, giveUp: false }
      }
      gate.slower()
      const ms = breaker.failed(isUnreachable)
      pause(ms ?? 0)
      return { pauseMs: ms ?? 0, giveUp: ms === undefined }
    },
    async close() {
      gate.close()
    },
  }
}
