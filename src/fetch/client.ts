import pRetry from 'p-retry'
import type { Store } from '../db/store.ts'
import type { Pace } from '../job/job.ts'
import type { ApiRequest, HttpResponse, Reply } from '../service/request.ts'
import { OversizedError, SignalError, SyncError, TooLargeError } from '../util/errors.ts'
import { type AttemptFailure, classifyResponse } from './classify.ts'
import { createClockCheck } from './clockSkew.ts'
import { openConnections } from './connections.ts'
import { createHostRecords } from './hosts.ts'
import { type OpenResponse, readResponse, type SendOptions, userAgentHeader } from './http.ts'
import { type OpenPacer, openPacer } from './pacer.ts'
import type { ClientOptions, Settings } from './settings.ts'
import { AttemptError, type Call, createThrottle } from './throttle.ts'
import type { OnPause } from './waits.ts'

/** Called for an attempt that failed and is retried. */
export type OnRetry = (failure: AttemptFailure, attempt: number) => void

/** A request that failed. */
export interface FailedFetch {
  readonly error: SyncError
  /** Its last response. */
  readonly last: Reply
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
  /** Maximum number of concurrent requests. */
  readonly concurrency: number
  /** Ends the run. */
  readonly signal: AbortSignal
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
/** Milliseconds before the first retry. Each further wait is twice as long. A wait is multiplied by a random factor between 1 and 2. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/** Creates the client of a service. Its functions stand in the order in which a request passes them. */
export function createClient(settings: Settings, options: ClientOptions): Client {
  const { service, key, retryMs = FIRST_RETRY_MS } = settings
  const { concurrency, signal, emit, nowMs = Date.now, pacer } = options
  const baseUrl = settings.baseUrl.replace(/\/+$/, '')
  const connections = openConnections(settings, options)
  const { call, clear } = createThrottle(settings, options, connections.attempt)
  const checkClock = createClockCheck(emit)
  const userAgent = userAgentHeader()

  const headers: Client['headers'] = (withKey) => ({
    'Accept-Encoding': 'br, gzip',
    ...(withKey ? { [service.apiKey.header]: key } : {}),
    ...userAgent,
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
    const lastReply = (): Reply => ({
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
      if (!('error' in result)) return lastReply()
      return { error: result.error, last: lastReply(), endsRun: false, attempted: null }
    } catch (error) {
      if (error instanceof SyncError) return { error, last: lastReply(), endsRun: true, attempted }
      throw error
    } finally {
      if (response) checkClock(response)
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
    pacer.close?.()
    clear()
    await connections.close()
  }

  return { baseUrl, concurrency, signal, headers, get, retry, call, close }
}

/** Opens the client of a service whose calls and pauses are recorded in a database, for later runs and other processes. */
export async function openClient(
  settings: Settings,
  {
    store,
    pace,
    nowMs,
    signal,
    emit,
    onPause: reportPause,
    onGivenUp,
    openSharedPacer,
  }: Omit<ClientOptions, 'pacer' | 'hosts' | 'concurrency'> & {
    readonly store: Store
    readonly pace: Pace
    readonly nowMs: () => number
    /** Opens the pacer that several processes share. Default: a pacer of this process. */
    readonly openSharedPacer?: OpenPacer | undefined
  },
): Promise<Client> {
  const { service, baseUrl } = settings
  const { concurrency } = pace
  const onPause: OnPause = (ms, reason) => {
    emit?.('calls.paused', { wait_ms: Math.round(ms), reason })
    reportPause?.(ms, reason)
  }
  const pacer = openSharedPacer?.(pace, onPause) ?? (await openPacer({ store, baseUrl, nowMs }, pace, onPause))
  const hosts = createHostRecords({ store, service, baseUrl, nowMs, signal, onPause })
  return createClient(settings, { pacer, hosts, concurrency, nowMs, signal, emit, onPause, onGivenUp })
}
