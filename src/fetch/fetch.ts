import { OversizedError, SyncError, TooLargeError } from '../base/errors.ts'
import type { LastAnswer, Reply } from '../services/reply.ts'
import type { ApiRequest } from '../services/request.ts'
import { type AttemptFailure, classifyAnswer } from './classify.ts'
import { type FetchOptions, hasFailed, type OnRetry, openClient } from './client.ts'
import { type Answer, send } from './http.ts'
import { type CheckLease, NotNowError, type OnSend } from './turns.ts'

export type { FetchOptions } from './client.ts'

/** A request that failed for good, with its last answer. */
export interface FailedFetch {
  readonly error: SyncError
  readonly last: LastAnswer
}

/** Sends requests one by one or side by side; holds connections open until it is closed. */
export interface Fetcher {
  /**
   * The reply, or the error after the last attempt. A window that is too large is not retried when it is `divisible`, for
   * its halves are requested instead. Throws what ends the run: KeyError when the key was refused, now or before, and StoppedError;
   * `onCut` is called first when something had been sent. Throws what `checkLease` throws, before every sending.
   */
  fetch(
    request: ApiRequest,
    divisible?: boolean,
    onRetry?: OnRetry,
    onCut?: (error: SyncError, sent: LastAnswer) => Promise<void>,
    checkLease?: CheckLease,
  ): Promise<Reply | FailedFetch>
  close(): Promise<void>
}

/** Whether a smaller window may succeed. */
export const isTooLarge = (error: SyncError): boolean =>
  error instanceof TooLargeError || error instanceof OversizedError

const attemptsFor = ({ error, maxAttempts }: AttemptFailure, divisible: boolean): number =>
  divisible && isTooLarge(error) ? 1 : maxAttempts

export function createFetcher(options: FetchOptions): Fetcher {
  const client = openClient(options)

  return {
    async fetch(request, divisible = false, onRetry = undefined, onCut = undefined, checkLease = undefined) {
      const url = `${client.baseUrl}${request.target}`
      const headers = { ...request.headers, ...client.key, ...client.userAgentHeader }
      const sentAt = Date.now()
      const began = performance.now()
      let attempts = 0
      let answer: Answer | undefined
      const last = (): LastAnswer => ({
        status: answer?.status ?? 0,
        body: answer?.body ?? Buffer.alloc(0),
        bytes: answer?.body.length ?? 0,
        attempts,
        sentAt,
        ms: performance.now() - began,
      })
      const sendOnce = (onSend: OnSend): Promise<Answer> => {
        attempts++
        answer = undefined
        return send({ ...client.sending, url, headers, onSend }).catch((error: unknown) => {
          // Nothing was sent.
          if (error instanceof NotNowError) attempts--
          throw error
        })
      }
      const classify: typeof classifyAnswer = (came, ...of) => {
        answer = came
        return classifyAnswer(came, ...of)
      }
      try {
        const result = await client.withRetries(
          () => client.call({ route: request.route, url }, sendOnce, classify, checkLease),
          (failure) => attemptsFor(failure, divisible),
          onRetry,
        )
        return hasFailed(result) ? { error: result.error, last: last() } : { ...last(), status: 200 }
      } catch (error) {
        if (attempts > 0 && error instanceof SyncError) await onCut?.(error, last())
        throw error
      }
    },
    close: client.close,
  }
}
