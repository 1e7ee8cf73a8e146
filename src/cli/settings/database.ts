import { existsSync } from 'node:fs'
import { isAddress } from '../../db/address.ts'

/** Whether there is a database to be read under a name. */
export const isThere = async (name: string): Promise<boolean> =>
  isAddress(name) ? (await (await import('../../db/open.ts')).schemaState(name)).exists : existsSync(name)
