import { type RequestSummary, type SyncError, TransientError } from '../util/errors.ts'
import type { Redactor } from '../util/redact.ts'
import { oneLine } from '../util/text.ts'
import { DeadlineError } from './deadlines.ts'
import { BodyError } from './decode.ts'
import { NETWORK_FAILURES, RESPONSE_FAILURES } from './failures.ts'
import type { HttpResponse } from './http.ts'
import { retryAfterMs } from './waits.ts'

/** A failure with what the retry policy needs to know of it. */
export interface AttemptFailure {
  readonly error: SyncError
  readonly maxAttempts: number
  readonly coolDownMs: number
  readonly response: HttpResponse | null
  /** Whether it shows that the host is well, even though the request failed. */
  readonly alive?: true
}

/** Classifies a response: undefined when it is a success, otherwise what went wrong and what to do next. */
export function classifyResponse(
  response: HttpResponse,
  request: RequestSummary,
  now: number,
): AttemptFailure | undefined {
  const found = RESPONSE_FAILURES.find(({ matches }) => matches(response))
  if (!found) return undefined
  const message = `Route ${request.route}: ${found.message} (status ${response.status}).`
  const details = { code: found.code, hint: found.hint, request }
  const wait = retryAfterMs(response.headers['retry-after'], now)
  const error = new found.error(message, { ...details, retryAfterMs: wait })
  return { error, maxAttempts: found.maxAttempts, coolDownMs: wait ?? found.coolDownMs ?? 0, response }
}

/** Names what the network threw, without the key. */
export function nameFailure(thrown: unknown, request: RequestSummary, redactor: Redactor): AttemptFailure {
  const inner = thrown instanceof AggregateError ? thrown.errors[0] : thrown
  const { code: own, name } = inner as NodeJS.ErrnoException
  const code = String(own ?? (name === 'HTTPParserError' ? name : ''))
  const failure = NETWORK_FAILURES.find(({ codes }) => codes.test(code)) ?? NETWORK_FAILURES.at(-1)!
  const { origin } = new URL(request.url)
  // These codes are internal; messages have words instead.
  const ours = inner instanceof BodyError || inner instanceof DeadlineError || code === name
  const reason = code === '' || ours ? String((inner as Error).message ?? inner) : code
  const error = new (failure.error ?? TransientError)(
    `${request.route}: ${failure.message} (${origin}, ${redactor.text(oneLine(reason))}).`,
    {
      code: failure.code,
      hint: failure.hint,
      request,
      cause: thrown,
    },
  )
  return {
    error,
    maxAttempts: failure.maxAttempts,
    coolDownMs: 0,
    response: null,
    ...(failure.alive ? { alive: true } : {}),
  }
}
