import { StoreError } from '../../base/errors.ts'
import type { Backend } from '../store.ts'
import { copyState } from './copies.ts'
import { stampOf, watchChanges } from './file/changes.ts'
import { removeDatabase } from './file/remove.ts'
import { holdLock, isLocked, lockFile, openLocked } from './lock.ts'
import { openReader, openStore } from './open.ts'
import { schemaState } from './schema.ts'
import { asStoreError } from './storeErrors.ts'

/** SQLite: a database is a file. */
export const sqlite: Backend = {
  openReader,
  openStore,
  openLocked,
  lock: lockFile,
  hold: holdLock,
  isLocked,
  schemaState,
  takeOver: () =>
    Promise.reject(
      new StoreError('A database is copied into a file by copying its file.', {
        hint: 'Copy it with `indicator-sync publish --bookkeeping`, or name postgres://… with --database.',
        code: 'only-servers',
      }),
    ),
  remove: removeDatabase,
  copyState,
  watchChanges,
  stampOf,
  asStoreError,
}
