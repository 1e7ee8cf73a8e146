import { BugError, InputError, StoreError, SyncError } from './errors.ts'

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
export function asSystemError(error: unknown): unknown {
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

/** What was thrown, as an error of this program: what is neither ours nor of the system is a bug. */
export function asSyncError(thrown: unknown): SyncError {
  const error = asSystemError(thrown)
  return error instanceof SyncError ? error : new BugError(thrown)
}
