import { StoppedError } from '../util/errors.ts'
import { quantity } from '../util/text.ts'
import { MAX_ACCEPTED_WAIT_MS } from '../util/time/wait.ts'

/** The longest pause of a run, in milliseconds. If the service requests a longer one, the run ends, and a later run continues. */
export const MAX_WAIT_MS = 15 * 60_000

/** The error of a run if the service requests a pause of `ms` milliseconds, which is too long. */
export function createLongPauseError(ms: number): StoppedError {
  const [pause, then] =
    ms < MAX_ACCEPTED_WAIT_MS
      ? [quantity(Math.round(ms / 60_000), 'minute'), 'after that time']
      : ['a day or more', 'after a day; no request is sent before then']
  return new StoppedError(`The service asked for a pause of ${pause}, so the run stopped.`, {
    hint: `Run the same command again ${then}. It continues where it stopped.`,
    code: 'retry-after',
  })
}

const limitWait = (ms: number): number => Math.min(Math.max(0, ms), MAX_ACCEPTED_WAIT_MS)

/** Parses `Retry-After`, in seconds or a date, to milliseconds; undefined if it is missing or invalid. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return limitWait(Number(header) * 1000)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : limitWait(at - now)
}

const parseNumber = (text: string | undefined, pattern: RegExp): number | undefined => {
  const match = pattern.exec(text ?? '')
  return match ? Number(match[1]) : undefined
}

/**
 * Returns the milliseconds until a used-up rate limit is renewed; 0 if it is not used up. Reads `RateLimit` in both forms of the IETF
 * drafts (`remaining=, reset=` and `r=, t=`), and `X-RateLimit-Remaining` with `-Reset` in seconds or epoch seconds.
 */
export function quotaWaitMs(headers: Readonly<Record<string, string>>, now: number): number {
  const limit = headers.ratelimit
  const remaining =
    parseNumber(limit, /\b(?:remaining|r)=(\d+)/) ??
    parseNumber(headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'], /^\s*(\d+)/)
  if (remaining !== 0) return 0
  const reset =
    parseNumber(limit, /\b(?:reset|t)=(\d+)/) ??
    parseNumber(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], /^\s*(\d+)/)
  if (reset === undefined) return 0
  return limitWait(reset > 1_000_000_000 ? reset * 1000 - now : reset * 1000)
}

/** Called when calls pause for `ms` milliseconds. */
export type OnPause = (ms: number, reason: string) => void
