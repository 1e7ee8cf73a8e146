import pRetry from 'p-retry'
import { KeyError, type RequestSummary, StoppedError, SyncError, TransientError } from '../base/errors.ts'
import { redactorOf } from '../base/redact.ts'
import { stoppedBySignal } from '../base/stopped.ts'
import type { Pace } from '../job/job.ts'
import { BREAKER, type BreakerOptions, createBreaker } from './breaker.ts'
import { type Failure, nameFailure } from './classify.ts'
import { type Answer, createAgent, LIMITS, type Limits, type Sending } from './http.ts'
import { createGate } from './pace.ts'
import { quotaWaitMs } from './waits.ts'
import { DeadlineError } from './watch.ts'

/** Where to send requests, and how gently. */
export interface FetchOptions {
  readonly baseUrl: string
  readonly key: string
  readonly userAgent: string
  readonly pace: Pick<Pace, 'perSecond' | 'concurrency'>
  readonly signal: AbortSignal
  /** Called before every sending with the host that is asked; may throw StoppedError when no call is left. */
  readonly beforeCall?: (host: string) => Promise<void>
  /** Told of every failed attempt. */
  readonly onFailure?: ((failure: Failure, attempt: number) => void) | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly breaker?: BreakerOptions | undefined
  /** Told when all calls are held: for how many milliseconds, and why. */
  readonly onHold?: ((ms: number, reason: string) => void) | undefined
  /** Told when a host itself asks to wait, also for longer than this process does. */
  readonly onWait?: ((ms: number, host: string) => void) | undefined
  /** Milliseconds before the first repetition; each further one waits twice as long. */
  readonly retryMs?: number | undefined
}

/** Told of an attempt that failed and is repeated. */
export type OnRetry = (failure: Failure, attempt: number) => void

type Headed = Omit<Answer, 'body'>

/** Says what is wrong with an answer; undefined when it is a success. */
export type Judge<T> = (answer: T, summary: RequestSummary, now: number) => Failure | undefined

/** A failed attempt, with what is to be done next. */
export class AttemptError extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** The one way to the network: whatever is sent goes at one pace, within one budget, and hears what the service says. */
export interface Line {
  readonly baseUrl: string
  /** The header that names us, and the one that holds the key; the second is for the service alone. */
  readonly ourselves: Readonly<Record<string, string>>
  readonly key: Readonly<Record<string, string>>
  /** What every sending shares. */
  readonly sending: Omit<Sending, 'url' | 'headers'>
  /**
   * Sends once, when its turn has come, and draws every conclusion before the next call may begin. Throws AttemptError,
   * KeyError when the key was refused before, and StoppedError when the run has to end. `judged`: what is no success.
   */
  pass<T extends Headed>(summary: RequestSummary, once: () => Promise<T>, judged: Judge<T>): Promise<T>
  /** Repeats what failed and may pass, as often as its failure deserves; `onRetry` is told of every attempt that is repeated. */
  persist<T>(
    work: (attempt: number) => Promise<T>,
    triesOf: (failure: Failure) => number,
    onRetry?: OnRetry,
  ): Promise<T>
  close(): Promise<void>
}

/** A wait that the service asks for beyond this ends the run: it can go on later just as well. */
const MAX_WAIT_MS = 15 * 60_000
/** No service means more than a day; a wait of a century would end a database for good. */
const MAX_BELIEVED_MS = 24 * 60 * 60_000
const MAX_TRIES = 6

const tooLong = (ms: number): StoppedError =>
  new StoppedError(`The service asks to wait ${Math.round(ms / 60_000)} minutes; the run ends here.`, {
    hint: 'Run the same command again after that; it goes on where it stopped.',
    code: 'retry-after',
  })

/** Opens a line to a service; it holds connections open until it is closed. */
export function openLine(options: FetchOptions): Line {
  const { key, pace, signal, beforeCall, onFailure, retryMs = 1000, onHold, onWait } = options
  const limits = { ...LIMITS, ...options.limits }
  const breaker = createBreaker(options.breaker ?? BREAKER)
  const agent = createAgent(limits, pace.concurrency)
  const gate = createGate(pace, signal)
  const redactor = redactorOf(key)
  // Once the key was refused or the run has to end, nothing more is sent.
  let ended: SyncError | undefined

  function hold(ms: number, reason: string): void {
    if (ms <= 0) return
    if (ms > MAX_WAIT_MS) throw tooLong(ms)
    gate.hold(ms)
    onHold?.(ms, reason)
  }

  /** Notes a failed attempt: the pace drops, and a host that keeps failing is left alone for a while. */
  function suffer({ error, coolDownMs }: Failure): void {
    if (!(error instanceof TransientError)) return
    gate.slower()
    const ms = breaker.failed()
    if (ms === undefined)
      throw new StoppedError(`The service keeps failing. ${error.message} The run ends here.`, {
        hint: 'Run the same command again later; it goes on where it stopped.',
        code: 'circuit-open',
        cause: error,
      })
    hold(ms, 'the service keeps failing; one call will probe it')
    hold(coolDownMs, error.message)
  }

  /** Waits for a spent quota; the answer that told of it is good all the same. */
  function spare(ms: number): void {
    if (ms > MAX_WAIT_MS) ended = tooLong(ms)
    else hold(ms, 'the quota of the moment is spent')
  }

  /** Draws the conclusions of a failure, and throws it. */
  function conclude(failure: Failure): never {
    if (!(failure.error instanceof TransientError) || failure.alive) breaker.alive()
    if (failure.error instanceof KeyError) ended = failure.error
    else if (!failure.alive) suffer(failure)
    throw new AttemptError(failure)
  }

  async function sendOnce<T extends Headed>(
    summary: RequestSummary,
    once: () => Promise<T>,
    judged: Judge<T>,
  ): Promise<T> {
    const { host } = new URL(summary.url)
    await beforeCall?.(host)
    const answer = await once().catch((error: unknown) => {
      if (error instanceof SyncError) throw error
      if (error instanceof DeadlineError && error.code === 'STOPPED') throw stoppedBySignal(error)
      return conclude(nameFailure(error, summary, redactor))
    })
    const failure = judged(answer, summary, Date.now())
    const quota = quotaWaitMs(answer.headers, Date.now())
    const asked = failure?.error instanceof TransientError ? failure.error.retryAfterMs : undefined
    const wait = Math.max(quota, asked ?? 0)
    if (wait > 0) onWait?.(Math.min(wait, MAX_BELIEVED_MS), host)
    spare(quota)
    if (failure) conclude(failure)
    breaker.alive()
    gate.faster()
    return answer
  }

  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    ourselves: { 'User-Agent': options.userAgent },
    key: { 'x-api-key': key },
    sending: { dispatcher: agent, limits, redactor, stop: signal },
    pass: (summary, once, judged) =>
      gate.pass(async () => {
        if (ended) throw ended
        if (signal.aborted) throw stoppedBySignal()
        try {
          return await sendOnce(summary, once, judged)
        } catch (error) {
          if (error instanceof StoppedError) ended = error
          throw error
        }
      }),
    async persist(work, triesOf, onRetry) {
      try {
        return await pRetry(work, {
          retries: MAX_TRIES - 1,
          minTimeout: retryMs,
          maxTimeout: 60_000,
          randomize: true,
          signal,
          onFailedAttempt({ error, attemptNumber }) {
            if (!(error instanceof AttemptError)) return
            onFailure?.(error.failure, attemptNumber)
            if (attemptNumber < Math.min(triesOf(error.failure), MAX_TRIES)) onRetry?.(error.failure, attemptNumber)
          },
          shouldRetry: ({ error, attemptNumber }) =>
            error instanceof AttemptError && attemptNumber < triesOf(error.failure),
        })
      } catch (error) {
        if (error instanceof AttemptError || error instanceof SyncError || !signal.aborted) throw error
        throw stoppedBySignal(error)
      }
    },
    async close() {
      gate.close()
      await agent.destroy()
    },
  }
}
