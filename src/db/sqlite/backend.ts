import { rmSync, statSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import type { Backend, Reader } from '../store.ts'
import { isPublishedCopy } from './copies.ts'
import { isLocked, openLocked, takeLockFile } from './lock.ts'
import { openReader, openStore } from './open.ts'
import { schemaState } from './schema.ts'

/** The state of a database and its log in the file system. It changes if either is written or replaced. */
const readStamp = ({ file }: Reader): string =>
  [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`)
    .join(' ')

/** Files beside a database. SQLite would use leftovers for the next file of that name. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const

function removeDatabase(file: string): void {
  for (const end of ['', ...COMPANIONS]) rmSync(`${file}${end}`, { force: true })
}

/** SQLite: a database is a file. */
export const sqlite: Backend = {
  openReader,
  openStore,
  openLocked,
  takeLockFile,
  isLocked,
  schemaState,
  takeOver: () =>
    Promise.reject(
      new StoreError('`migrate --from` can only copy into PostgreSQL.', {
        hint: 'To copy into a file, use `indicator-sync publish --bookkeeping`. To copy into a server, name postgres://… with --database.',
        code: 'only-servers',
      }),
    ),
  remove: removeDatabase,
  isPublishedCopy,
  readStamp,
}
