import { join } from 'node:path'
import { openReader, openStore } from '../../src/db/open.ts'
import type { Reader, Store } from '../../src/db/store.ts'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/services/services.ts'
import { sync } from '../../src/sync.ts'

/** Nights at which the service was asked: what is known of a day is another thing after each. */
export const NIGHTS = [
  '2025-10-24T04:00:00Z',
  '2025-10-25T04:00:00Z',
  '2025-10-26T04:00:00Z',
  '2025-10-27T04:00:00Z',
  '2025-10-29T04:00:00Z',
] as const

/** A price by quarters, a forecast that is said anew every few hours, a demand every five minutes; over a day of 25 hours and one of 23. */
const JOB = `
name: nights
pace: { perSecond: 50, concurrency: 4 }
locales: [es, en]
catalogue: true
series:
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-10-20, to: +1d }, lookback: 3d }
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-03-28, to: 2025-04-01 } }
  - { indicators: [544, 1293], geoIds: [8741], window: { from: 2025-10-22, to: +2d }, lookback: 3d }
  - { indicators: [1293], geoIds: [8741], timeTrunc: hour, timeAgg: average, window: { from: 2025-10-22, to: +1d }, lookback: 3d }
`

/** Fills a database as some nights of a job do. */
export async function fillNights(file: string, nights: readonly string[] = NIGHTS, job = JOB): Promise<Store> {
  const store = await openStore(file)
  const emulator = await startEmulator({ now: Date.parse(nights[0]!) / 1000 })
  try {
    for (const night of nights) {
      emulator.setNow(Date.parse(night) / 1000)
      const { outcome, failures } = await sync(
        {
          store,
          service: SERVICES.generic,
          baseUrl: emulator.url,
          key: emulator.key,
          version: 'test',
          now: () => Date.parse(night),
          signal: new AbortController().signal,
        },
        readJob(job, 'nights.yaml'),
      )
      if (outcome !== 'done') throw new Error(`${outcome}: ${failures[0]?.error.message}`)
    }
  } finally {
    await emulator.close()
  }
  return store
}

/** The same, closed and folded, opened for reading. */
export async function nightsReader(folder: string): Promise<Reader> {
  const file = join(folder, 'nights.db')
  const store = await fillNights(file)
  store.tidy()
  await store.close()
  return openReader(file)
}
