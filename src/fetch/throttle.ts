import PQueue from 'p-queue'
import type { HttpResponse } from '../service/request.ts'
import { isOutage, KeyError, SignalError, StoppedError, type SyncError, TransientError } from '../util/errors.ts'
import { BREAKER, createBreaker, type Verdict } from './breaker.ts'
import type { AttemptFailure } from './classify.ts'
import type { CallRequest, CallResult } from './connections.ts'
import { parseHost } from './hosts.ts'
import { isHostFailure, type Pause, type Reaction, reactTo } from './reaction.ts'
import type { ClientOptions, Settings } from './settings.ts'
import { createLongPauseError, MAX_WAIT_MS, quotaWaitMs } from './waits.ts'

/** A failed attempt, as p-retry expects it. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** Sends one HTTP request as soon as it may start. Throws its failure, or the error that ends the run. */
export type Call = <T extends HttpResponse>(request: CallRequest<T>) => Promise<T>

/** Decides when calls start: concurrency, pace, breakers, and the pauses that hosts request. `attempt` sends a call at once. */
export function createThrottle(
  { baseUrl, breaker = BREAKER }: Settings,
  { pacer, hosts, concurrency, signal, onGivenUp, onPause }: ClientOptions,
  attempt: <T extends HttpResponse>(request: CallRequest<T>) => Promise<CallResult<T>>,
) {
  // Starts at one, so that a wrong key costs one call. A success adds one, a failure halves it.
  const queue = new PQueue({ concurrency: 1 })
  const breakers = new Map<string, ReturnType<typeof createBreaker>>()
  const breakerFor = (host: string) => {
    const known = breakers.get(host) ?? createBreaker(breaker)
    breakers.set(host, known)
    return known
  }
  const longestPauseMs = breaker.pauseMs * 2 ** breaker.openings
  const outagePauseMs = onGivenUp ? longestPauseMs : null
  /** The error that ended the run: nothing more is sent. */
  let ended: SyncError | undefined

  const call: Call = (request) => {
    const { host, protocol, pathname } = new URL(request.url)
    return queue.add(async () => {
      try {
        if (signal.aborted) throw new SignalError()
        if (!ended) await hosts?.open(host, protocol)
        if (!ended) await pacer.take(host, signal)
        if (ended) throw ended
        request.onSend?.()
        const result = await attempt(request)
        await obeyRequestedPause(host, result)
        if (result.kind === 'ok') {
          noteSuccess(host)
          return result.response
        }
        const { failure } = result
        const verdict = noteFailure(host, pathname, failure)
        const isService = host === parseHost(baseUrl)
        return await carryOut(host, reactTo(failure, verdict, { isService, outagePauseMs }))
      } catch (error) {
        if (error instanceof StoppedError || error instanceof KeyError) ended ??= error
        throw error
      }
    })
  }

  /** Records a pause that a response requests. If the quota is used up, pauses calls before the next one begins. */
  async function obeyRequestedPause(host: string, result: CallResult<HttpResponse>): Promise<void> {
    const { error } = result.kind === 'failed' ? result.failure : {}
    const response = result.kind === 'failed' ? result.failure.response : result.response
    if (!response) return
    const quotaMs = quotaWaitMs(response.headers, Date.now())
    const retryAfterMs = error instanceof TransientError ? error.retryAfterMs : undefined
    const waitMs = Math.max(quotaMs, retryAfterMs ?? 0)
    if (waitMs > 0) hosts?.pause(host, waitMs, waitMs > quotaMs && error !== undefined && isOutage(error))
    // This response is still good, but nothing more is sent before the quota is renewed.
    if (quotaMs > MAX_WAIT_MS) ended = createLongPauseError(quotaMs)
    if (quotaMs > 0) await pause(host, { ms: quotaMs, reason: 'the rate limit of the service is used up' })
  }

  function noteSuccess(host: string): void {
    breakerFor(host).succeeded()
    if (queue.concurrency < concurrency) queue.concurrency++
  }

  /** Counts a failure if the host is the cause. An error about the request shows that the host works. */
  function noteFailure(host: string, item: string, failure: AttemptFailure): Verdict {
    if (isHostFailure(failure)) {
      queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2))
      return breakerFor(host).failed(item, failure.response === null && isOutage(failure.error))
    }
    if (!(failure.error instanceof KeyError)) breakerFor(host).succeeded()
    return { kind: 'continue' }
  }

  /** Carries out a reaction: pauses calls before the next one begins, then throws. */
  async function carryOut(host: string, reaction: Reaction): Promise<never> {
    if (reaction.isGivenUp) await onGivenUp?.(host)
    for (const requested of reaction.pauses) await pause(host, requested)
    throw reaction.kind === 'end' ? reaction.error : new AttemptError(reaction.failure)
  }

  /** Pauses calls. Processes that share the pace wait too, even if the pause is so long that this one ends. */
  async function pause(host: string, { ms, reason }: Pause): Promise<void> {
    await pacer.pause(host, ms)
    if (ms <= MAX_WAIT_MS) onPause?.(ms, reason)
  }

  return { call, clear: () => queue.clear() }
}
