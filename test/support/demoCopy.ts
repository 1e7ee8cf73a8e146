import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { fillDemo } from './demoDatabase.ts'
import { type Done, runCommand, tempFolder } from './kit.ts'
import { copyPrepared } from './preparedDatabase.ts'
import type { Store } from './testStore.ts'

/** Copies the demo database of the documentation into a file. */
export const copyDemo = (file: string): Promise<Store> => copyPrepared('market', file, fillDemo)

/** Provides the demo database for all tests of a file that only read it, and commands on it. */
export function onDemo() {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  let store: Store
  beforeAll(async () => {
    store = await copyDemo(join(folder, 'market.db'))
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
