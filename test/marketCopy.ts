import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Done, runCommand, tempFolder } from './kit.ts'
import { fillMarket } from './market.ts'
import { copyPrepared } from './prepared.ts'
import type { Store } from './store.ts'

/** Copies the demo database of the documentation into a file. */
export const copyMarket = (file: string): Promise<Store> => copyPrepared('market', file, fillMarket)

/** Provides the demo database for all tests of a file that only read it, and commands on it. */
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
    /** Runs a command on it like a user. */
    run: (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Done> =>
      runCommand(tempFolder(), args, { INDICATOR_SYNC_DATABASE: store.file, ...env }),
  }
}
