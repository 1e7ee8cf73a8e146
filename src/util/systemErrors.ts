import { BugError, InputError, StoreError, SyncError } from './errors.ts'

/** System errors by code: the meaning, and whether the user's input or the machine is the cause. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [string, typeof InputError | typeof StoreError]>> = {
  ENOENT: ['does not exist', InputError],
  EISDIR: ['is a folder', InputError],
  ENOTDIR: ['is below something that is not a folder', InputError],
  EACCES: ['is not accessible to this user', InputError],
  EPERM: ['is not accessible to this user', InputError],
  EEXIST: ['already exists', InputError],
  ELOOP: ['is part of a loop of symbolic links', InputError],
  ENAMETOOLONG: ['has a name that is too long', InputError],
  ENOTEMPTY: ['is a folder that is not empty', InputError],
  EXDEV: ['is on another file system', InputError],
  EADDRINUSE: ['is an address that another program uses', InputError],
  EADDRNOTAVAIL: ['is not an address of this machine', InputError],
  ENOSPC: ['is on a full disk', StoreError],
  EFBIG: ['exceeds a file-size limit (ulimit -f, or that of the file system)', StoreError],
  EDQUOT: ['exceeds the disk quota of this user', StoreError],
  EIO: ['is on a disk that failed', StoreError],
  EROFS: ['is on a read-only file system', StoreError],
  EMFILE: ['cannot be opened: this process has too many files open (ulimit -n)', StoreError],
  ENFILE: ['cannot be opened: this machine has too many files open', StoreError],
  EAGAIN: ['is temporarily unavailable', StoreError],
  ENOMEM: ['needs more memory than this machine has', StoreError],
  ETXTBSY: ['is in use', StoreError],
  EBUSY: ['is in use', StoreError],
  EPIPE: ['has no reader any more', StoreError],
}

/** The meaning of a system error, with its code. */
export function describeSystemError(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  return `${SYSTEM_ERRORS[code]?.[0] ?? 'cannot be used'} (${code})`
}

/** Limits of the runtime for large values. */
const RUNTIME_LIMITS = ['ERR_STRING_TOO_LONG', 'ERR_BUFFER_TOO_LARGE', 'ERR_WORKER_OUT_OF_MEMORY']

/** Turns a system error into an expected one; returns any other value unchanged. */
export function asSystemError(error: unknown): unknown {
  if (error instanceof SyncError || !(error instanceof Error)) return error
  const { code = '', syscall, path } = error as NodeJS.ErrnoException
  if (RUNTIME_LIMITS.includes(code) || /Invalid string length|Array buffer allocation failed/.test(error.message))
    return new InputError('A value or the result is too large.', {
      hint: 'Select fewer rows or columns, or substr(…) of a long text.',
      code: 'too-large',
      cause: error,
    })
  const declared = SYSTEM_ERRORS[code]
  if (!declared || syscall === undefined) return error
  const [meaning, ErrorClass] = declared
  const subject = path ?? (syscall === 'write' ? 'The output' : 'A resource')
  return new ErrorClass(`${subject} ${meaning} (${code} in ${syscall}).`, {
    hint: 'Check the path and its permissions, then run the command again.',
    code: code.toLowerCase(),
    cause: error,
  })
}

/** Turns anything thrown into an expected error, or a BugError. */
export function asSyncError(thrown: unknown): SyncError {
  const error = asSystemError(thrown)
  return error instanceof SyncError ? error : new BugError(thrown)
}
