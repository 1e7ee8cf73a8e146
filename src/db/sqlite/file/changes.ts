import { statSync } from 'node:fs'
import type { Reader } from '../../store.ts'

/** What the file system says of a database and its log: another text whenever something was written, or another file put in its place. */
export const stampOf = ({ file }: Reader): string =>
  [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`)
    .join(' ')
