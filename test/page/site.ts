import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import type { Site } from '../../src/page/server/site.ts'
import { type RunningServer, startServer } from '../../src/page/server/start.ts'
import { SERVICES } from '../../src/services/services.ts'
import { ms, runJob, tempFolder } from '../kit.ts'
import { openStore, type Store } from '../store.ts'

/** When the tests of the page take place. */
export const NOW = ms('2025-11-04T12:00:00Z')

const JOB = `catalogue: true
series:
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-10-01, to: +2d } }
  - { indicators: [1293], geoIds: [8741], window: { last: 3d } }
  - { indicators: [1293], geoIds: [8741], timeTrunc: hour, timeAgg: average, window: { last: 30d } }
offers: [{ indicators: [25], window: { last: 2d } }]
`

/** Fills a database with some series of the embedded service, and a failure. It is closed; its name is answered, which is an address on a server. */
async function fill(file: string, also: (store: Store) => unknown = () => undefined): Promise<string> {
  const store = await openStore(file)
  const emulator = await startEmulator({ now: NOW / 1000, faults: [{ route: 'offer_indicator', status: 400 }] })
  try {
    await runJob(store, emulator, JOB, { now: NOW })
    await also(store)
  } finally {
    await emulator.close()
    await store.close()
  }
  return store.file
}

/** A database of the test's own; `also` writes what no service would send. */
export const filledFile = (also: (store: Store) => unknown): Promise<string> =>
  fill(join(tempFolder(), 'page.db'), also)

const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-page-'))
let shared: Promise<string> | undefined

/** The same database for all tests of a file that only read it: making it takes most of their time. */
export function sharedFile(): Promise<string> {
  shared ??= fill(join(folder, 'page.db'))
  return shared
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A page on a database, of this process. Whatever goes wrong in it is thrown. */
export const startPage = (file: string, more: Partial<Site> = {}, host = '127.0.0.1'): Promise<RunningServer> =>
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
    { host, port: 0 },
  )

/** The same, until the test ends. */
export async function servePage(...asked: Parameters<typeof startPage>): Promise<RunningServer> {
  const running = await startPage(...asked)
  onTestFinished(() => running.close())
  return running
}
