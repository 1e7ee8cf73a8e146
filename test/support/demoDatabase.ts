import { readFileSync } from 'node:fs'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import { sync } from '../../src/sync/sync.ts'
import { openStore, type Store } from './testStore.ts'

/** The nights of the demo database in the documentation. */
export const NIGHTS = ['2025-11-03T12:00:00Z', '2025-11-04T12:00:00Z'] as const

/** Fills a database like two nights of `jobs/demo.yaml`, always with the same values for the documentation. */
export async function fillDemo(file: string): Promise<Store> {
  const store = await openStore(file)
  for (const night of NIGHTS) {
    const now = Date.parse(night)
    const emulator = await startEmulator({ now: now / 1000 })
    try {
      const summary = await sync(
        {
          store,
          service: SERVICES.generic,
          baseUrl: emulator.url,
          key: emulator.key,
          nowMs: () => now,
          signal: new AbortController().signal,
        },
        { job: readJob(readFileSync('jobs/demo.yaml', 'utf8'), 'jobs/demo.yaml'), command: 'sync' },
      )
      if (summary.outcome !== 'done') throw new Error(`${summary.outcome}: ${summary.failures[0]?.error.message}`)
    } finally {
      await emulator.close()
    }
  }
  return store
}
