import { inspect } from 'node:util'

/** A request, for messages and records. Never contains the key. */
export interface RequestSummary {
  /** The route of the request. */
  readonly route: string
  /** Its address. */
  readonly url: string
}

interface ErrorDetails {
  /** One sentence for a person: what to do next. */
  readonly hint?: string
  /** A short word for a machine, stable across versions. */
  readonly code?: string
  readonly request?: RequestSummary
  readonly cause?: unknown
}

/** The base class of all errors of this program: `hint` is for people, `code` for machines, and the class decides what happens next. */
export class SyncError extends Error {
  /** What to do about it. */
  readonly hint: string | undefined
  /** A word for programs, such as `locked`. */
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

/** What was thrown in words, whatever it is; of an object only its kind, for it may hold a secret. */
function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: -1 })
}

/** What nobody expected: `cause` is what was thrown. */
export class BugError extends SyncError {
  constructor(cause: unknown) {
    super(`Internal error: ${thrownText(cause)}`, {
      code: 'bug',
      hint: 'This is a bug in indicator-sync. Please report it.',
      cause,
    })
  }
}

/** The user can fix it (a job file, a flag, an unknown value). Stops before anything is sent. */
export class InputError extends SyncError {}

/** The service refused the key (401 or 403 as JSON). Stops the run at once. */
export class KeyError extends SyncError {}

/** The service refused this request and would refuse it again. The run continues with other requests. */
export class PermanentError extends SyncError {}

/** The service does not have what was requested (404): the run requests nothing else of that path. */
export class NotFoundError extends PermanentError {}

/** The request may pass another time (429, 5xx, the network, a firewall). It is retried, then left for the next run. */
export class TransientError extends SyncError {
  /** Milliseconds that the service asked to wait; undefined where it did not. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails & { readonly retryAfterMs?: number | undefined } = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The window is too large for the service, or its answer for this machine. A window that can be halved is not retried: its halves are requested. */
export class TooLargeError extends TransientError {}

/** The body does not have the expected form. The reply is kept, what cannot be parsed is quarantined, the run continues. */
export class SchemaError extends SyncError {
  /** Where in the body, as a JSON path such as `$.indicator.values`. */
  readonly path: string

  constructor(message: string, details: ErrorDetails & { readonly path: string }) {
    super(message, details)
    this.path = details.path
  }
}

/** An answer holds more than is read of one; a smaller window may hold less. */
export class OversizedError extends SchemaError {}

/** More rows were rejected than the run may have. Ends the run in order: what came before is loaded. */
export class RejectLimitError extends SyncError {}

/** The database refused (disk full, corrupt, newer schema, read-only). Stops the run. */
export class StoreError extends SyncError {}

/** The database has a newer schema than this version knows: a worker that met it once could only meet it again. */
export class NewerSchemaError extends StoreError {}

/** The user of the database may not do that there. */
export class RightsError extends StoreError {}

/** The database lacks a table, or the schema that it belongs to. */
export class NoTableError extends StoreError {}

/** Another process holds the writer's lock. */
export class BusyError extends SyncError {}

/** Stopped on purpose with work left: the budget or the time is spent, or a signal came. Resumable. */
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

/** The calls of a minute, an hour or a day are spent, as planned: a later run continues. */
export class BudgetError extends StoppedError {}

/** The service is down or cannot be reached, and the run gives up: an unplanned stop, which counts as a failure. */
export class UnavailableError extends StoppedError {
  /** The last failure of a request. */
  declare readonly cause: SyncError
  /** `hint` says when to try again. */
  constructor(
    cause: SyncError,
    hint = 'Check the network and the base URL with `indicator-sync doctor`. Then run the same command again: it continues where this one stopped.',
  ) {
    super(`The service is unavailable. ${cause.message}`, {
      hint,
      code: 'unavailable',
      cause,
    })
  }
}

/** A run made all its requests, and the service was unavailable for each of them. It may answer those of other jobs. */
export class NoReplyError extends UnavailableError {}

/** Codes of failures that come from a service which is down or out of reach, not from a request (`fetch/failures.ts`). */
const OUTAGE_CODES = new Set(['server-error', 'timeout', 'page', 'dns', 'tls', 'bad-http', 'network'])

/** Whether the service may be down, rather than the request wrong. */
export const isOutage = ({ code }: SyncError): boolean => OUTAGE_CODES.has(code)
