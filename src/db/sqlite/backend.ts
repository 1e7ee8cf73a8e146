import { rmSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import type { Backend } from '../store.ts'
import { isPublishedCopy } from './copies.ts'
import { stampOf } from './file/changes.ts'
import { isLocked, lockFile, openLocked, takeLockFile } from './lock.ts'
import { openReader, openStore } from './open.ts'
import { schemaState } from './schema.ts'

/** Files that SQLite keeps beside a database; left behind, they would be taken for those of the next file of that name. */
const BESIDE = ['-wal', '-shm', '-journal'] as const

/** Removes a database of our own making that nobody has open, with all that belongs to it. */
function removeDatabase(file: string): void {
  for (const end of ['', ...BESIDE]) rmSync(`${file}${end}`, { force: true })
}

/** SQLite: a database is a file. */
export const sqlite: Backend = {
  openReader,
  openStore,
  openLocked,
  lock: lockFile,
  takeLockFile,
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
  isPublishedCopy,
  stampOf,
}
