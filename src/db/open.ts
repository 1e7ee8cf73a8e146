import { isAddress } from './address.ts'
import type { Awaitable } from './engine.ts'
import { postgres } from './postgres/backend.ts'
import { sqlite } from './sqlite/backend.ts'
import type { Backend, Reader, SchemaState, Store, StoreOptions } from './store.ts'

/** The backend of a database, by its name: an address is one on a server, a path is a file. No other file names the backends. */
export const selectBackend = (name: string): Backend => (isAddress(name) ? postgres : sqlite)

/**
 * Opens a database for reading only. Refuses one that does not exist, is of another program, is newer, or is not migrated yet.
 */
export const openReader = (file: string): Reader => selectBackend(file).openReader(file)

/** Opens a database for writing: created if it does not exist, migrated if it is older. Refuses one that is newer or of another program. */
export const openStore = (file: string, options: StoreOptions = {}): Promise<Store> =>
  selectBackend(file).openStore(file, options)

/** The schema of a database, and the migrations that this program knows. */
export const schemaState = (file: string): Awaitable<SchemaState> => selectBackend(file).schemaState(file)

/** Copies every table of an open database into another one, which is empty or where that was begun. */
export const takeOver = (source: Reader, file: string, onProgress: (table: string, rows: number) => void) =>
  selectBackend(file).takeOver(source, file, onProgress)

/** Removes a database of ours that nobody has open, with all its files. */
export const removeDatabase = (file: string): Awaitable<void> => selectBackend(file).remove(file)

/** Whether a database is a copy that `publish` made and nothing has opened for writing since. */
export const isPublishedCopy = (file: string): boolean => selectBackend(file).isPublishedCopy(file)

/** A text that changes whenever something is written to a database. */
export const readStamp = (reader: Reader): Awaitable<string> => selectBackend(reader.file).readStamp(reader)
