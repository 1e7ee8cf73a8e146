import { statSync } from 'node:fs'
import { StoreError } from '../../../util/errors.ts'

/** Watches that a path is still that of the opened file. */
export interface Watch {
  /** Throws StoreError if the file or its write-ahead log was deleted, renamed or replaced. */
  check(): void
  /** Whether the file was deleted, renamed or replaced. */
  hasMoved(): boolean
}

/** The device and inode of a path. */
function fileIdentity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}

/** Watches a database, and its log from the first transaction. A database in memory has nothing to watch. */
export function watchFile(file: string): Watch {
  if (file === '' || file === ':memory:') return { check: () => undefined, hasMoved: () => false }
  const log = `${file}-wal`
  const ours = fileIdentity(file)
  // Set in the first transaction, in which SQLite certainly has the log open.
  let ourLog: string | undefined
  const gone = (event: string, code: string): StoreError =>
    new StoreError(`${event} while this command was writing to it; nothing has been written since.`, {
      hint: 'Restore the file, then run the command again. It continues where this one stopped.',
      code,
    })
  return {
    check() {
      const now = fileIdentity(file)
      if (now === undefined) throw gone(`The database ${file} was deleted or renamed`, 'file-gone')
      if (now !== ours) throw gone(`Another file replaced the database ${file}`, 'file-replaced')
      const logNow = fileIdentity(log)
      ourLog ??= logNow
      if (logNow === ourLog) return
      throw logNow === undefined
        ? gone(`The write-ahead log of the database ${file} was deleted`, 'log-gone')
        : gone(`Another file replaced the write-ahead log of the database ${file}`, 'log-replaced')
    },
    hasMoved: () => fileIdentity(file) !== ours,
  }
}
