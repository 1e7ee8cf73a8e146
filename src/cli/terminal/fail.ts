import {
  BusyError,
  InputError,
  KeyError,
  PermanentError,
  RejectLimitError,
  SchemaError,
  StoppedError,
  StoreError,
  SyncError,
  TransientError,
} from '../../base/errors.ts'
import type { FieldsOf } from '../../base/events.ts'
import { asSystemError } from '../../base/systemErrors.ts'
import { asCalled } from '../shell.ts'

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
  bug: 70,
  sighup: 129,
  sigint: 130,
  sigterm: 143,
} as const

const BY_CLASS = [
  [InputError, EXIT.usage],
  [KeyError, EXIT.key],
  [StoppedError, EXIT.stopped],
  [BusyError, EXIT.busy],
  [StoreError, EXIT.store],
  [PermanentError, EXIT.partial],
  [TransientError, EXIT.partial],
  [SchemaError, EXIT.partial],
  [RejectLimitError, EXIT.partial],
] as const

/** The exit code of an error; anything that is not ours is a bug of ours. */
export function exitCodeOf(thrown: unknown): number {
  const error = asSystemError(thrown)
  return BY_CLASS.find(([errorClass]) => error instanceof errorClass)?.[1] ?? EXIT.bug
}

/** An error as a person reads it: what, and what to do next. */
export function describe(thrown: unknown): string {
  const error = asSystemError(thrown)
  if (error instanceof SyncError) return error.hint ? `${error.message}\n  → ${asCalled(error.hint)}` : error.message
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `A bug of indicator-sync: ${text}\n  → Please report it with these lines.`
}

/** The same for machines: the fields of `command.failed`. */
export function failedFields(thrown: unknown): Required<FieldsOf<'command.failed'>> {
  const error = asSystemError(thrown)
  const ours = error instanceof SyncError
  const [reason] = describe(thrown).split('\n  → ')
  return {
    code: ours ? error.code : 'bug',
    reason: reason!,
    hint: ours ? (error.hint ?? null) : 'Please report it.',
  }
}
