import { StoppedError } from '../util/errors.ts'
import { quantity } from '../util/text.ts'
import { MAX_ACCEPTED_WAIT_MS } from '../util/time/wait.ts'

/** If the service asks for a longer wait than this, the run ends, and a later run continues. */
export const MAX_WAIT_MS = 15 * 60_000

/** The error of a run that would have to wait too long. */
export function tooLong(ms: number): StoppedError {
  const [pause, then] =
    ms < MAX_ACCEPTED_WAIT_MS
      ? [quantity(Math.round(ms / 60_000), 'minute'), 'after that time']
      : ['a day or more', 'after a day; no request is sent before then']
  return new StoppedError(`The service asked for a pause of ${pause}, so the run stopped.`, {
    hint: `Run the same command again ${then}. It continues where it stopped.`,
    code: 'retry-after',
  })
}

const accepted = (ms: number): number => Math.min(Math.max(0, ms), MAX_ACCEPTED_WAIT_MS)

/** `Retry-After` in milliseconds, from seconds or a date, at most the longest pause; undefined where there is none or it is illegal. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return accepted(Number(header) * 1000)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : accepted(at - now)
}

/** The first whole number of a header's text that follows one of some words; undefined when there is none. */
const numberAfter = (text: string | undefined, words: RegExp): number | undefined => {
  const match = words.exec(text ?? '')
  return match ? Number(match[1]) : undefined
}

/**
 * How long to wait because the rate limit of the service is used up, in milliseconds, at most the longest pause; 0 when it is not. Reads `RateLimit` in the
 * forms of the IETF's drafts (`limit=, remaining=, reset=` and `r=, t=`), and `X-RateLimit-Remaining` with `-Reset` in
 * seconds, or as epoch seconds.
 */
export function quotaWaitMs(headers: Readonly<Record<string, string>>, now: number): number {
  const limit = headers.ratelimit
  const remaining =
    numberAfter(limit, /\b(?:remaining|r)=(\d+)/) ??
    numberAfter(headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'], /^\s*(\d+)/)
  if (remaining !== 0) return 0
  const reset =
    numberAfter(limit, /\b(?:reset|t)=(\d+)/) ??
    numberAfter(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'], /^\s*(\d+)/)
  if (reset === undefined) return 0
  return accepted(reset > 1_000_000_000 ? reset * 1000 - now : reset * 1000)
}
