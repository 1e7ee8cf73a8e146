import { statSync } from 'node:fs'
import type { Changes, Reader } from '../../store.ts'
import { type Connection, connect } from '../connection.ts'

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino

/** Watches a file that others write, or replace by another one. It reads nothing of it, so that it holds up no writer. */
export function watchChanges(file: string): Changes {
  let open: { readonly connection: Connection; readonly ino: number | undefined; version: unknown } | undefined
  const shut = (): void => {
    open?.connection.raw.close()
    open = undefined
  }
  const versionOf = ({ raw }: Connection): unknown => raw.pragma('data_version', { simple: true })
  function begin(): void {
    try {
      const ino = inodeOf(file)
      const connection = connect(file, { readonly: true })
      open = { connection, ino, version: versionOf(connection) }
    } catch {
      // Whoever requests a page is told what is wrong with it.
      open = undefined
    }
  }
  begin()
  return {
    changed() {
      if (!open || open.ino !== inodeOf(file)) {
        const before = open !== undefined
        shut()
        begin()
        return before || open !== undefined
      }
      try {
        const version = versionOf(open.connection)
        const changed = version !== open.version
        open.version = version
        return changed
      } catch {
        shut()
        return true
      }
    },
    close: shut,
  }
}

/** What the file system says of a database and its log: another text whenever something was written, or another file put in its place. */
export const stampOf = ({ file }: Reader): string =>
  [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`)
    .join(' ')
