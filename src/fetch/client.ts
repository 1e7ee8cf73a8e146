import pRetry from 'p-retry'
import type { Pace } from '../job/job.ts'
import type { ApiRequest, HttpResponse, LastResponse, Reply } from '../service/request.ts'
import type { Service } from '../service/service.ts'
import { OversizedError, SignalError, SyncError, TooLargeError } from '../util/errors.ts'
import { createRedactor } from '../util/redact.ts'
import { createAgent } from './agent.ts'
import { type AttemptFailure, classifyResponse } from './classify.ts'
import { createHostRecords, type HostContext } from './hosts.ts'
import { HTTP_LIMITS, type Limits, type OpenResponse, readResponse, type SendOptions, userAgentHeader } from './http.ts'
import { type OpenPacer, openPacer } from './pacer.ts'
import type { ProxySettings } from './proxies.ts'
import { AttemptError, type Call, createThrottle, type ThrottleOptions } from './throttle.ts'

/** The service to call, the limits, and the callbacks. */
export interface ClientOptions extends ThrottleOptions {
  readonly key: string
  /** Declares the header of the key. */
  readonly service: Pick<Service, 'apiKey'>
  /** The version of this program, for the header `User-Agent`. */
  readonly version: string
  /** Default: no proxy. */
  readonly proxies?: ProxySettings | undefined
  /** The clock of the recorded times, in epoch milliseconds. Default: the system clock. */
  readonly nowMs?: (() => number) | undefined
  readonly limits?: Partial<Limits> | undefined
  /** Milliseconds before the first retry. */
  readonly retryMs?: number | undefined
}

/** Called for an attempt that failed and is retried. */
export type OnRetry = (failure: AttemptFailure, attempt: number) => void

/** A request without a reply: its error and its last response. */
export interface FailedFetch {
  readonly error: SyncError
  readonly last: LastResponse
  /** Whether the error ends the run: a refused key, a spent budget, an outage or a signal. */
  readonly endsRun: boolean
  /** The error of its last attempt, if the run ended before the next one. */
  readonly attempted: SyncError | null
}

interface RetryOptions {
  /** Whether a failure is retried while attempts are left; default: yes. */
  readonly mayRetry?: (failure: AttemptFailure) => boolean
  readonly onRetry?: OnRetry | undefined
}

/** The only way to the network: pace, budget, retries, circuit breaker and deadlines of all requests and downloads. */
export interface Client {
  readonly baseUrl: string
  /** Headers of a request; the key is for the service only. */
  headers(withKey: boolean): Readonly<Record<string, string>>
  /** Fetches a reply: `retry` repeats a `call` of the service. */
  get(request: ApiRequest, options?: RetryOptions): Promise<Reply | FailedFetch>
  /** Repeats an attempt of one or more calls after transient failures. Returns the last failure; throws errors that end the run. */
  retry<T extends object>(attempt: () => Promise<T>, options?: RetryOptions): Promise<T | AttemptFailure>
  readonly call: Call
  close(): Promise<void>
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
  const { key, concurrency, signal, proxies, nowMs = Date.now, retryMs = FIRST_RETRY_MS } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const redactor = createRedactor(key)
  const agentOptions = { timeoutMs: limits.timeoutMs, connections: concurrency, signal, proxies }
  const dispatcher = createAgent(agentOptions)
  const publicDispatcher = createAgent({ ...agentOptions, isPublicOnly: true })
  const sending = { dispatcher, publicDispatcher, limits, redactor, signal }
  const { call, clear } = createThrottle({ ...options, baseUrl }, sending)

  const headers: Client['headers'] = (withKey) => ({
    'Accept-Encoding': 'br, gzip',
    ...(withKey ? { [options.service.apiKey.header]: key } : {}),
    ...userAgentHeader(options.version),
  })

  const get: Client['get'] = async (request, retryOptions = {}) => {
    const url = `${baseUrl}${request.target}`
    const allHeaders = { ...request.headers, ...headers(true) }
    const sentAt = nowMs()
    const began = performance.now()
    let attempts = 0
    let response: HttpResponse | undefined
    let attempted: SyncError | null = null
    const onRetry: OnRetry = (failure, attempt) => {
      attempted = failure.error
      retryOptions.onRetry?.(failure, attempt)
    }
    const read = async (opened: OpenResponse, options: SendOptions): Promise<HttpResponse> => {
      response = await readResponse(opened, options)
      return response
    }
    const onSend = (): void => {
      attempts++
      response = undefined
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
      const attempt = { route: request.route, url, headers: allHeaders, read, classify: classifyResponse, onSend }
      const result = await retry(() => call(attempt), { ...retryOptions, onRetry })
      if (!('error' in result)) return { ...last(), status: 200 }
      return { error: result.error, last: last(), endsRun: false, attempted: null }
    } catch (error) {
      if (error instanceof SyncError) return { error, last: last(), endsRun: true, attempted }
      throw error
    }
  }

  const retry: Client['retry'] = async (attempt, { mayRetry = () => true, onRetry } = {}) => {
    let result: Awaited<ReturnType<typeof attempt>> | undefined
    try {
      return await pRetry(
        async () => {
          result = await attempt()
          return result
        },
        {
          signal,
          retries: MAX_ATTEMPTS - 1,
          minTimeout: retryMs,
          maxTimeout: MAX_RETRY_MS,
          randomize: true,
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

  const close = async (): Promise<void> => {
    options.pacer.close?.()
    clear()
    await Promise.all([dispatcher.destroy(), publicDispatcher.destroy()])
  }

  return { baseUrl, headers, get, retry, call, close }
}

/** A service to call at a pace, and the database that records calls and pauses for later runs and other processes. */
export interface ServiceClientOptions
  extends HostContext,
    Omit<ClientOptions, keyof HostContext | 'pacer' | 'hosts' | 'concurrency'> {
  readonly pace: Pace
  /** Opens the pacer of several processes. Default: that of this process. */
  readonly openPacer?: OpenPacer | undefined
}

/** Opens the client of a service that is recorded in the database. */
export async function openServiceClient(options: ServiceClientOptions): Promise<Client> {
  const { pace, onPause } = options
  const pacer = options.openPacer?.(pace, onPause) ?? (await openPacer(options, pace, onPause))
  return openClient({ ...options, pacer, hosts: createHostRecords(options), concurrency: pace.concurrency })
}
