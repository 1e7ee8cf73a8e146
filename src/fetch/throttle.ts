import PQueue from 'p-queue'
import type { HttpResponse } from '../service/request.ts'
import {
  BrokenItemError,
  isOutage,
  KeyError,
  type RequestSummary,
  SignalError,
  StoppedError,
  SyncError,
  TransientError,
  UnavailableError,
} from '../util/errors.ts'
import { BREAKER, createBreaker } from './breaker.ts'
import { type AttemptFailure, classifyError } from './classify.ts'
import { DeadlineError } from './deadlines.ts'
import { parseHost } from './hosts.ts'
import { type Limits, type OpenResponse, type SendOptions, send } from './http.ts'
import type { ClientOptions } from './settings.ts'
import { createLongPauseError, MAX_WAIT_MS, quotaWaitMs } from './waits.ts'

/** A failed attempt, as p-retry expects it. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** One HTTP request. */
interface CallRequest<T extends HttpResponse> extends RequestSummary {
  readonly headers: Readonly<Record<string, string>>
  /** Whether a name that resolves into a private network is refused. Default: no. */
  readonly isPublicOnly?: boolean
  /** Limits that differ from those of the client. */
  readonly limits?: Partial<Limits>
  /** Reads the body. */
  readonly read: (opened: OpenResponse, options: SendOptions) => Promise<T>
  /** Returns the failure that a response means; undefined for a success. */
  readonly classify: (response: T, summary: RequestSummary, now: number) => AttemptFailure | undefined
  /** Called when it is sent, which may be long after the call. */
  readonly onSend?: () => void
}

/** Sends one HTTP request as soon as it may start. Throws its failure, or the error that ends the run. */
export type Call = <T extends HttpResponse>(request: CallRequest<T>) => Promise<T>

/** How calls are limited, and the connections over which they are sent. */
interface ThrottleOptions
  extends Pick<ClientOptions, 'baseUrl' | 'pacer' | 'hosts' | 'concurrency' | 'breaker' | 'onGivenUp' | 'onPause'>,
    Omit<SendOptions, 'url' | 'headers'> {
  /** The connections of calls with `isPublicOnly`. */
  readonly publicDispatcher: SendOptions['dispatcher']
}

/** Decides when calls start: concurrency, pace, breakers, and the pauses that hosts request. */
export function createThrottle(options: ThrottleOptions) {
  const { baseUrl, pacer, hosts, concurrency, redactor, signal, onGivenUp, onPause } = options
  const { breaker: breakerOptions = BREAKER } = options
  // Starts at one, so that a wrong key costs one call. A success adds one, a failure halves it.
  const queue = new PQueue({ concurrency: 1 })
  const breakers = new Map<string, ReturnType<typeof createBreaker>>()
  const breakerFor = (host: string) => {
    const breaker = breakers.get(host) ?? createBreaker(breakerOptions)
    breakers.set(host, breaker)
    return breaker
  }
  const longestPauseMs = breakerOptions.pauseMs * 2 ** breakerOptions.openings
  /** The error that ended the run: nothing more is sent. */
  let ended: SyncError | undefined

  const call: Call = ({ route, url, headers, read, classify, onSend, isPublicOnly = false, ...over }) => {
    const { host, protocol } = new URL(url)
    const summary = { route, url }
    const dispatcher = isPublicOnly ? options.publicDispatcher : options.dispatcher
    const limits = { ...options.limits, ...over.limits }
    return queue.add(async () => {
      try {
        if (signal.aborted) throw new SignalError()
        if (!ended) await hosts?.open(host, protocol)
        if (!ended) await pacer.take(host, signal)
        if (ended) throw ended
        onSend?.()
        const response = await send({ dispatcher, url, headers, limits, redactor, signal }, read).catch((error) =>
          handleFailure(summary, toFailure(error, summary)),
        )
        // The dates of a service are compared with the system clock.
        await handleResponse(summary, response, classify(response, summary, Date.now()))
        return response
      } catch (error) {
        if (error instanceof StoppedError || error instanceof KeyError) ended ??= error
        throw error
      }
    })
  }

  /** The failure that an error without a response means. Throws an error that ends the run. */
  function toFailure(error: unknown, summary: RequestSummary): AttemptFailure {
    if (error instanceof SyncError) throw error
    if (error instanceof DeadlineError && error.code === 'STOPPED') throw new SignalError(error)
    return classifyError(error, summary, redactor)
  }

  /** Pauses calls if the quota is used up, before the next call begins. Throws if the response is a failure. */
  async function handleResponse(
    summary: RequestSummary,
    response: HttpResponse,
    failure: AttemptFailure | undefined,
  ): Promise<void> {
    const { host } = new URL(summary.url)
    const quotaMs = quotaWaitMs(response.headers, Date.now())
    const retryAfterMs = failure?.error instanceof TransientError ? failure.error.retryAfterMs : undefined
    const waitMs = Math.max(quotaMs, retryAfterMs ?? 0)
    if (waitMs > 0) hosts?.pause(host, waitMs, waitMs > quotaMs && failure !== undefined && isOutage(failure.error))
    // This response is still good, but nothing more is sent before the quota is renewed.
    if (quotaMs > MAX_WAIT_MS) {
      ended = createLongPauseError(quotaMs)
      await pacer.pause(host, quotaMs)
    } else await pause(host, quotaMs, 'the rate limit of the service is used up')
    if (failure) return handleFailure(summary, failure)
    breakerFor(host).succeeded()
    if (queue.concurrency < concurrency) queue.concurrency++
  }

  /** Pauses calls after a failure, before the next call begins. Throws the failure, or the error that ends the run. */
  async function handleFailure(summary: RequestSummary, failure: AttemptFailure): Promise<never> {
    const { host, pathname } = new URL(summary.url)
    const { error, coolDownMs, response } = failure
    if (error instanceof KeyError) throw error
    if (!(error instanceof TransientError) || failure.isHostUp) {
      breakerFor(host).succeeded()
      throw new AttemptError(failure)
    }
    queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2))
    const reaction = breakerFor(host).failed(pathname, response === null && isOutage(error))
    if (typeof reaction !== 'number') {
      // Storage that is down fails its own files only; each further one costs a single call.
      if (host !== parseHost(baseUrl)) throw new AttemptError({ ...failure, maxAttempts: 1 })
      if (reaction === 'item') throw new AttemptError({ ...failure, error: new BrokenItemError(error), maxAttempts: 1 })
      if (!onGivenUp) throw new UnavailableError(error)
      await onGivenUp(host)
    }
    if (coolDownMs > MAX_WAIT_MS && isOutage(error)) {
      await pacer.pause(host, coolDownMs)
      const { message, hint } = createLongPauseError(coolDownMs)
      const outage = new TransientError(`${error.message} ${message}`, { code: error.code, cause: error })
      throw new UnavailableError(outage, hint)
    }
    await pause(host, typeof reaction === 'number' ? reaction : longestPauseMs, 'the service keeps failing')
    await pause(host, coolDownMs, error.message)
    throw new AttemptError(failure)
  }

  /** Pauses all calls. Throws StoppedError if the pause is too long to wait. */
  async function pause(host: string, ms: number, reason: string): Promise<void> {
    if (ms <= 0) return
    // Processes that share the pace wait too, even if this one ends.
    await pacer.pause(host, ms)
    if (ms > MAX_WAIT_MS) throw createLongPauseError(ms)
    onPause?.(ms, reason)
  }

  return { call, clear: () => queue.clear() }
}
