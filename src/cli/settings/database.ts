import { existsSync } from 'node:fs'
import { placeOf } from '../../db/address.ts'

/** Whether there is a database to be read under a name. */
export const isThere = async (name: string): Promise<boolean> =>
  placeOf(name).folder === null ? (await (await import('../../db/open.ts')).schemaState(name)).exists : existsSync(name)
