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
import { asCalled } from '../program.ts'

/** What a script reads from the exit code. */
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

const BY_CLASS = [
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

/** The exit code of an error; anything that is not ours is a bug of ours. */
export function exitCodeFor(thrown: unknown): number {
  const error = asSystemError(thrown)
  return BY_CLASS.find(([errorClass]) => error instanceof errorClass)?.[1] ?? EXIT.bug
}

/** An error as a person reads it: what, and what to do next. */
export function describe(thrown: unknown): string {
  const error = asSyncError(thrown)
  if (!(error instanceof BugError)) return error.hint ? `${error.message}\n  → ${asCalled(error.hint)}` : error.message
  const { cause, message } = error
  const text = cause instanceof Error ? `Internal error: ${cause.stack ?? cause.message}` : message
  return `${text}\n  → This is a bug in indicator-sync. Please report it with the lines above.`
}

/** The same for machines: the fields of `command.failed`; of a bug also where in the code it was thrown. */
export function failedFields(thrown: unknown): Required<FieldsOf<'command.failed'>> {
  const error = asSyncError(thrown)
  const stack = error instanceof BugError && error.cause instanceof Error ? error.cause.stack : undefined
  const [frames = ''] = /\n {4}at [\s\S]*/.exec(stack ?? '') ?? []
  return { ...errorFields(error), reason: error.message + frames }
}
