import pRetry from 'p-retry'
import type { Reply } from '../api/reply.ts'
import type { ApiRequest } from '../api/request.ts'
import { KeyError, PassingError, type RequestSummary, StoppedError, SyncError } from '../base/errors.ts'
import type { Pace } from '../job/job.ts'
import { BREAKER, type BreakerOptions, createBreaker } from './breaker.ts'
import { type Failure, judge, nameFailure, quotaWaitMs } from './classify.ts'
import { type Answer, createAgent, LIMITS, type Limits, send } from './http.ts'
import { createGate } from './pace.ts'

/** Where to send requests, and how gently. */
export interface FetchOptions {
  readonly baseUrl: string
  readonly key: string
  readonly userAgent: string
  readonly pace: Pick<Pace, 'perSecond' | 'concurrency'>
  readonly signal: AbortSignal
  /** Called before every sending; may throw StoppedError when no call is left. */
  readonly beforeCall?: () => Promise<void>
  /** Told of every failed attempt. */
  readonly onFailure?: ((failure: Failure, attempt: number) => void) | undefined
  readonly limits?: Limits
  readonly breaker?: BreakerOptions | undefined
  /** Told when all calls are held: for how many milliseconds, and why. */
  readonly onHold?: ((ms: number, reason: string) => void) | undefined
  /** Milliseconds before the first repetition; each further one waits twice as long. */
  readonly retryMs?: number | undefined
}

/** A request that failed for good, with its last answer when there was one. */
export interface FailedFetch {
  readonly error: SyncError
  readonly reply: Reply | null
}

/** Sends requests one by one or side by side; holds connections open until it is closed. */
export interface Fetcher {
  /**
   * The reply, or what went wrong after all repetitions. What is too large is not repeated where it can be asked in
   * smaller pieces. Throws KeyError when the key was refused before, and StoppedError when the run has to end.
   */
  fetch(request: ApiRequest, divisible?: boolean): Promise<Reply | FailedFetch>
  close(): Promise<void>
}

/** A wait that the service asks for beyond this ends the run: it can go on later just as well. */
const MAX_WAIT_MS = 15 * 60_000
const MAX_TRIES = 6

const tooLong = (ms: number): StoppedError =>
  new StoppedError(`The service asks to wait ${Math.round(ms / 60_000)} minutes; the run ends here.`, {
    hint: 'Run the same command again after that; it goes on where it stopped.',
    code: 'retry-after',
  })

/** Failures that a smaller window may cure. */
const TOO_LARGE = ['too-large', 'timeout', 'body-too-large']
export const isTooLarge = (error: SyncError): boolean => TOO_LARGE.includes(error.code)

class AttemptError extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.error.message)
    this.failure = failure
  }
}

const triesOf = ({ error, tries }: Failure, divisible: boolean): number => (divisible && isTooLarge(error) ? 1 : tries)

export function createFetcher(options: FetchOptions): Fetcher {
  const {
    baseUrl,
    key,
    userAgent,
    pace,
    signal,
    beforeCall,
    onFailure,
    limits = LIMITS,
    retryMs = 1000,
    onHold,
  } = options
  const breaker = createBreaker(options.breaker ?? BREAKER)
  const agent = createAgent(limits, pace.concurrency)
  const gate = createGate(pace, signal)
  // Once the key was refused or the run has to end, nothing more is sent.
  let ended: SyncError | undefined
  const base = baseUrl.replace(/\/+$/, '')

  function hold(ms: number, reason: string): void {
    if (ms <= 0) return
    if (ms > MAX_WAIT_MS) throw tooLong(ms)
    gate.hold(ms)
    onHold?.(ms, reason)
  }

  /** Notes a failed attempt: the pace drops, and a host that keeps failing is left alone for a while. */
  function suffer({ error, coolDownMs }: Failure): void {
    if (!(error instanceof PassingError)) return
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

  /** Sends once, and draws every conclusion before the next call may begin. */
  async function sendOnce(
    url: string,
    headers: Readonly<Record<string, string>>,
    summary: RequestSummary,
  ): Promise<Buffer> {
    await beforeCall?.()
    const answer = await send(agent, url, headers, limits).catch((error: unknown) => nameFailure(error, summary))
    const failure = 'error' in answer ? answer : judge(answer, summary, Date.now())
    if (!('error' in answer)) spare(quotaWaitMs(answer.headers, Date.now()))
    if (failure) {
      if (!(failure.error instanceof PassingError)) breaker.alive()
      if (failure.error instanceof KeyError) ended = failure.error
      else suffer(failure)
      throw new AttemptError(failure)
    }
    breaker.alive()
    gate.faster()
    return (answer as Answer).body
  }

  async function attempt(request: ApiRequest): Promise<Buffer> {
    const url = `${base}${request.target}`
    const headers = { ...request.headers, 'x-api-key': key, 'User-Agent': userAgent }
    return gate.pass(async () => {
      if (ended) throw ended
      if (signal.aborted) throw new StoppedError('Stopped before the request was sent.', { code: 'signal' })
      try {
        return await sendOnce(url, headers, { route: request.route, url })
      } catch (error) {
        if (error instanceof StoppedError) ended = error
        throw error
      }
    })
  }

  return {
    async fetch(request, divisible = false) {
      const sentAt = Date.now()
      const began = performance.now()
      let attempts = 0
      let received: Buffer | undefined
      const reply = (status: number, body: Buffer): Reply => ({
        status,
        body,
        attempts,
        sentAt,
        ms: performance.now() - began,
      })
      try {
        const body = await pRetry(
          async (attemptNumber) => {
            attempts = attemptNumber
            received = await attempt(request)
            return received
          },
          {
            retries: MAX_TRIES - 1,
            minTimeout: retryMs,
            maxTimeout: 60_000,
            randomize: true,
            signal,
            onFailedAttempt({ error, attemptNumber }) {
              if (error instanceof AttemptError) onFailure?.(error.failure, attemptNumber)
            },
            shouldRetry: ({ error, attemptNumber }) =>
              error instanceof AttemptError && attemptNumber < triesOf(error.failure, divisible),
          },
        )
        return reply(200, body)
      } catch (error) {
        // A signal that came while the answer was read does not throw the answer away.
        if (received) return reply(200, received)
        if (error instanceof AttemptError) {
          const { error: reason, answer } = error.failure
          return { error: reason, reply: reply(answer?.status ?? 0, answer?.body ?? Buffer.alloc(0)) }
        }
        if (error instanceof SyncError) throw error
        if (signal.aborted) throw new StoppedError('Stopped by a signal.', { code: 'signal', cause: error })
        return {
          error: new PassingError(`${request.route}: ${(error as Error).message}`, { cause: error }),
          reply: null,
        }
      }
    },
    async close() {
      gate.close()
      await agent.close()
    },
  }
}
