import { existsSync } from 'node:fs'
import { isAddress } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import { openReader, readSchemaState } from '../../db/open.ts'
import { useStoredZones } from '../../db/queries/referenceTables.ts'
import type { Reader, Store } from '../../db/store.ts'

/** Returns true if a database exists. */
export const databaseExists = async (name: string): Promise<boolean> =>
  isAddress(name) ? (await readSchemaState(name)).exists : existsSync(name)

/**
 * Opens a database for reading, passes it to a function, and closes it. The function uses the clock changes that are
 * stored: computing those of a zone takes longer than most questions.
 */
export async function withReader<T>(name: string, read: (reader: Reader) => T | Promise<T>): Promise<T> {
  const reader = openReader(name)
  try {
    await useStoredZones(reader)
    return await read(reader)
  } finally {
    await reader.close()
  }
}

/** Opens a database as its only writer, passes it to a function, and closes it. `command` names this process to others. */
export async function withWriter<T>(name: string, command: string, write: (store: Store) => Promise<T>): Promise<T> {
  const store = await openWriter(name, command)
  try {
    return await write(store)
  } finally {
    await store.close()
  }
}
