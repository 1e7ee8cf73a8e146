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

/** Errors of the system by code: the meaning, and whether the cause is the user's input or the machine. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [string, typeof InputError | typeof StoreError]>> = {
  ENOENT: ['is not there', InputError],
  EISDIR: ['is a folder', InputError],
  ENOTDIR: ['lies below something that is not a folder', InputError],
  EACCES: ['may not be used by this user', InputError],
  EPERM: ['may not be used by this user', InputError],
  EEXIST: ['is there already', InputError],
  ELOOP: ['is a link that leads round in circles', InputError],
  ENAMETOOLONG: ['has too long a name', InputError],
  ENOTEMPTY: ['is a folder that is not empty', InputError],
  EXDEV: ['lies on another disk', InputError],
  EADDRINUSE: ['is an address that another program listens on', InputError],
  EADDRNOTAVAIL: ['is not an address of this machine', InputError],
  ENOSPC: ['lies on a disk that is full', StoreError],
  EFBIG: ['may not grow as large as it has to (ulimit -f, or the largest file of the disk)', StoreError],
  EDQUOT: ['lies on a disk on which this user has no quota left', StoreError],
  EIO: ['lies on a disk that failed', StoreError],
  EROFS: ['lies on a disk that cannot be written', StoreError],
  EMFILE: ['cannot be opened: this process has too many files open (ulimit -n)', StoreError],
  ENFILE: ['cannot be opened: this machine has too many files open', StoreError],
  EAGAIN: ['cannot be had: this machine has no more of it', StoreError],
  ENOMEM: ['cannot be had: this machine has no memory left', StoreError],
  ETXTBSY: ['is in use', StoreError],
  EBUSY: ['is in use', StoreError],
  EPIPE: ['is not read by anybody any more', StoreError],
}

/** The meaning of an error of the system about a file, with its code. */
export function systemWords(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  return `${SYSTEM_ERRORS[code]?.[0] ?? 'cannot be used'} (${code})`
}

/** Limits of the runtime that a large value of the user's own meets. */
const RUNTIME_LIMITS = ['ERR_STRING_TOO_LONG', 'ERR_BUFFER_TOO_LARGE', 'ERR_WORKER_OUT_OF_MEMORY']

/** An error of the system as one of this program; any other error unchanged. */
function asSystemError(error: unknown): unknown {
  if (error instanceof SyncError || !(error instanceof Error)) return error
  const { code = '', syscall, path } = error as NodeJS.ErrnoException
  if (RUNTIME_LIMITS.includes(code) || /Invalid string length|Array buffer allocation failed/.test(error.message))
    return new InputError('A value or the answer is too large to be handled.', {
      hint: 'Ask for less of it: fewer rows, fewer columns, or substr(…) of a long text.',
      code: 'too-large',
      cause: error,
    })
  const known = SYSTEM_ERRORS[code]
  if (!known || syscall === undefined) return error
  const [means, ErrorClass] = known
  const what = path ?? (syscall === 'write' ? 'The output' : 'What is needed')
  return new ErrorClass(`${what} ${means} (${code} in ${syscall}).`, {
    hint: 'Check what is there and who owns it, or name another place, and run the command again.',
    code: code.toLowerCase(),
    cause: error,
  })
}

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
