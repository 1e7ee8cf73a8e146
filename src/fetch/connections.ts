import type { HttpResponse } from '../service/request.ts'
import { type RequestSummary, SignalError, SyncError } from '../util/errors.ts'
import { createRedactors } from '../util/redact.ts'
import { createAgent } from './agent.ts'
import { type AttemptFailure, classifyError } from './classify.ts'
import { DeadlineError } from './deadlines.ts'
import { HTTP_LIMITS, type Limits, type OpenResponse, type SendOptions, send } from './http.ts'
import { proxyLogins } from './proxies.ts'
import type { ClientOptions, Settings } from './settings.ts'

/** One HTTP request. */
export interface CallRequest<T extends HttpResponse> extends RequestSummary {
  readonly headers: Readonly<Record<string, string>>
  /** True to refuse a name that resolves into a private network. Default: false. */
  readonly isPublicOnly?: boolean
  /** Limits that differ from those of the client. */
  readonly limits?: Partial<Limits>
  /** Reads the body. */
  readonly read: (opened: OpenResponse, options: SendOptions) => Promise<T>
  /** Returns the failure that a response means; undefined for a success. */
  readonly classify: (response: T, summary: RequestSummary, now: number) => AttemptFailure | undefined
  /** Called when it is sent, which may be long after the call. */
  readonly onSend?: () => void
}

/** The result of a request that was sent. */
export type CallResult<T extends HttpResponse> =
  | { readonly kind: 'ok'; readonly response: T }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }

/** Opens the connections of a client. `attempt` sends a request over them at once. Throws SignalError, and each SyncError that `read` throws. */
export function openConnections(
  { key, proxies, limits: otherLimits }: Settings,
  { concurrency, signal }: Pick<ClientOptions, 'concurrency' | 'signal'>,
) {
  const limits = { ...HTTP_LIMITS, ...otherLimits }
  const redactor = createRedactors([key, ...(proxies ? proxyLogins(proxies) : [])])
  const agentOptions = { timeoutMs: limits.timeoutMs, connections: concurrency, signal, proxies }
  const dispatcher = createAgent(agentOptions)
  const publicDispatcher = createAgent({ ...agentOptions, isPublicOnly: true })

  /** The failure that an error without a response means. Throws an error that ends the run. */
  function toFailure(error: unknown, summary: RequestSummary): AttemptFailure {
    if (error instanceof SyncError) throw error
    if (error instanceof DeadlineError && error.code === 'STOPPED') throw new SignalError(error)
    return classifyError(error, summary, redactor)
  }

  async function attempt<T extends HttpResponse>(request: CallRequest<T>): Promise<CallResult<T>> {
    const { route, url, headers, isPublicOnly = false, read, classify } = request
    const summary = { route, url }
    const sending: SendOptions = {
      dispatcher: isPublicOnly ? publicDispatcher : dispatcher,
      url,
      headers,
      limits: { ...limits, ...request.limits },
      redactor,
      signal,
    }
    let response: T
    try {
      response = await send(sending, read)
    } catch (error) {
      return { kind: 'failed', failure: toFailure(error, summary) }
    }
    // The dates of a service are compared with the system clock.
    const failure = classify(response, summary, Date.now())
    return failure ? { kind: 'failed', failure } : { kind: 'ok', response }
  }

  const close = async (): Promise<void> => {
    await Promise.all([dispatcher.destroy(), publicDispatcher.destroy()])
  }

  return { attempt, close }
}
