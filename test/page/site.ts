import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { type Site, startServer } from '../../src/page/pageServer.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { ListeningServer } from '../../src/util/listen.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { ms, runJob, tempFolder } from '../support/kit.ts'
import { copyPrepared, openNew } from '../support/preparedDatabase.ts'
import type { Store } from '../support/testStore.ts'

/** The time of the page tests. */
export const NOW = ms('2025-11-04T12:00:00Z')

const JOB = `catalogue: true
series:
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-10-01, to: +2d } }
  - { indicators: [1293], geoIds: [8741], window: { last: 3d } }
  - { indicators: [1293], geoIds: [8741], timeTrunc: hour, timeAgg: average, window: { last: 30d } }
offers: [{ indicators: [25], window: { last: 2d } }]
`

/** Fills a database with some series of the embedded service and a failure. */
async function fill(file: string): Promise<Store> {
  const store = await openNew(file)
  const emulator = await startEmulator({ now: NOW / 1000, faults: [{ route: 'offer_indicator', status: 400 }] })
  try {
    await runJob(store, emulator, JOB, { now: NOW })
  } finally {
    await emulator.close()
  }
  return store
}

/**
 * Creates such a database, closed; on a server its name is an address. `also` writes rows that no service would send.
 */
async function filledAs(file: string, also: (store: Store) => unknown = () => undefined): Promise<string> {
  const store = await copyPrepared('page', file, fill)
  await also(store)
  await store.close()
  return store.file
}

/** Creates such a database for one test. */
export const filledFile = (also?: (store: Store) => unknown): Promise<string> =>
  filledAs(join(tempFolder(), 'page.db'), also)

/** Deleted at the end of the run, because one process may run several test files. */
const folder = mkdtempSync(join(inject('sharedFolder') ?? tmpdir(), 'page-'))
let shared: Promise<string> | undefined

/** Returns a shared database for tests that only read it. */
export function sharedFile(): Promise<string> {
  shared ??= filledAs(join(folder, 'page.db'))
  return shared
}

/** A text that no page may return unescaped. */
export const HOSTILE = `"><script>globalThis.hacked=1</script><img src=x onerror="globalThis.hacked=1"><a href="javascript:globalThis.hacked=1" onfocus=globalThis.hacked=1 autofocus>\u202e\u0000'\`\${1}</title></textarea></script><!--`

/** Starts the page of a database in this process, and throws its errors. */
export const startPage = (
  file: string,
  more: Partial<Site> = {},
  host = '127.0.0.1',
  port = 0,
): Promise<ListeningServer> =>
  startServer(
    {
      file,
      version: 'test',
      service: SERVICES.generic,
      door: { names: [], token: null },
      now: () => NOW / 1000,
      command: (rest) => `npx indicator-sync ${rest}`,
      failed: (error) => {
        throw error
      },
      ...more,
    },
    { host, port },
  )

/** Serves the demo database for all tests of a file, in a folder of its own. */
export async function serveDemo(folder: string): Promise<ListeningServer> {
  const store = await copyDemo(join(folder, 'market.db'))
  await store.tidy()
  await store.close()
  return startPage(store.file)
}

/** Serves a database until the test ends. */
export async function servePage(...startArguments: Parameters<typeof startPage>): Promise<ListeningServer> {
  const running = await startPage(...startArguments)
  onTestFinished(() => running.close())
  return running
}
