import { statSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import type { Backend, Reader } from '../store.ts'
import { isLocked, openLocked } from './lock.ts'
import { openReader, openStore } from './open.ts'
import { readSchemaState } from './schema.ts'

/** The state of a database and its log in the file system. It changes if either is written or replaced. */
const readStamp = ({ file }: Reader): string =>
  [file, `${file}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`)
    .join(' ')

/** SQLite: a database is a file. */
export const sqlite: Backend = {
  openReader,
  openStore,
  openLocked,
  isLocked,
  readSchemaState,
  takeOver: () =>
    Promise.reject(
      new StoreError('`migrate --from` can only copy into PostgreSQL.', {
        hint: 'To copy into a file, use `indicator-sync publish --bookkeeping`. To copy into a server, name postgres://… with --database.',
        code: 'only-servers',
      }),
    ),
  readStamp,
}
