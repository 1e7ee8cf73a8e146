/* Databases of the sequences: each gets a new one with empty tables. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '../postgres/create.ts'
import { openStore } from '../support/testStore.ts'

/** Makes databases for sequences. */
export interface Databases {
  make(): Promise<{ readonly name: string; readonly remove: () => Promise<void> }>
  close(): Promise<void>
}

/** Creates the tables once, to copy them for each sequence. */
async function makeTables(name: string): Promise<void> {
  const store = await openStore(name)
  await store.tidy()
  await store.close()
}

/** Uses files in a folder that is deleted at the end. */
export async function onDisk(): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-model-'))
  const template = join(folder, 'empty.db')
  await makeTables(template)
  let made = 0
  return {
    async make() {
      const name = join(folder, `${++made}.db`)
      copyFileSync(template, name)
      const remove = async (): Promise<void> => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${name}${end}`, { force: true })
      }
      return { name, remove }
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Uses databases of a PostgreSQL server, given its superuser's address. */
export async function onServer(server: string): Promise<Databases> {
  const template = await createDatabase(server)
  await makeTables(template.url)
  return {
    async make() {
      const { url, drop } = await createDatabase(server, new URL(template.url).pathname.slice(1))
      return { name: url, remove: drop }
    },
    close: template.drop,
  }
}
