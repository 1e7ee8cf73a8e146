import { SyncError, TransientError } from '../base/errors.ts'
import type { Reply } from '../services/reply.ts'
import type { ApiRequest } from '../services/request.ts'
import { type AttemptFailure, classifyAnswer } from './classify.ts'
import { AttemptError, type FetchOptions, type OnRetry, openClient } from './client.ts'
import { send } from './http.ts'

export type { FetchOptions } from './client.ts'

/** A request that failed for good, with its last answer when there was one. */
export interface FailedFetch {
  readonly error: SyncError
  readonly reply: Reply
}

/** Sends requests one by one or side by side; holds connections open until it is closed. */
export interface Fetcher {
  /**
   * The reply, or the error after the last attempt. A window that is too large is not retried when it is `divisible`, for
   * its halves are requested instead. Throws KeyError when the key was refused before, and StoppedError when the run has to end;
   * `onCut` is called first when something had been sent.
   */
  fetch(
    request: ApiRequest,
    divisible?: boolean,
    onRetry?: OnRetry,
    onCut?: (error: SyncError, sent: Reply) => Promise<void>,
  ): Promise<Reply | FailedFetch>
  close(): Promise<void>
}

/** Failures that a smaller window may cure. */
const TOO_LARGE = ['too-large', 'timeout', 'body-too-large']
export const isTooLarge = (error: SyncError): boolean => TOO_LARGE.includes(error.code)

const maxAttemptsOf = ({ error, maxAttempts: tries }: AttemptFailure, divisible: boolean): number =>
  divisible && isTooLarge(error) ? 1 : tries

export function createFetcher(options: FetchOptions): Fetcher {
  const client = openClient(options)

  async function attempt(request: ApiRequest, onSent: () => void): Promise<Buffer> {
    const url = `${client.baseUrl}${request.target}`
    const headers = { ...request.headers, ...client.key, ...client.userAgentHeader }
    const { body } = await client.call(
      { route: request.route, url },
      () => {
        onSent()
        return send({ ...client.sending, url, headers })
      },
      classifyAnswer,
    )
    return body
  }

  return {
    async fetch(request, divisible = false, onRetry = undefined, onCut = undefined) {
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
        const body = await client.withRetries(
          async () => {
            received = await attempt(request, () => void attempts++)
            return received
          },
          (failure) => maxAttemptsOf(failure, divisible),
          onRetry,
        )
        return reply(200, body)
      } catch (error) {
        // A signal that came while the answer was read does not throw the answer away.
        if (received) return reply(200, received)
        if (error instanceof AttemptError) {
          const { error: reason, answer } = error.failure
          return { error: reason, reply: reply(answer?.status ?? 0, answer?.body ?? Buffer.alloc(0)) }
        }
        const last = reply(0, Buffer.alloc(0))
        if (error instanceof SyncError) {
          if (attempts > 0) await onCut?.(error, last)
          throw error
        }
        return {
          error: new TransientError(`${request.route}: ${(error as Error).message}`, { cause: error }),
          reply: last,
        }
      }
    },
    close: client.close,
  }
}
