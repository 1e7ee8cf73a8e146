import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { ON_SERVER } from './onServer.ts'
import { openStore, type Store } from './store.ts'

/** Opens a copy of a database with fixed contents, which the first test of a run creates. */
export async function copyPrepared(name: string, file: string, fill: (file: string) => Promise<Store>): Promise<Store> {
  const shared = inject('sharedFolder')
  if (ON_SERVER || shared === undefined) return fill(file)
  const made = join(shared, `${name}.db`)
  if (!existsSync(made)) {
    const own = join(shared, `${name}-${process.pid}.db`)
    const store = await fill(own)
    store.tidy()
    await store.close()
    renameSync(own, made)
  }
  copyFileSync(made, file)
  return openStore(file)
}
