import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusyError, StoreError } from '../../util/errors.ts'
import { type LockHolder, lockedBy, readHolder } from '../holder.ts'
import type { Store, StoreOptions } from '../store.ts'
import { retryWhileBusy } from './busy.ts'
import { LinkedLockError, lockExclusively, makeRoom } from './connection.ts'
import { refuseForeignJournal, refuseForeignLog } from './file/foreignFiles.ts'
import { refuseOtherNames, requireOneName } from './file/otherNames.ts'
import { openReader, openStore } from './open.ts'
import { schemaState } from './schema.ts'
import { asStoreError, isBusy } from './storeErrors.ts'

/** Milliseconds. Two processes that try at the same moment can block each other: each tries again for this long. */
const MEETING_MS = 100
/** How long a new holder has for saying who it is, from when its tables are there; before, it has longer for making them. */
const INTRODUCTION_MS = 5_000
const MAKING_MS = 30_000

/** Resolves links, so that a database has one lock under all its names; also for a file that does not exist yet. */
function resolvePath(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    return resolvePath(resolve(dirname(file), readlinkSync(file)))
  return join(realpathSync(dirname(file)), basename(file))
}

/**
 * The file that the writer of a database locks. It stays empty and is never deleted: a second file of that name would be a second lock.
 */
const lockFileName = (file: string): string => `${resolvePath(file)}.lock`

/** Whether a process of this machine has ended; unknown, and so taken for alive, on another one. */
function isGone({ pid, host }: LockHolder): boolean {
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Whether somebody holds a database for writing; undefined when that cannot be found out. */
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

/** The holder of a database. It may be creating the database just now, and then says so a little later. */
async function findHolder(file: string): Promise<LockHolder | undefined> {
  const began = performance.now()
  let made: number | undefined
  const isPatient = (): boolean => {
    const now = performance.now()
    return made === undefined ? now - began < MAKING_MS : now - made < INTRODUCTION_MS
  }
  do {
    try {
      const reader = openReader(file)
      try {
        const holder = await readHolder(reader.kysely)
        if (holder && !isGone(holder)) return holder
        made ??= performance.now()
      } finally {
        await reader.close()
      }
    } catch {
      // It is not made, or not brought up to date yet.
    }
    if (isLocked(file) === false) return undefined
    await sleep(50)
  } while (isPatient())
  return undefined
}

/** A database that lives and ends with its connection: nobody else can have it. */
const isInMemory = (file: string): boolean => file === ':memory:'

/** Takes the lock of a file, which need not be there yet, and answers how to give it back. Throws BusyError, naming the holder. */
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

/** Takes a file that is only a lock; throws BusyError while another process has it. */
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
    return await retryWhileBusy(() => lockExclusively(lock), { busyTimeoutMs: MEETING_MS })
  } catch (error) {
    if (!isBusy(error)) {
      const refusal = asStoreError(error) as Error
      throw new StoreError(`${file} cannot be locked: ${refusal.message}`, {
        hint:
          refusal instanceof LinkedLockError
            ? `Remove ${file}.lock: it must be a regular file, not a link.`
            : `Check that this user can write ${file}.lock and its directory, and that the file system supports locks.`,
        code: 'no-lock',
        cause: error,
      })
    }
    throw lockedBy(file, await findHolder(file))
  }
}

/**
 * Opens a database whose lock was taken before anything of the file was made or migrated. The lock is to be given back after
 * the store is closed.
 */
export async function openLocked(
  file: string,
  options: StoreOptions,
): Promise<{ readonly store: Store; readonly release: () => void }> {
  if (!isInMemory(file)) {
    makeRoom(file)
    // Another program's file is refused before a lock is put beside it.
    if (existsSync(file)) {
      const real = resolvePath(file)
      refuseOtherNames(real, Date.now())
      refuseForeignJournal(real)
      await requireOneName(real)
      schemaState(file)
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
