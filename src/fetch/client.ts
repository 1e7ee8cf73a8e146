import PQueue from 'p-queue'
import pRetry from 'p-retry'
import type { ApiRequest, LastResponse, Reply } from '../service/request.ts'
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
import { type AttemptFailure, classifyResponse, nameFailure } from './classify.ts'
import { DeadlineError } from './deadlines.ts'
import {
  createAgent,
  HTTP_LIMITS,
  type HttpResponse,
  type Limits,
  readResponse,
  type SendOptions,
  send,
  userAgentHeader,
} from './http.ts'
import type { Pacer } from './pacer.ts'
import { MAX_WAIT_MS, quotaWaitMs, tooLong } from './waits.ts'

/** Where to send requests, and how gently. */
export interface ClientOptions {
  readonly baseUrl: string
  readonly key: string
  /** Says in which header the key is sent. */
  readonly service: Pick<Service, 'apiKey'>
  /** The version of this program, by which it names itself. */
  readonly version: string
  /** Decides when each call may be sent. */
  readonly pacer: Pacer
  /** The most calls under way at once. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly limits?: Partial<Limits> | undefined
  readonly breaker?: BreakerOptions | undefined
  /**
   * Called when the breaker gives a host up. If it is there, a host that keeps failing does not end the run: it is tried again after
   * a long pause.
   */
  readonly onGivenUp?: ((host: string) => Promise<void>) | undefined
  /** Milliseconds before the first retry; each further wait is twice as long. */
  readonly retryMs?: number | undefined
  /** Called for every failed attempt. */
  readonly onFailure?: ((failure: AttemptFailure, attempt: number) => void) | undefined
  /** Called when all calls are paused: for how many milliseconds, and why. */
  readonly onPause?: ((ms: number, reason: string) => void) | undefined
  /** Called when a host asks for a pause, even one longer than this process waits; `isOutage`: because it is down. */
  readonly onWait?: ((ms: number, host: string, isOutage: boolean) => void) | undefined
}

/** Called for an attempt that failed and is retried. */
export type OnRetry = (failure: AttemptFailure, attempt: number) => void

/** A request without a usable reply: its error and its last response. */
export interface FailedFetch {
  readonly error: SyncError
  readonly last: LastResponse
  /** Whether the error ends the run: the key was refused, the budget is spent, the service is down, a signal came. */
  readonly endsRun: boolean
}

/** What is retried, and whom to tell. */
interface RetryOptions {
  readonly maxAttempts?: (failure: AttemptFailure) => number
  readonly onRetry?: OnRetry | undefined
}

/** The only way to the network: pace, budget, retries, circuit breaker and deadlines of all requests and downloads. */
export interface Client {
  readonly baseUrl: string
  /** Headers of a request; the key only for the service itself. */
  headers(withKey: boolean): Readonly<Record<string, string>>
  /** Fetches a reply. With `isDivisible`, a window that is too large is not retried: smaller windows replace it. */
  get(
    request: ApiRequest,
    options?: { readonly isDivisible?: boolean; readonly onRetry?: OnRetry },
  ): Promise<Reply | FailedFetch>
  /** Sends once, in its turn. Throws AttemptError if the attempt failed, and the error that ends the run. */
  call<T extends ResponseHead>(
    summary: RequestSummary,
    sendOnce: (options: Sending) => Promise<T>,
    classify: (response: T, summary: RequestSummary, now: number) => AttemptFailure | undefined,
  ): Promise<T>
  /** Repeats work as long as AttemptErrors are transient. Returns the last failure; throws everything else. */
  retry<T extends object>(work: () => Promise<T>, options?: RetryOptions): Promise<T | AttemptFailure>
  close(): Promise<void>
}

type ResponseHead = Omit<HttpResponse, 'body'>
/** Options of every sending. */
type Sending = Omit<SendOptions, 'url' | 'headers'>

/** An attempt that failed; p-retry retries what is thrown. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure
  constructor(failure: AttemptFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** Whether an attempt failed. */
export const hasFailed = <T extends object>(result: T | AttemptFailure): result is AttemptFailure =>
  'maxAttempts' in result

/** Whether a smaller window may succeed. */
export const isTooLarge = (error: SyncError): boolean =>
  error instanceof TooLargeError || error instanceof OversizedError

const MAX_ATTEMPTS = 6
/** Milliseconds before the first retry; each further wait is twice as long, and up to twice that at random. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/** Opens the client of a service; it keeps connections open until it is closed. */
export function openClient(options: ClientOptions): Client {
  const { key, pacer, concurrency, signal, onFailure, onGivenUp, onPause, onWait, retryMs = FIRST_RETRY_MS } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const redactor = createRedactor(key)
  const dispatcher = createAgent(limits, concurrency, signal)
  // Begins at one, so that a wrong key costs one call; then more for each good response, half as many for each failure.
  const queue = new PQueue({ concurrency: 1 })
  const limitsOfBreaker = options.breaker ?? BREAKER
  const breaker = createBreaker(limitsOfBreaker)
  const longestPauseMs = limitsOfBreaker.pauseMs * 2 ** limitsOfBreaker.openings
  /** The error that ended the run: nothing more is sent. */
  let ended: SyncError | undefined

  /** Pauses all calls. Throws if that is too long to wait for. */
  async function pause(host: string, ms: number, reason: string): Promise<void> {
    if (ms <= 0) return
    // Processes that share the pace wait, too, even if this one ends.
    await pacer.pause(host, ms)
    if (ms > MAX_WAIT_MS) throw tooLong(ms)
    onPause?.(ms, reason)
  }

  /** Judges a failure before the next call begins. Throws it, or the error that ends the run. */
  async function judgeFailure(host: string, failure: AttemptFailure): Promise<never> {
    const { error, coolDownMs, response } = failure
    if (error instanceof KeyError) throw error
    if (!(error instanceof TransientError) || failure.alive) {
      breaker.alive()
      throw new AttemptError(failure)
    }
    queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2))
    const breakerMs = breaker.failed(response === null && isOutage(error))
    if (breakerMs === undefined) {
      if (!onGivenUp) throw new UnavailableError(error)
      await onGivenUp(host)
    }
    if (coolDownMs > MAX_WAIT_MS && isOutage(error)) {
      await pacer.pause(host, coolDownMs)
      const { message, hint } = tooLong(coolDownMs)
      throw new UnavailableError(
        new TransientError(`${error.message} ${message}`, { code: error.code, cause: error }),
        hint,
      )
    }
    await pause(host, breakerMs ?? longestPauseMs, 'the service keeps failing')
    await pause(host, coolDownMs, error.message)
    throw new AttemptError(failure)
  }

  /** Judges a response before the next call begins: its quota, then whether it is a failure. */
  async function judgeResponse<T extends ResponseHead>(
    host: string,
    { headers }: T,
    failure: AttemptFailure | undefined,
  ): Promise<void> {
    const quota = quotaWaitMs(headers, Date.now())
    const requested = failure?.error instanceof TransientError ? failure.error.retryAfterMs : undefined
    const wait = Math.max(quota, requested ?? 0)
    if (wait > 0) onWait?.(wait, host, wait > quota && failure !== undefined && isOutage(failure.error))
    // The response that says that the quota is spent is used; nothing is sent until it is renewed.
    if (quota > MAX_WAIT_MS) {
      ended = tooLong(quota)
      await pacer.pause(host, quota)
    } else await pause(host, quota, 'the rate limit of the service is used up')
    if (failure) return judgeFailure(host, failure)
    breaker.alive()
    if (queue.concurrency < concurrency) queue.concurrency++
  }

  const client: Client = {
    baseUrl,
    headers: (withKey) => ({
      'Accept-Encoding': 'br, gzip',
      ...(withKey ? { [options.service.apiKey.header]: key } : {}),
      ...userAgentHeader(options.version),
    }),

    call: (summary, sendOnce, classify) =>
      queue.add(async () => {
        const { host } = new URL(summary.url)
        try {
          if (signal.aborted) throw new SignalError()
          if (!ended) await pacer.take(host, signal)
          if (ended) throw ended
          const response = await sendOnce({ dispatcher, limits, redactor, stop: signal }).catch((error: unknown) => {
            if (error instanceof SyncError) throw error
            if (error instanceof DeadlineError && error.code === 'STOPPED') throw new SignalError(error)
            return judgeFailure(host, nameFailure(error, summary, redactor))
          })
          await judgeResponse(host, response, classify(response, summary, Date.now()))
          return response
        } catch (error) {
          if (error instanceof StoppedError || error instanceof KeyError) ended ??= error
          throw error
        }
      }),

    async retry(work, { maxAttempts = (failure: AttemptFailure) => failure.maxAttempts, onRetry } = {}) {
      let result: Awaited<ReturnType<typeof work>> | undefined
      try {
        return await pRetry(
          async () => {
            result = await work()
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
              if (!(error instanceof AttemptError) || attemptNumber >= maxAttempts(error.failure)) return false
              onRetry?.(error.failure, attemptNumber)
              return true
            },
          },
        )
      } catch (error) {
        // p-retry refuses a result that comes after the signal; a response that was arriving is used.
        if (result) return result
        if (error instanceof AttemptError) return error.failure
        throw signal.aborted && !(error instanceof SyncError) ? new SignalError(error) : error
      }
    },

    async get(request, { isDivisible = false, onRetry } = {}) {
      const url = `${baseUrl}${request.target}`
      const headers = { ...request.headers, ...client.headers(true) }
      const sentAt = Date.now()
      const began = performance.now()
      let attempts = 0
      let response: HttpResponse | undefined
      const sendOnce = async (sending: Sending): Promise<HttpResponse> => {
        attempts++
        response = undefined
        response = await send({ ...sending, url, headers }, readResponse)
        return response
      }
      const last = (): LastResponse => ({
        status: response?.status ?? 0,
        body: response?.body ?? Buffer.alloc(0),
        bytes: response?.body.length ?? 0,
        attempts,
        sentAt,
        ms: performance.now() - began,
      })
      try {
        const result = await client.retry(
          () => client.call({ route: request.route, url }, sendOnce, classifyResponse),
          {
            maxAttempts: (failure) => (isDivisible && isTooLarge(failure.error) ? 1 : failure.maxAttempts),
            onRetry,
          },
        )
        return hasFailed(result) ? { error: result.error, last: last(), endsRun: false } : { ...last(), status: 200 }
      } catch (error) {
        if (error instanceof SyncError) return { error, last: last(), endsRun: true }
        throw error
      }
    },

    async close() {
      queue.clear()
      await dispatcher.destroy()
    },
  }
  return client
}
