import pRetry from 'p-retry'
import { Agent, request } from 'undici'

/** One message to somebody who wants to know of runs; it has nothing to do with the service and its key. */
export interface Message {
  readonly url: string
  readonly type: 'application/json' | 'text/plain; charset=utf-8'
  readonly body: string
  readonly userAgent: string
}

/** How long and how often a message is tried. */
export interface DeliveryLimits {
  /** Milliseconds that one try may take. */
  readonly timeoutMs: number
  readonly tries: number
  /** Milliseconds before the second try; each further one waits twice as long. */
  readonly waitMs: number
}

/** Three tries, and half a minute in all: a run never waits longer for those who are told of it. */
export const DELIVERY_LIMITS: DeliveryLimits = { timeoutMs: 8_000, tries: 3, waitMs: 1_000 }

/** What a try came to, without the address. */
class UndeliveredError extends Error {
  readonly isTransient: boolean
  constructor(reason: string, isTransient: boolean) {
    super(reason)
    this.isTransient = isTransient
  }
}

async function post({ url, type, body, userAgent }: Message, dispatcher: Agent, timeoutMs: number): Promise<void> {
  let status: number
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { 'Content-Type': type, 'User-Agent': userAgent },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    status = answer.statusCode
    answer.body.on('error', () => undefined).destroy()
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    const late = name === 'TimeoutError' || name === 'AbortError'
    throw new UndeliveredError(late ? `no answer within ${timeoutMs / 1000} s` : (code ?? name), true)
  }
  if (status >= 200 && status < 300) return
  throw new UndeliveredError(`answered ${status}`, status === 408 || status === 429 || status >= 500)
}

/** Posts a message, again when it may help. Answers why it was not delivered, without the address; null when it was. Never throws. */
export async function deliver(message: Message, patience: Partial<DeliveryLimits> = {}): Promise<string | null> {
  const { timeoutMs, tries, waitMs } = { ...DELIVERY_LIMITS, ...patience }
  const dispatcher = new Agent({ connections: 1, connect: { timeout: timeoutMs } })
  try {
    await pRetry(() => post(message, dispatcher, timeoutMs), {
      retries: tries - 1,
      minTimeout: waitMs,
      factor: 2,
      shouldRetry: ({ error }) => error instanceof UndeliveredError && error.isTransient,
    })
    return null
  } catch (error) {
    return error instanceof UndeliveredError ? error.message : 'it could not be sent'
  } finally {
    // Whoever does not answer is not waited for.
    await dispatcher.destroy().catch(() => undefined)
  }
}
