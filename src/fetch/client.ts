import PQueue from 'p-queue'
import pRetry from 'p-retry'
import type { ApiRequest, HttpResponse, LastResponse, Reply } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import {
  isOutage,
  KeyError,
  OversizedError,
  type RequestSummary,
  SignalError,
  StoppedError,
  SyncError,
  TooLargeError,
  TransientError,
  UnavailableError,
} from '../util/errors.ts'
import { createRedactor } from '../util/redact.ts'
import { BREAKER, type BreakerOptions, createBreaker } from './breaker.ts'
import { type AttemptFailure, classifyError, classifyResponse } from './classify.ts'
import { DeadlineError } from './deadlines.ts'
import { parseHost } from './hosts.ts'
import { createAgent, HTTP_LIMITS, type Limits, readResponse, type SendOptions, send, userAgentHeader } from './http.ts'
import type { Pacer } from './pacer.ts'
import { MAX_WAIT_MS, quotaWaitMs, tooLong } from './waits.ts'

/** The service to call, the limits, and the callbacks. */
export interface ClientOptions {
  readonly baseUrl: string
  readonly key: string
  /** Declares the header of the key. */
  readonly service: Pick<Service, 'apiKey'>
  /** The version of this program, for the header `User-Agent`. */
  readonly version: string
  /** Decides when each call may be sent. */
  readonly pacer: Pacer
  /** Maximum number of concurrent calls. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** The clock, in epoch milliseconds. Default: the system clock. */
  readonly now?: (() => number) | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly breaker?: BreakerOptions | undefined
  /** Called when the breaker gives a host up. With it, a failing host does not end the run: it is tried again after a long pause. */
  readonly onGivenUp?: ((host: string) => Promise<void>) | undefined
  /** Milliseconds before the first retry. */
  readonly retryMs?: number | undefined
  /** Called for every failed attempt. */
  readonly onFailure?: ((failure: AttemptFailure, attempt: number) => void) | undefined
  /** Called when all calls are paused for `ms` milliseconds. */
  readonly onPause?: ((ms: number, reason: string) => void) | undefined
  /** Called when a host requests a pause, even one longer than this process waits. `isOutage`: the host is down. */
  readonly onWait?: ((ms: number, host: string, isOutage: boolean) => void) | undefined
}

/** Called for an attempt that failed and is retried. */
export type OnRetry = (failure: AttemptFailure, attempt: number) => void

/** A request without a reply: its error and its last response. */
export interface FailedFetch {
  readonly error: SyncError
  readonly last: LastResponse
  /** Whether the error ends the run: a refused key, a spent budget, an outage or a signal. */
  readonly endsRun: boolean
}

interface RetryOptions {
  /** Whether a failure is retried while attempts are left; default: yes. */
  readonly mayRetry?: (failure: AttemptFailure) => boolean
  readonly onRetry?: OnRetry | undefined
}

/** The options of `send` that are equal for all calls. */
type Sending = Omit<SendOptions, 'url' | 'headers'>

/** Sends one request when the pace allows it, and classifies its response. Throws the failure, or the error that ends the run. */
export type SendCall = <T extends HttpResponse>(
  summary: RequestSummary,
  sendOnce: (sending: Sending) => Promise<T>,
  classify: (response: T, summary: RequestSummary, now: number) => AttemptFailure | undefined,
) => Promise<T>

/** The only way to the network: pace, budget, retries, circuit breaker and deadlines of all requests and downloads. */
export interface Client {
  readonly baseUrl: string
  /** Headers of a request; the key is for the service only. */
  headers(withKey: boolean): Readonly<Record<string, string>>
  /** Fetches a reply. */
  get(request: ApiRequest, options?: RetryOptions): Promise<Reply | FailedFetch>
  /** Repeats an attempt of one or more calls after transient failures. Returns the last failure; throws errors that end the run. */
  retry<T extends object>(attempt: (call: SendCall) => Promise<T>, options?: RetryOptions): Promise<T | AttemptFailure>
  close(): Promise<void>
}

/** A failed attempt, as p-retry expects it. */
class AttemptError extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** Whether a smaller window may succeed. */
export const isTooLarge = (error: SyncError): boolean =>
  error instanceof TooLargeError || error instanceof OversizedError

const MAX_ATTEMPTS = 6
/** Milliseconds before the first retry. Each further wait is twice as long, and up to twice that at random. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/** Opens the client of a service. Its functions stand in the order in which a request passes them. */
export function openClient(options: ClientOptions): Client {
  const { key, pacer, concurrency, signal, now = Date.now, retryMs = FIRST_RETRY_MS } = options
  const { onFailure, onGivenUp, onPause, onWait } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const redactor = createRedactor(key)
  const dispatcher = createAgent(limits, concurrency, signal)
  // Starts at one, so that a wrong key costs one call. A success adds one, a failure halves it.
  const queue = new PQueue({ concurrency: 1 })
  const breakerOptions = options.breaker ?? BREAKER
  const breakers = new Map<string, ReturnType<typeof createBreaker>>()
  const breakerFor = (host: string) => {
    const breaker = breakers.get(host) ?? createBreaker(breakerOptions)
    breakers.set(host, breaker)
    return breaker
  }
  const longestPauseMs = breakerOptions.pauseMs * 2 ** breakerOptions.openings
  /** The error that ended the run: nothing more is sent. */
  let ended: SyncError | undefined

  const headers: Client['headers'] = (withKey) => ({
    'Accept-Encoding': 'br, gzip',
    ...(withKey ? { [options.service.apiKey.header]: key } : {}),
    ...userAgentHeader(options.version),
  })

  const get: Client['get'] = async (request, retryOptions) => {
    const url = `${baseUrl}${request.target}`
    const sentAt = now()
    const began = performance.now()
    let attempts = 0
    let response: HttpResponse | undefined
    const sendOnce = async (sending: Sending): Promise<HttpResponse> => {
      attempts++
      response = undefined
      response = await send({ ...sending, url, headers: { ...request.headers, ...headers(true) } }, readResponse)
      return response
    }
    const last = (): LastResponse => ({
      status: response?.status ?? 0,
      headers: response?.headers ?? {},
      body: response?.body ?? Buffer.alloc(0),
      bytes: response?.body.length ?? 0,
      attempts,
      sentAt,
      ms: performance.now() - began,
    })
    try {
      const summary = { route: request.route, url }
      const result = await retry((call) => call(summary, sendOnce, classifyResponse), retryOptions)
      return 'error' in result ? { error: result.error, last: last(), endsRun: false } : { ...last(), status: 200 }
    } catch (error) {
      if (error instanceof SyncError) return { error, last: last(), endsRun: true }
      throw error
    }
  }

  const retry: Client['retry'] = async (attempt, { mayRetry = () => true, onRetry } = {}) => {
    let result: Awaited<ReturnType<typeof attempt>> | undefined
    try {
      return await pRetry(
        async () => {
          result = await attempt(call)
          return result
        },
        {
          signal,
          retries: MAX_ATTEMPTS - 1,
          minTimeout: retryMs,
          maxTimeout: MAX_RETRY_MS,
          randomize: true,
          onFailedAttempt({ error, attemptNumber }) {
            if (error instanceof AttemptError) onFailure?.(error.failure, attemptNumber)
          },
          shouldRetry({ error, attemptNumber }) {
            if (!(error instanceof AttemptError)) return false
            if (attemptNumber >= error.failure.maxAttempts || !mayRetry(error.failure)) return false
            onRetry?.(error.failure, attemptNumber)
            return true
          },
        },
      )
    } catch (error) {
      // p-retry rejects a result that arrives after the signal, but the response is good.
      if (result) return result
      if (error instanceof AttemptError) return error.failure
      throw signal.aborted && !(error instanceof SyncError) ? new SignalError(error) : error
    }
  }

  const call: SendCall = (summary, sendOnce, classify) =>
    queue.add(async () => {
      const { host, protocol } = new URL(summary.url)
      try {
        if (signal.aborted) throw new SignalError()
        if (!ended) await pacer.take(host, signal, protocol)
        if (ended) throw ended
        const response = await sendOnce({ dispatcher, limits, redactor, stop: signal }).catch((error: unknown) => {
          if (error instanceof SyncError) throw error
          if (error instanceof DeadlineError && error.code === 'STOPPED') throw new SignalError(error)
          return handleFailure(host, classifyError(error, summary, redactor))
        })
        await handleResponse(host, response, classify(response, summary, now()))
        return response
      } catch (error) {
        if (error instanceof StoppedError || error instanceof KeyError) ended ??= error
        throw error
      }
    })

  /** Pauses calls if the quota is used up, before the next call begins. Throws if the response is a failure. */
  async function handleResponse(
    host: string,
    response: HttpResponse,
    failure: AttemptFailure | undefined,
  ): Promise<void> {
    const quotaMs = quotaWaitMs(response.headers, now())
    const retryAfterMs = failure?.error instanceof TransientError ? failure.error.retryAfterMs : undefined
    const waitMs = Math.max(quotaMs, retryAfterMs ?? 0)
    if (waitMs > 0) onWait?.(waitMs, host, waitMs > quotaMs && failure !== undefined && isOutage(failure.error))
    // This response is still good, but nothing more is sent before the quota is renewed.
    if (quotaMs > MAX_WAIT_MS) {
      ended = tooLong(quotaMs)
      await pacer.pause(host, quotaMs)
    } else await pause(host, quotaMs, 'the rate limit of the service is used up')
    if (failure) return handleFailure(host, failure)
    breakerFor(host).succeeded()
    if (queue.concurrency < concurrency) queue.concurrency++
  }

  /** Pauses calls after a failure, before the next call begins. Throws the failure, or the error that ends the run. */
  async function handleFailure(host: string, failure: AttemptFailure): Promise<never> {
    const { error, coolDownMs, response } = failure
    if (error instanceof KeyError) throw error
    if (!(error instanceof TransientError) || failure.isHostUp) {
      breakerFor(host).succeeded()
      throw new AttemptError(failure)
    }
    queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2))
    const breakerMs = breakerFor(host).failed(response === null && isOutage(error))
    if (breakerMs === undefined) {
      // Storage that is down fails its own files only; each further one costs a single call.
      if (host !== parseHost(baseUrl)) throw new AttemptError({ ...failure, maxAttempts: 1 })
      if (!onGivenUp) throw new UnavailableError(error)
      await onGivenUp(host)
    }
    if (coolDownMs > MAX_WAIT_MS && isOutage(error)) {
      await pacer.pause(host, coolDownMs)
      const { message, hint } = tooLong(coolDownMs)
      const outage = new TransientError(`${error.message} ${message}`, { code: error.code, cause: error })
      throw new UnavailableError(outage, hint)
    }
    await pause(host, breakerMs ?? longestPauseMs, 'the service keeps failing')
    await pause(host, coolDownMs, error.message)
    throw new AttemptError(failure)
  }

  /** Pauses all calls. Throws StoppedError if the pause is too long to wait. */
  async function pause(host: string, ms: number, reason: string): Promise<void> {
    if (ms <= 0) return
    // Processes that share the pace wait too, even if this one ends.
    await pacer.pause(host, ms)
    if (ms > MAX_WAIT_MS) throw tooLong(ms)
    onPause?.(ms, reason)
  }

  const close = async (): Promise<void> => {
    queue.clear()
    await dispatcher.destroy()
  }

  return { baseUrl, headers, get, retry, close }
}
