import { BusyError, StoreError, SyncError } from '../../util/errors.ts'

/** An error of SQLite, recognized by its name, without importing the package. */
interface SqliteError extends Error {
  readonly code: string
}

const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string'

/** Whether another connection holds what is needed, and may give it back soon: an error of SQLite, or ours that it caused. */
export function isBusy(error: unknown): boolean {
  const raw = error instanceof SyncError ? error.cause : error
  return isSqliteError(raw) && (raw.code.startsWith('SQLITE_BUSY') || raw.code.startsWith('SQLITE_LOCKED'))
}

const REASONS: Readonly<Record<string, readonly [string, string]>> = {
  SQLITE_BUSY: [
    'The database{} is locked by another program.',
    'Close the program that is writing to it and run the command again; nothing was lost.',
  ],
  SQLITE_FULL: [
    'The disk of the database{} is full, or that of temporary files.',
    'Make room, or name another folder for temporary files with SQLITE_TMPDIR, and run the command again; what was committed is kept.',
  ],
  SQLITE_TOOBIG: [
    'A value is larger than SQLite can hold or this program can read.',
    'Ask for less of it: substr(…), length(…), or fewer rows in one value.',
  ],
  SQLITE_NOMEM: ['There is not enough memory for this statement.', 'Ask for less at once.'],
  SQLITE_IOERR_GETTEMPPATH: [
    'No folder for temporary files can be written, and{} holds more than fits into memory.',
    'Name one with SQLITE_TMPDIR and run the command again.',
  ],
  SQLITE_READONLY: [
    'The database{} cannot be written.',
    'Give this user the right to write the file and its folder: readers also write files there. Or read a copy made by `indicator-sync publish`.',
  ],
  SQLITE_READONLY_ROLLBACK: [
    'There is a rollback journal (-journal) beside the database{}, which a reader cannot undo.',
    'If a program that was writing died, open it once with that program. If the journal came there from elsewhere, move it away: databases of this program have none.',
  ],
  SQLITE_CANTOPEN: [
    'The database{} cannot be opened.',
    'See that its folder exists, that this user may read and write there, and that not too many files are open (ulimit -n).',
  ],
  SQLITE_NOTADB: [
    'The file{} is not an SQLite database.',
    'Name another file (--database, or --from of `migrate`); this one was not touched.',
  ],
  SQLITE_CORRUPT: [
    'The database{} is damaged.',
    'Restore a copy, or save what can be read with: sqlite3 FILE .recover',
  ],
  SQLITE_IOERR_SHMSIZE: [
    'The disk of the database{} is full, or files may not grow (ulimit -f): even a reader needs 32 kB beside it.',
    'Make room and run the command again; what was committed is kept.',
  ],
  SQLITE_IOERR: [
    'The disk of the database{} failed, or a file may not grow as large as it has to (ulimit -f, or the largest file of the disk).',
    'Check both and run the command again; what was committed before is kept.',
  ],
}

/** Turns an error of SQLite into one of ours; passes on anything else. */
export function asStoreError(error: unknown, file?: string): unknown {
  if (!isSqliteError(error)) return error
  const where = file === undefined ? '' : ` ${file}`
  const [message, hint] = REASONS[error.code] ??
    REASONS[error.code.split('_').slice(0, 2).join('_')] ?? [
      `The database${where} refused: ${error.message}.`,
      'Run `indicator-sync doctor` to see the state of the file.',
    ]
  const ErrorClass = isBusy(error) ? BusyError : StoreError
  return new ErrorClass(message.replace('{}', where), { hint, code: error.code.toLowerCase(), cause: error })
}

/** The same operations on a file, with errors that are ours however they come: at once, with a promise, or while rows are read. */
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
  const turned =
    (operation: (...given: unknown[]) => unknown) =>
    (...given: unknown[]): unknown => {
      try {
        const result = operation(...given)
        if (result instanceof Promise) return result.catch(rethrow)
        const isRead = typeof result === 'object' && result !== null && Symbol.asyncIterator in result
        return isRead ? read(result as AsyncIterable<unknown>) : result
      } catch (error) {
        return rethrow(error)
      }
    }
  return Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, turned(operation)])) as T
}
