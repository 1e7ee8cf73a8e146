import pRetry, { AbortError } from 'p-retry'
import { request } from 'undici'
import { createAgent } from './agent.ts'
import { userAgentHeader } from './http.ts'
import type { ProxySettings } from './proxies.ts'
import { ProxyError } from './tunnel.ts'

/** A notification. It is independent of the service and its key. */
export interface Message {
  readonly url: string
  readonly type: 'application/json' | 'text/plain; charset=utf-8'
  readonly body: string
  /** Default: no proxy. */
  readonly proxies?: ProxySettings | undefined
}

/** Limits of the delivery. */
export interface DeliveryLimits {
  /** Timeout of one attempt in milliseconds. */
  readonly timeoutMs: number
  readonly attempts: number
  /** Milliseconds before the second attempt. Each further wait is twice as long. */
  readonly waitMs: number
}

/** Half a minute in all: a run never waits longer for notifications. */
const DELIVERY_LIMITS: DeliveryLimits = { timeoutMs: 8_000, attempts: 3, waitMs: 1_000 }

/** The limits after the run was stopped. */
export const LAST_DELIVERY: DeliveryLimits = { timeoutMs: 1_500, attempts: 1, waitMs: 0 }

/** Posts a message, and retries transient failures until `signal`. Returns the reason of a failure, without the address; null for success. */
export async function deliver(
  message: Message,
  limits: Partial<DeliveryLimits> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<string | null> {
  const { timeoutMs, attempts, waitMs } = { ...DELIVERY_LIMITS, ...limits }
  try {
    await pRetry(() => post(message, timeoutMs, signal), { signal, retries: attempts - 1, minTimeout: waitMs })
    return null
  } catch (error) {
    return signal.aborted ? 'the run stopped before the server responded' : (error as Error).message
  }
}

async function post(message: Message, timeoutMs: number, endSignal: AbortSignal): Promise<void> {
  const { url, type, body, proxies } = message
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), endSignal])
  const dispatcher = createAgent({ timeoutMs, connections: 1, signal, proxies })
  const headers = { 'Content-Type': type, ...userAgentHeader() }
  const status = await request(url, { method: 'POST', dispatcher, headers, body, signal })
    .then((response) => {
      response.body.on('error', () => undefined).destroy()
      return response.statusCode
    })
    .catch((thrown: NodeJS.ErrnoException) => {
      // Its message names the proxy.
      if (thrown instanceof ProxyError) throw thrown
      throw new Error(signal.aborted ? `no response within ${timeoutMs / 1000} s` : (thrown.code ?? thrown.name))
    })
    .finally(() => dispatcher.destroy().catch(() => undefined))
  if (status >= 200 && status < 300) return
  const error = new Error(`status ${status}`)
  throw status === 408 || status === 429 || status >= 500 ? error : new AbortError(error)
}
