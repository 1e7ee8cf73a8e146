import {
  isOutage,
  KeyError,
  type RequestSummary,
  SignalError,
  StoppedError,
  SyncError,
  TransientError,
  UnavailableError,
} from '../base/errors.ts'
import { redactorOf } from '../base/redact.ts'
import { wait } from '../base/time/wait.ts'
import type { Pace } from '../job/job.ts'
import type { Service } from '../services/service.ts'
import { BREAKER, type BreakerOptions } from './breaker.ts'
import { type AttemptFailure, nameFailure } from './classify.ts'
import { DeadlineError } from './deadlines.ts'
import { type Answer, createAgent, HTTP_LIMITS, type Limits, type SendOptions } from './http.ts'
import { type CheckLease, createTurns, MAX_WAIT_MS, NotNowError, type OnSend, type Turns, tooLong } from './turns.ts'
import { userAgentHeader } from './userAgent.ts'
import { quotaWaitMs } from './waits.ts'

/** Where to send requests, and how gently. */
export interface FetchOptions {
  readonly baseUrl: string
  readonly key: string
  /** Says in which header the key is sent. */
  readonly service: Pick<Service, 'apiKey'>
  /** The version of this program, by which it names itself. */
  readonly version: string
  readonly pace: Pick<Pace, 'perSecond' | 'concurrency'>
  readonly signal: AbortSignal
  /** Milliseconds since the calls of earlier runs that still count for the pace. */
  readonly recentCalls?: readonly number[]
  /** Called before every sending with the host that is called; may throw StoppedError when no call is left. */
  readonly beforeCall?: (host: string) => Promise<void>
  /** Called for every failed attempt. */
  readonly onFailure?: ((failure: AttemptFailure, attempt: number) => void) | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly breaker?: BreakerOptions | undefined
  /** Who decides when a call may begin; this process by itself when left out. */
  readonly turns?: Turns | undefined
  /** Called when all calls are paused: for how many milliseconds, and why. */
  readonly onPause?: ((ms: number, reason: string) => void) | undefined
  /** Called when a host asks for a pause, even one longer than this process waits. */
  readonly onWait?: ((ms: number, host: string) => void) | undefined
  /** Milliseconds before the first repetition; each further one waits twice as long. */
  readonly retryMs?: number | undefined
}

/** Called for an attempt that failed and is retried. */
export type OnRetry = (failure: AttemptFailure, attempt: number) => void

type AnswerHead = Omit<Answer, 'body'>

/** Classifies an answer: what is wrong with it, or undefined for a success. */
type Classifier<T> = (answer: T, summary: RequestSummary, now: number) => AttemptFailure | undefined

/** Whether an attempt failed. */
export const hasFailed = <T extends object>(result: T | AttemptFailure): result is AttemptFailure =>
  'maxAttempts' in result

/** The only way to the network: one pace, one budget, one circuit breaker for all that is sent. */
export interface ServiceClient {
  readonly baseUrl: string
  /** The header that names this program, and the one that holds the key, which only the service itself is sent. */
  readonly userAgentHeader: Readonly<Record<string, string>>
  readonly key: Readonly<Record<string, string>>
  /** Options that all requests share. */
  readonly sending: Omit<SendOptions, 'url' | 'headers' | 'onSend'>
  /**
   * Sends one request when its turn has come, and adapts pace and breaker to the answer before the next one begins. Returns the
   * answer or its failure; throws what ends the run: KeyError when the key was refused, now or before, and StoppedError. `once`
   * gets what it must call when it sends. Throws what `checkLease` throws.
   */
  call<T extends AnswerHead>(
    summary: RequestSummary,
    once: (onSend: OnSend) => Promise<T>,
    classifyAnswer: Classifier<T>,
    checkLease?: CheckLease,
  ): Promise<T | AttemptFailure>
  /** Retries transient failures, up to `maxAttempts` of each; `onRetry` is called before every repetition. Returns the last result. */
  withRetries<T extends object>(
    work: (attempt: number) => Promise<T | AttemptFailure>,
    maxAttemptsOf: (failure: AttemptFailure) => number,
    onRetry?: OnRetry,
  ): Promise<T | AttemptFailure>
  close(): Promise<void>
}

const MAX_ATTEMPTS = 6
/** Milliseconds before the first repetition; each further wait is twice as long, and up to twice that at random. */
const FIRST_RETRY_MS = 1_000
/** The longest wait before a repetition. */
const MAX_RETRY_MS = 60_000

/** Creates the client of a service; it keeps connections open until it is closed. */
export function openClient(options: FetchOptions): ServiceClient {
  const { key, pace, signal, beforeCall, onFailure, retryMs = FIRST_RETRY_MS, onPause, onWait } = options
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const agent = createAgent(limits, pace.concurrency, signal)
  const turns = options.turns ?? createTurns(pace, signal, options.breaker ?? BREAKER, options.recentCalls)
  const redactor = redactorOf(key)
  // Once the key was refused or the run has to end, nothing more is sent.
  let ended: SyncError | undefined

  /** Reports a pause of all calls. Throws where it is too long to wait for. */
  function reportPause(ms: number, reason: string): void {
    if (ms <= 0) return
    if (ms > MAX_WAIT_MS) throw tooLong(ms)
    onPause?.(ms, reason)
  }

  /** Reports a failed call, and pauses all calls to a host that keeps failing or asks for it. Throws what ends the run. */
  async function report(host: string, failure: AttemptFailure, quota = 0): Promise<AttemptFailure> {
    const { error, alive = false, coolDownMs } = failure
    const isFailed = error instanceof TransientError && !alive
    const waitMs = Math.max(quota, isFailed ? coolDownMs : 0)
    const isUnreachable = isFailed && failure.answer === null && isOutage(error)
    const result = { what: isFailed ? 'failed' : 'alive', waitMs, isUnreachable } as const
    const { pauseMs, giveUp } = await turns.report(host, result)
    if (giveUp) throw new UnavailableError(error)
    if (coolDownMs > MAX_WAIT_MS && isOutage(error)) {
      const { message, hint } = tooLong(coolDownMs)
      throw new UnavailableError(new StoppedError(`${error.message} ${message}`, { cause: error }), hint)
    }
    if (isFailed) {
      reportPause(pauseMs, 'the service keeps failing; one call will probe it')
      reportPause(coolDownMs, error.message)
    }
    if (error instanceof KeyError) throw error
    return failure
  }

  async function sendOnce<T extends AnswerHead>(
    summary: RequestSummary,
    once: () => Promise<T>,
    classifyAnswer: Classifier<T>,
  ): Promise<T | AttemptFailure> {
    const { host } = new URL(summary.url)
    await beforeCall?.(host)
    const answer = await once().catch((error: unknown) => {
      if (error instanceof SyncError || error instanceof NotNowError) throw error
      if (error instanceof DeadlineError && error.code === 'STOPPED') throw new SignalError(error)
      return nameFailure(error, summary, redactor)
    })
    if (hasFailed(answer)) return report(host, answer)
    const failure = classifyAnswer(answer, summary, Date.now())
    const quota = quotaWaitMs(answer.headers, Date.now())
    const requestedPause = failure?.error instanceof TransientError ? failure.error.retryAfterMs : undefined
    const wait = Math.max(quota, requestedPause ?? 0)
    if (wait > 0) onWait?.(wait, host)
    // Nothing is sent until a spent quota is renewed; the answer that reported it is used.
    if (quota > MAX_WAIT_MS) ended = tooLong(quota)
    else reportPause(quota, 'the quota of the moment is spent')
    if (failure) return report(host, failure, quota)
    await turns.report(host, { what: 'good', waitMs: quota })
    return answer
  }

  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    userAgentHeader: userAgentHeader(options.version),
    key: { [options.service.apiKey.header]: key },
    sending: { dispatcher: agent, limits, redactor, stop: signal },
    call: (summary, once, classifyAnswer, checkLease) =>
      turns.pass(
        new URL(summary.url).host,
        async (onSend) => {
          if (ended) throw ended
          if (signal.aborted) throw new SignalError()
          try {
            return await sendOnce(summary, () => once(onSend), classifyAnswer)
          } catch (error) {
            if (error instanceof StoppedError || error instanceof KeyError) ended = error
            throw error
          }
        },
        checkLease,
      ),
    async withRetries<T extends object>(
      work: (attempt: number) => Promise<T | AttemptFailure>,
      maxAttemptsOf: (failure: AttemptFailure) => number,
      onRetry?: OnRetry,
    ) {
      for (let attempts = 1; ; attempts++) {
        const result = await work(attempts)
        if (!hasFailed(result)) return result
        onFailure?.(result, attempts)
        if (attempts >= Math.min(maxAttemptsOf(result), MAX_ATTEMPTS)) return result
        onRetry?.(result, attempts)
        await wait(Math.min(retryMs * 2 ** (attempts - 1) * (1 + Math.random()), MAX_RETRY_MS), signal)
      }
    },
    async close() {
      await turns.close()
      await agent.destroy()
    },
  }
}
