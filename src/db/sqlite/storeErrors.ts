import { BusyError, StoreError, SyncError } from '../../util/errors.ts'

/** An error of SQLite, recognized by its name, without importing the package. */
interface SqliteError extends Error {
  readonly code: string
}

const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string'

/** Whether another connection has a lock that it may release soon. */
export function isBusy(error: unknown): boolean {
  const raw = error instanceof SyncError ? error.cause : error
  return isSqliteError(raw) && (raw.code.startsWith('SQLITE_BUSY') || raw.code.startsWith('SQLITE_LOCKED'))
}

const REASONS: Readonly<Record<string, readonly [string, string]>> = {
  SQLITE_BUSY: [
    'The database{} is locked by another program.',
    'Close the program that is writing to it, then run the command again. No data was lost.',
  ],
  SQLITE_FULL: [
    'The disk with the database{}, or the one for temporary files, is full.',
    'Free disk space, or set SQLITE_TMPDIR to another temporary folder. Then run the command again. Committed data is kept.',
  ],
  SQLITE_TOOBIG: [
    "A value exceeds SQLite's size limit, or that of this program.",
    'Select less of it: substr(…), length(…), or fewer rows in one value.',
  ],
  SQLITE_NOMEM: ['There is not enough memory for this statement.', 'Select less data at once.'],
  SQLITE_IOERR_GETTEMPPATH: [
    'No temporary folder is writable, and the database{} needs one.',
    'Set SQLITE_TMPDIR to a writable folder, then run the command again.',
  ],
  SQLITE_READONLY: [
    'The database{} is not writable.',
    'Give this user write permission for the file and its folder, because readers also write there. Or read a copy made by `indicator-sync publish`.',
  ],
  SQLITE_READONLY_ROLLBACK: [
    'The rollback journal (-journal) of the database{} can only be rolled back by a writer.',
    'If another program died while writing, open the database once with that program. Otherwise move the journal away: this program never creates one.',
  ],
  SQLITE_CANTOPEN: [
    'The database{} cannot be opened.',
    'Check that its folder exists, that this user may read and write there, and that not too many files are open (ulimit -n).',
  ],
  SQLITE_NOTADB: [
    'The file{} is not an SQLite database.',
    'Pass another file with --database (`migrate`: --from). This one was not changed.',
  ],
  SQLITE_CORRUPT: [
    'The database{} is damaged.',
    'Restore a backup, or save the readable rows with: sqlite3 FILE .recover',
  ],
  SQLITE_IOERR_SHMSIZE: [
    'The disk with the database{} is full, or a file-size limit was reached (ulimit -f).',
    'Free 32 kB or more: even a reader needs them. Then run the command again. Committed data is kept.',
  ],
  SQLITE_IOERR: [
    'The disk with the database{} failed, or a file-size limit was reached (ulimit -f, or that of the file system).',
    'Check both, then run the command again. Committed data is kept.',
  ],
}

/** Turns an error of SQLite into an expected one; returns any other value unchanged. */
export function asStoreError(error: unknown, file?: string): unknown {
  if (!isSqliteError(error)) return error
  const name = file === undefined ? '' : ` ${file}`
  const [message, hint] = REASONS[error.code] ??
    REASONS[error.code.split('_').slice(0, 2).join('_')] ?? [
      `SQLite reported an error for the database${name}: ${error.message}.`,
      'Run `indicator-sync doctor` to see the state of the file.',
    ]
  const ErrorClass = isBusy(error) ? BusyError : StoreError
  return new ErrorClass(message.replace('{}', name), { hint, code: error.code.toLowerCase(), cause: error })
}

/** Operations with expected errors, whether thrown, rejected, or thrown while rows are read. */
export function withStoreErrors<T extends object>(operations: T, file: string): T {
  const rethrow = (error: unknown): never => {
    throw asStoreError(error, file)
  }
  async function* read(rows: AsyncIterable<unknown>): AsyncIterable<unknown> {
    try {
      yield* rows
    } catch (error) {
      rethrow(error)
    }
  }
  const wrap =
    (operation: (...parameters: unknown[]) => unknown) =>
    (...parameters: unknown[]): unknown => {
      try {
        const result = operation(...parameters)
        if (result instanceof Promise) return result.catch(rethrow)
        const isIterable = typeof result === 'object' && result !== null && Symbol.asyncIterator in result
        return isIterable ? read(result as AsyncIterable<unknown>) : result
      } catch (error) {
        return rethrow(error)
      }
    }
  return Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, wrap(operation)])) as T
}
