import {
  BugError,
  BusyError,
  InputError,
  KeyError,
  PermanentError,
  RejectLimitError,
  SchemaError,
  StoppedError,
  StoreError,
  TransientError,
  UnavailableError,
} from '../../util/errors.ts'
import { errorFields } from '../../util/eventFields.ts'
import type { FieldsOf } from '../../util/events.ts'
import { asSyncError, asSystemError } from '../../util/systemErrors.ts'
import { withProgramName } from '../command.ts'

export const EXIT = {
  done: 0,
  partial: 1,
  usage: 2,
  key: 3,
  stopped: 4,
  busy: 5,
  check: 6,
  store: 7,
  unavailable: 8,
  bug: 70,
  sighup: 129,
  sigint: 130,
  sigterm: 143,
} as const

const EXIT_BY_ERROR = [
  [InputError, EXIT.usage],
  [KeyError, EXIT.key],
  [UnavailableError, EXIT.unavailable],
  [StoppedError, EXIT.stopped],
  [BusyError, EXIT.busy],
  [StoreError, EXIT.store],
  [PermanentError, EXIT.partial],
  [TransientError, EXIT.partial],
  [SchemaError, EXIT.partial],
  [RejectLimitError, EXIT.partial],
] as const

/** Returns the exit code of an error; an unexpected error is a bug. */
export function exitCodeFor(thrown: unknown): number {
  const error = asSystemError(thrown)
  return EXIT_BY_ERROR.find(([errorClass]) => error instanceof errorClass)?.[1] ?? EXIT.bug
}

/** Describes an error to the user: what failed, and the next step. */
export function describeError(thrown: unknown): string {
  const error = asSyncError(thrown)
  const { cause, hint, message } = error
  if (!(error instanceof BugError)) return hint ? `${message}\n  → ${withProgramName(hint)}` : message
  const text = cause instanceof Error ? `Internal error: ${cause.stack ?? cause.message}` : message
  return `${text}\n  → This is a bug in indicator-sync. Please report it with the lines above.`
}

/** The fields of the event `command.failed`; the reason of a bug includes its stack. */
export function failedFields(thrown: unknown): Required<FieldsOf<'command.failed'>> {
  const error = asSyncError(thrown)
  const stack = error instanceof BugError && error.cause instanceof Error ? error.cause.stack : undefined
  const [frames = ''] = /\n {4}at [\s\S]*/.exec(stack ?? '') ?? []
  return { ...errorFields(error), reason: error.message + frames }
}
