import { rmSync } from 'node:fs'
import { isAddress } from './address.ts'
import type { Awaitable } from './engine.ts'
import { postgres } from './postgres/backend.ts'
import { sqlite } from './sqlite/backend.ts'
import type { Backend, InternalStoreOptions, Reader, SchemaState, Store } from './store.ts'

export { isPublishedCopy } from './sqlite/copies.ts'
export { takeLockFile } from './sqlite/lock.ts'

/** The backend of a database: a server for an address, a file for a path. */
export const selectBackend = (name: string): Backend => (isAddress(name) ? postgres : sqlite)

/**
 * Opens a database for reading. Refuses one that is missing, newer, older, or of another program.
 */
export const openReader = (file: string): Reader => selectBackend(file).openReader(file)

/** Opens a database for writing. Creates or migrates it if necessary. Refuses one that is newer or of another program. */
export const openStore = (file: string, options: InternalStoreOptions = {}): Promise<Store> =>
  selectBackend(file).openStore(file, options)

/** The schema of a database, and the supported migrations. */
export const readSchemaState = (file: string): Awaitable<SchemaState> => selectBackend(file).readSchemaState(file)

/** Copies every table of an open database into one that is empty or an unfinished copy. */
export const takeOver = (source: Reader, file: string, onProgress: (table: string, rows: number) => void) =>
  selectBackend(file).takeOver(source, file, onProgress)

/** Removes a file that nobody has open. SQLite would use leftovers beside it for the next file of that name. */
export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${end}`, { force: true })
}

/** A text that changes with every write to a database. */
export const readStamp = (reader: Reader): Awaitable<string> => selectBackend(reader.file).readStamp(reader)
