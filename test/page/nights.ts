import { join } from 'node:path'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import type { ListeningServer } from '../../src/util/listen.ts'
import { ms, runJob } from '../support/kit.ts'
import { copyPrepared } from '../support/preparedDatabase.ts'
import { openReader, openStore, type Reader, type Store } from '../support/testStore.ts'
import { startPage } from './site.ts'

/** Nights of the fetches, after each of which the known values of a day differ. */
export const NIGHTS = [
  '2025-10-24T04:00:00Z',
  '2025-10-25T04:00:00Z',
  '2025-10-26T04:00:00Z',
  '2025-10-27T04:00:00Z',
  '2025-10-29T04:00:00Z',
] as const

/**
 * A quarter-hourly price, a forecast revised every few hours, and a five-minute demand, over days of 25 and 23 hours.
 */
const JOB = `
name: nights
locales: [es, en]
catalogue: true
series:
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-10-20, to: +1d }, lookback: 3d }
  - { indicators: [600], geoIds: [3, 1], window: { from: 2025-03-28, to: 2025-04-01 } }
  - { indicators: [544, 1293], geoIds: [8741], window: { from: 2025-10-22, to: +2d }, lookback: 3d }
  - { indicators: [1293], geoIds: [8741], timeTrunc: hour, timeAgg: average, window: { from: 2025-10-22, to: +1d }, lookback: 3d }
`

/** Fills a database like some nights of a job. */
export async function fillNights(file: string, nights: readonly string[] = NIGHTS): Promise<Store> {
  const store = await openStore(file)
  const emulator = await startEmulator({ now: ms(nights[0]!) / 1000 })
  try {
    for (const night of nights) {
      emulator.setNow(ms(night) / 1000)
      const { outcome, failures } = await runJob(store, emulator, JOB, { now: ms(night) })
      if (outcome !== 'done') throw new Error(`${outcome}: ${failures[0]?.error.message}`)
    }
  } finally {
    await emulator.close()
  }
  return store
}

/** Returns the file of a database of those nights, closed and checkpointed. */
async function nightsFile(folder: string): Promise<string> {
  const file = join(folder, 'nights.db')
  const store = await copyPrepared('nights', file, (own) => fillNights(own))
  await store.tidy()
  await store.close()
  return store.file
}

/** Opens such a database for reading. */
export const nightsReader = async (folder: string): Promise<Reader> => openReader(await nightsFile(folder))

/** Serves the page of such a database, some hours after the last night. */
export async function serveNights(folder: string): Promise<ListeningServer & { readonly file: string }> {
  const file = await nightsFile(folder)
  const now = ms(NIGHTS.at(-1)!) / 1000 + 6 * 3_600
  return { ...(await startPage(file, { now: () => now })), file }
}
