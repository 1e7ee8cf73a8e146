import type { HttpResponse } from '../service/request.ts'
import { type RequestSummary, type SyncError, TransientError } from '../util/errors.ts'
import type { Redactor } from '../util/redact.ts'
import { oneLine } from '../util/text.ts'
import { DeadlineError } from './deadlines.ts'
import { BodyError } from './decode.ts'
import { NETWORK_FAILURES, RESPONSE_FAILURES } from './failures.ts'
import { ProxyError } from './tunnel.ts'
import { retryAfterMs } from './waits.ts'

/** A failed attempt, and how to retry it. */
export interface AttemptFailure {
  readonly error: SyncError
  readonly maxAttempts: number
  /** Milliseconds to pause all calls. */
  readonly coolDownMs: number
  readonly response: HttpResponse | null
  /** Whether the host works although the request failed. */
  readonly isHostUp?: boolean | undefined
}

/** Classifies a response; undefined for a success. */
export function classifyResponse(
  response: HttpResponse,
  request: RequestSummary,
  now: number,
): AttemptFailure | undefined {
  const failure = RESPONSE_FAILURES.find(({ matches }) => matches(response))
  if (!failure) return undefined
  const { code, hint, maxAttempts = 1, coolDownMs = 0 } = failure
  const waitMs = retryAfterMs(response.headers['retry-after'], now)
  const message = `${failure.message} (status ${response.status}).`
  const error = new failure.error(message, { code, hint, request, retryAfterMs: waitMs })
  return { error, maxAttempts, coolDownMs: waitMs ?? coolDownMs, response }
}

/** Classifies an error of the network; its message does not contain the key. */
export function classifyError(thrown: unknown, request: RequestSummary, redactor: Redactor): AttemptFailure {
  const error = (thrown instanceof AggregateError ? thrown.errors[0] : thrown) as NodeJS.ErrnoException
  const code = String(error.code ?? (error.name === 'HTTPParserError' ? error.name : ''))
  const failure = NETWORK_FAILURES.find(({ codes }) => codes.test(code)) ?? NETWORK_FAILURES.at(-1)!
  // Internal codes are replaced by words.
  const isInternal = [BodyError, DeadlineError, ProxyError].some((kind) => error instanceof kind) || code === error.name
  const reason = code === '' || isInternal ? String(error.message ?? error) : code
  const { maxAttempts = 1, isHostUp, hint } = failure
  const message = `${failure.message} (${new URL(request.url).origin}, ${redactor.text(oneLine(reason))}).`
  return {
    error: new (failure.error ?? TransientError)(message, { code: failure.code, hint, request, cause: thrown }),
    maxAttempts,
    coolDownMs: 0,
    response: null,
    isHostUp,
  }
}
