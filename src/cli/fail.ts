import {
  BusyError,
  InputError,
  KeyError,
  PassingError,
  RefusedError,
  ShapeError,
  StoppedError,
  StoreError,
  SyncError,
} from '../base/errors.ts'

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
  sigint: 130,
  sigterm: 143,
} as const

const BY_CLASS = [
  [InputError, EXIT.usage],
  [KeyError, EXIT.key],
  [StoppedError, EXIT.stopped],
  [BusyError, EXIT.busy],
  [StoreError, EXIT.store],
  [RefusedError, EXIT.partial],
  [PassingError, EXIT.partial],
  [ShapeError, EXIT.partial],
] as const

/** The exit code of an error; anything that is not ours is a bug of ours. */
export const exitCodeOf = (error: unknown): number => BY_CLASS.find(([kind]) => error instanceof kind)?.[1] ?? EXIT.bug

/** An error as a person reads it: what, and what to do next. */
export function describe(error: unknown): string {
  if (error instanceof SyncError) return error.hint ? `${error.message}\n  → ${error.hint}` : error.message
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `A bug of indicator-sync: ${text}\n  → Please report it with these lines.`
}
