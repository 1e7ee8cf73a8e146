import type { Awaitable } from './engine.ts'
import { addHolder } from './holder.ts'
import { selectBackend } from './open.ts'
import type { Store, StoreOptions } from './store.ts'

/** Whether a process has the writer's lock; undefined if that cannot be found out. */
export const isLocked = (file: string): Awaitable<boolean | undefined> => selectBackend(file).isLocked(file)

/**
 * Opens a database as its only writer, until it is closed. Acquires the lock before it creates or migrates the file. Throws
 * BusyError, naming the process that has the lock.
 */
export async function openWriter(file: string, command: string, options: StoreOptions = {}): Promise<Store> {
  const { store, release } = await selectBackend(file).openLocked(file, options)
  try {
    const leave = await addHolder(store, command)
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
