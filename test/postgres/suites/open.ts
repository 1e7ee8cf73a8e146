/*
 * Replaces src/db/open.ts while the suites run on PostgreSQL: the same functions, with paths of tests as databases of a
 * server.
 */
import { isAddress } from '../../../src/db/address.ts'
import * as real from '../../../src/db/open.ts'
import type { Backend, InternalStoreOptions, Reader, Store } from '../../../src/db/store.ts'
import { askAtOnce } from './atOnce.ts'
import { makeOnServer, onServer } from './names.ts'

export { isPublishedCopy, readStamp, removeDatabase, takeOver } from '../../../src/db/open.ts'

const synchronous = <R extends Reader>(reader: R): R =>
  isAddress(reader.file) ? { ...reader, ...askAtOnce(reader.file) } : reader

/** Temporary databases remain files, also those of a rebuild. */
async function named(file: string, options: InternalStoreOptions): Promise<string> {
  if (options.durability === 'none' || options.allowsCopies) return file
  const name = onServer(file)
  return name === file || !isAddress(name) ? name : makeOnServer(file)
}

export const openReader = (file: string): Reader => synchronous(real.openReader(onServer(file)))
export const openStore = async (file: string, options: InternalStoreOptions = {}): Promise<Store> =>
  synchronous(await real.openStore(await named(file, options), options))
export const schemaState = (file: string) => real.readSchemaState(onServer(file))
export const selectBackend = (name: string): Backend => {
  const backend = real.selectBackend(onServer(name))
  return {
    ...backend,
    async openLocked(file, options) {
      const { store, release } = await backend.openLocked(await named(file, options), options)
      return { store: synchronous(store), release }
    },
    isLocked: (file) => backend.isLocked(onServer(file)),
  }
}
