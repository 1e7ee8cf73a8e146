import { join } from 'node:path'
import { type Running, startServer } from '../../src/page/start.ts'
import { NIGHTS, nightsReader } from './store.ts'

/** When the pages are looked at: some hours after the last night. */
export const NOW = Date.parse(NIGHTS.at(-1)!) / 1000 + 6 * 3_600

/** Serves a database to this machine; what went wrong in a page is thrown into the face of the test. */
export function serveFile(file: string, now = NOW): Promise<Running> {
  return startServer(
    {
      file,
      version: 'test',
      door: { names: [], token: null },
      now: () => now,
      command: (rest) => `indicator-sync ${rest}`,
      failed: (error) => {
        throw error
      },
    },
    { host: '127.0.0.1', port: 0 },
  )
}

/** Serves a database of some nights that is made in a folder. */
export async function serveNights(folder: string): Promise<Running & { readonly file: string }> {
  await (await nightsReader(folder)).close()
  const file = join(folder, 'nights.db')
  return { ...(await serveFile(file)), file }
}
