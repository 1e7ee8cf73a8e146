import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { BusyError, StoreError } from '../../util/errors.ts'
import { isRunning } from '../../util/host.ts'
import { createLockedError, type LockHolder, readHolder } from '../holder.ts'
import type { InternalStoreOptions, Store } from '../store.ts'
import { retryWhileBusy } from './busy.ts'
import { LinkedLockError, lockExclusively, makeDatabaseFolder } from './connection.ts'
import { refuseForeignJournal, refuseForeignLog } from './file/foreignFiles.ts'
import { refuseOtherNames, requireOneName } from './file/otherNames.ts'
import { openReader, openStore } from './open.ts'
import { readSchemaState } from './schema.ts'
import { asStoreError, isBusy } from './storeErrors.ts'

/** Milliseconds. Two processes that lock at the same time can block each other, so each retries for this long. */
const RETRY_MS = 100

/** Resolves links, also of a missing file, so that a database has one lock under all its names. */
function resolvePath(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    return resolvePath(resolve(dirname(file), readlinkSync(file)))
  return join(realpathSync(dirname(file)), basename(file))
}

/**
 * The lock file of the writer of a database. It stays empty and is never deleted: a second file of that name would be a second lock.
 */
const lockFileName = (file: string): string => `${resolvePath(file)}.lock`

/** Whether a process has the writer's lock of a database; undefined if unknown. */
export function isLocked(file: string): boolean | undefined {
  try {
    const lock = lockFileName(file)
    if (!existsSync(lock)) return false
    lockExclusively(lock)()
    return false
  } catch (error) {
    return isBusy(error) ? true : undefined
  }
}

/** Reads the holder of a database; undefined before it has recorded itself. */
async function findHolder(file: string): Promise<LockHolder | undefined> {
  try {
    const reader = openReader(file)
    const holder = await readHolder(reader.kysely).finally(reader.close)
    // A killed process leaves its record. Processes of other machines count as alive.
    return holder?.host === hostname() && !isRunning(holder.pid) ? undefined : holder
  } catch {
    // The database is not created or migrated yet.
    return undefined
  }
}

const isInMemory = (file: string): boolean => file === ':memory:'

/** Acquires the lock of a file, which may be missing, and returns how to release it. Throws BusyError, naming the holder. */
async function lockFile(file: string, now: number): Promise<() => void> {
  if (isInMemory(file)) return () => undefined
  const release = await lockPath(file)
  try {
    refuseOtherNames(resolvePath(file), now)
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** Locks a file that serves only as a lock, until it is released or the process ends. Throws BusyError if another process has it. */
export function takeLockFile(file: string): () => void {
  try {
    return lockExclusively(file)
  } catch (error) {
    if (isBusy(error)) throw new BusyError(`Another process has locked ${file}.`, { code: 'locked', cause: error })
    throw asStoreError(error, file)
  }
}

async function lockPath(file: string): Promise<() => void> {
  let lock: string
  try {
    lock = lockFileName(file)
    return await retryWhileBusy(() => lockExclusively(lock), { busyTimeoutMs: RETRY_MS })
  } catch (error) {
    if (!isBusy(error)) {
      const refusal = asStoreError(error) as Error
      throw new StoreError(`${file} cannot be locked: ${refusal.message}`, {
        hint:
          refusal instanceof LinkedLockError
            ? `Remove ${file}.lock: it must be a regular file, not a link.`
            : `Check that this user can write ${file}.lock and its folder, and that the file system supports locks.`,
        code: 'no-lock',
        cause: error,
      })
    }
    throw createLockedError(file, await findHolder(file))
  }
}

/** Acquires the writer's lock, then opens, creates or migrates the file. */
export async function openLocked(
  file: string,
  options: InternalStoreOptions,
): Promise<{ readonly store: Store; readonly release: () => void }> {
  if (!isInMemory(file)) {
    makeDatabaseFolder(file)
    // Another program's file is refused before a lock is put beside it.
    if (existsSync(file)) {
      const real = resolvePath(file)
      refuseOtherNames(real, Date.now())
      refuseForeignJournal(real)
      await requireOneName(real)
      readSchemaState(file)
    }
  }
  const release = await lockFile(file, Date.now())
  try {
    if (!isInMemory(file)) refuseForeignLog(resolvePath(file))
    return { store: await openStore(file, options), release }
  } catch (error) {
    release()
    throw error
  }
}
