import type { Awaitable } from './engine.ts'
import { addHolder } from './holder.ts'
import { selectBackend } from './open.ts'
import type { Store, StoreOptions } from './store.ts'

/** Whether somebody holds a database for writing; undefined when that cannot be found out. */
export const isLocked = (file: string): Awaitable<boolean | undefined> => selectBackend(file).isLocked(file)

/**
 * Locks a file that is only a lock for this process, until it is released or the process ends. Throws BusyError where another one
 * holds it.
 */
export const takeLockFile = (file: string): (() => void) => selectBackend(file).takeLockFile(file)

/**
 * Makes an open database the only one that writes to its file, and returns how to release that. Throws BusyError, naming the
 * holder, while another one has it.
 */
export async function lockWriter(
  store: Store,
  command: string,
  now: () => number = Date.now,
): Promise<() => Promise<void>> {
  const release = await selectBackend(store.address).lock(store.address, now())
  try {
    const leave = await addHolder(store, command, now)
    return async () => {
      await leave()
      await release()
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** A lock that several runs of one open database share, until the last of them has given it back. */
interface SharedLock {
  runs: number
  readonly unlock: Promise<() => Promise<void>>
  /** Ends when the lock is given back; null until that begins. */
  ending: Promise<void> | null
}

const sharedLocks = new WeakMap<Store, SharedLock>()

/** The same for a run of an open database that may have the lock already, or another run that began meanwhile. */
export async function lockForRun(store: Store, command: string, now: () => number): Promise<() => Promise<void>> {
  // A lock that is being given back is nobody's: it is taken anew.
  for (let last = sharedLocks.get(store); last?.ending; last = sharedLocks.get(store)) await last.ending
  if (store.fenced() && !sharedLocks.has(store)) return async () => undefined
  const entry = sharedLocks.get(store) ?? { runs: 0, unlock: lockWriter(store, command, now), ending: null }
  sharedLocks.set(store, entry)
  entry.runs++
  const leave = async (): Promise<void> => {
    if (--entry.runs > 0) return
    const ended = entry.unlock.then((unlock) => unlock()).finally(() => sharedLocks.delete(store))
    entry.ending = ended.catch(() => undefined)
    await ended
  }
  try {
    await entry.unlock
  } catch (error) {
    if (--entry.runs === 0) sharedLocks.delete(store)
    throw error
  }
  return leave
}

/**
 * Opens a database as its only writer. The lock is taken before the file is created or migrated, and released when the database
 * is closed.
 */
export async function openWriter(file: string, command: string, options: StoreOptions = {}): Promise<Store> {
  const { store, release } = await selectBackend(file).openLocked(file, options)
  try {
    const leave = await addHolder(store, command, Date.now)
    return {
      ...store,
      async close() {
        await leave()
        await store.close()
        await release()
      },
    }
  } catch (error) {
    await store.close()
    await release()
    throw error
  }
}
