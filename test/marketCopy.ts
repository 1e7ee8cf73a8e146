import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { type Done, runCommand, tempFolder } from './kit.ts'
import { fillMarket } from './market.ts'
import { ON_SERVER } from './onServer.ts'
import { openStore, type Store } from './store.ts'

/** The demo database that documentation speaks of, in a file of its own. The first test of a run makes it, the others copy it. */
export async function copyMarket(file: string): Promise<Store> {
  const shared = inject('sharedFolder')
  if (ON_SERVER || shared === undefined) return fillMarket(file)
  const made = join(shared, 'market.db')
  if (!existsSync(made)) {
    const own = join(shared, `market-${process.pid}.db`)
    const store = await fillMarket(own)
    store.tidy()
    await store.close()
    renameSync(own, made)
  }
  copyFileSync(made, file)
  return openStore(file)
}

/** The demo database for all tests of a file that only read it, and commands on it. */
export function onMarket() {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  let store: Store
  beforeAll(async () => {
    store = await copyMarket(join(folder, 'market.db'))
  })
  afterAll(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return {
    store: () => store,
    /** Runs a command on it, as a user does. */
    run: (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Done> =>
      runCommand(tempFolder(), args, { INDICATOR_SYNC_DATABASE: store.file, ...env }),
  }
}
