import { statSync } from 'node:fs'
import { StoreError } from '../../../util/errors.ts'

/** Watches that a path still leads to the file that was opened under it. */
export interface Watch {
  /** Throws StoreError when the file, or its write-ahead log, was deleted, renamed or replaced since it was opened. */
  check(): void
  /** Whether the path leads elsewhere now. */
  moved(): boolean
}

/** Which file a path leads to: its device and its number there. */
function fileIdentity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}

/** Watches a database from now on; its log from when it is first there. A database in memory has nothing to watch. */
export function watchFile(file: string): Watch {
  if (file === '' || file === ':memory:') return { check: () => undefined, moved: () => false }
  const log = `${file}-wal`
  const ours = fileIdentity(file)
  // Known from the first transaction on: only then is it certain that SQLite has the log open.
  let ourLog: string | undefined
  const gone = (what: string, code: string): StoreError =>
    new StoreError(`${what} while this command was writing to it; nothing has been written since.`, {
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
    moved: () => fileIdentity(file) !== ours,
  }
}
