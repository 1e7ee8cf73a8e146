import { inspect } from 'node:util'

/** A request, for messages and records. Never contains the key. */
export interface RequestSummary {
  /** The route of the request. */
  readonly route: string
  /** Its address. */
  readonly url: string
}

interface ErrorDetails {
  /** The next step, in a sentence for people. */
  readonly hint?: string
  /** A word for scripts, stable across versions. */
  readonly code?: string
  readonly request?: RequestSummary
  readonly cause?: unknown
}

/** The base class of all expected errors. The class decides how the program continues. */
export class SyncError extends Error {
  /** The next step. */
  readonly hint: string | undefined
  /** A word for scripts, such as `locked`. */
  readonly code: string
  /** The request that failed, if one did. */
  readonly request: RequestSummary | undefined

  constructor(message: string, { hint, code = 'error', request, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.hint = hint
    this.code = code
    this.request = request
  }
}

/** The message of anything thrown. Objects appear only by their class, because they may contain secrets. */
function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: -1 })
}

/** An unexpected internal error; `cause` is the thrown value. */
export class BugError extends SyncError {
  constructor(cause: unknown) {
    super(`Internal error: ${thrownText(cause)}`, {
      code: 'bug',
      hint: 'This is a bug in indicator-sync. Please report it.',
      cause,
    })
  }
}

/** An error that the user can fix, such as in a job file or a flag. Thrown before anything is sent. */
export class InputError extends SyncError {}

/** The service refused the key (401 or 403 as JSON). Stops the run at once. */
export class KeyError extends SyncError {}

/** The service refused this request and would refuse it again. The run continues with other requests. */
export class PermanentError extends SyncError {}

/** The service does not have the item (404). The run requests nothing else of that path. */
export class NotFoundError extends PermanentError {}

/** The request may succeed later (429, 5xx, the network, a firewall). It is retried, then left for the next run. */
export class TransientError extends SyncError {
  /** Milliseconds that the service requested to wait; undefined if it did not. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** Requests for one item fail again and again, and all failures in a row are about it. A run leaves out its other requests. */
export class BrokenItemError extends TransientError {
  constructor(cause: TransientError) {
    const { message, hint, code, request, retryAfterMs } = cause
    super(message, {
      ...(hint === undefined ? {} : { hint }),
      code,
      ...(request ? { request } : {}),
      retryAfterMs,
      cause,
    })
  }
}

/**
 * The window is too large for the service, or its response for this machine. A window that can be halved is not retried: its
 * halves are requested.
 */
export class TooLargeError extends TransientError {}

/** The body does not have the expected form. The reply is stored, unparsed parts are quarantined, the run continues. */
export class SchemaError extends SyncError {
  /** The JSON path in the body, such as `$.indicator.values`. */
  readonly path: string

  constructor(message: string, details: ErrorDetails & { readonly path: string }) {
    super(message, details)
    this.path = details.path
  }
}

/** The reply exceeds a limit. A smaller window may not. */
export class OversizedError extends SchemaError {}

/** A row was rejected, although the run allows none. Ends the run; earlier replies are loaded. */
export class RejectLimitError extends SyncError {}

/** The database refused (disk full, corrupt, newer schema, read-only). Stops the run. */
export class StoreError extends SyncError {}

/** The database has a newer schema than this version supports. */
export class NewerSchemaError extends StoreError {}

/** The database user lacks a privilege. */
export class RightsError extends StoreError {}

/** Another process holds the writer's lock. */
export class BusyError extends SyncError {}

/** Ended early with work left: a signal, a spent budget, too long a pause, or an outage. The next run continues. */
export class StoppedError extends SyncError {}

/** A signal stopped a run or a wait. */
export class SignalError extends StoppedError {
  constructor(cause?: unknown) {
    super('Stopped by a signal.', {
      hint: 'Run the same command again: it continues where this one stopped.',
      code: 'signal',
      cause,
    })
  }
}

/** The calls of a minute, an hour or a day are spent. A later run continues. */
export class BudgetError extends StoppedError {}

const CHECK_NETWORK = 'Check the network and the base URL with `indicator-sync doctor --online`.'

/** What is unavailable, and what to do about it, by the code of the last failure. */
const UNAVAILABLE: Readonly<Record<string, (cause: SyncError) => { readonly what: string; readonly fix: string }>> = {
  proxy: ({ hint = CHECK_NETWORK }) => ({ what: 'No request passes the proxy.', fix: hint }),
  'too-many': () => ({
    what: 'The service keeps refusing calls.',
    fix: 'Lower pace.perSecond in the job file, and wait for some minutes.',
  }),
}

const describeUnavailable = (cause: SyncError) =>
  UNAVAILABLE[cause.code]?.(cause) ?? { what: 'The service is unavailable.', fix: CHECK_NETWORK }

/** The service is down or cannot be reached. The run gives up, which counts as a failure. */
export class UnavailableError extends StoppedError {
  /** The last failure of a request. */
  declare readonly cause: SyncError
  /** `hint` says when to try again. */
  constructor(cause: SyncError, hint?: string) {
    const { what, fix } = describeUnavailable(cause)
    super(`${what} Last error: ${cause.message}`, {
      hint: hint ?? `${fix} Then run the same command again: it continues where this one stopped.`,
      code: 'unavailable',
      cause,
    })
  }
}

/** The service was unavailable for all requests of a run. Requests of other jobs may succeed. */
export class NoReplyError extends UnavailableError {}

/** Codes of failures of a service that is down or cannot be reached (`fetch/failures.ts`). */
const OUTAGE_CODES = new Set(['server-error', 'timeout', 'page', 'dns', 'tls', 'bad-http', 'network', 'proxy'])

/** Whether the service may be down, as opposed to a wrong request. */
export const isOutageCode = (code: string): boolean => OUTAGE_CODES.has(code)
export const isOutage = ({ code }: SyncError): boolean => isOutageCode(code)
