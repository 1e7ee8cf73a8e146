import type { Awaitable } from './engine.ts'
import { sqlite } from './sqlite/backend.ts'
import type { Backend, Changes, Reader, SchemaState, Store, StoreOptions } from './store.ts'

/** The kind of database that a name stands for: a path is a file of SQLite. The only place that knows which kinds there are. */
export const backendOf = (_name: string): Backend => sqlite

/** Opens a database for reading only; refused when it is absent, foreign, newer or not yet migrated. */
export const openReader = (file: string): Reader => backendOf(file).openReader(file)

/** Opens a database for writing: made when absent, migrated when older, refused when newer or foreign. */
export const openStore = (file: string, options: StoreOptions = {}): Promise<Store> =>
  backendOf(file).openStore(file, options)

/** The schema of a database, and the migrations that this program knows. */
export const schemaState = (file: string): Awaitable<SchemaState> => backendOf(file).schemaState(file)

/** Removes a database of our own making that nobody has open, with all that belongs to it. */
export const removeDatabase = (file: string): Awaitable<void> => backendOf(file).remove(file)

/** Whether a file is a copy that was published: `unmarked` where only its manifest can tell. */
export const copyState = (file: string): 'yes' | 'changed' | 'unmarked' | 'no' => backendOf(file).copyState(file)

/** Watches a database that others write, or replace by another one. */
export const watchChanges = (file: string): Changes => backendOf(file).watchChanges(file)

/** A text that is another one whenever something was written into a database. */
export const stampOf = (file: string): string => backendOf(file).stampOf(file)

/** An error of a database as one of ours; anything else as it is. */
export const asStoreError = (error: unknown, file = ''): unknown =>
  backendOf(file).asStoreError(error, file || undefined)
