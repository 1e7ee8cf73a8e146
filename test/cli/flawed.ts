import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

/** The time of the sync: all data is settled. */
const NOW = '2025-11-04T12:00:00Z'
const JOB = `name: flawed
series: [{ indicators: [5], window: { from: 2025-09-24, to: 2025-10-04 }, chunk: 1d, lookback: 2d, refresh: 1h }]
`
const LOST = ms('2025-10-01T10:00:00Z') / 1000
const SPOILED = ms('2025-10-02T10:00:00Z') / 1000
const FAILING = ms('2025-10-02T22:00:00Z') / 1000

/** Creates a database of ten days of hours, the last three with an absent value, an unreadable value and a failed request. */
export async function flawedStore(): Promise<{ readonly store: Store; readonly heal: () => Promise<void> }> {
  const store = await tempStore()
  const service = await startHourlyService({
    has: (at) => at !== LOST,
    spoiled: (at) => at === SPOILED,
    status: (_path, { from }) => (from === FAILING ? 404 : undefined),
  })
  await service.run(store, JOB, NOW)
  return {
    store,
    /** Fetches everything again from a service without flaws. */
    async heal() {
      Object.assign(service.state, { has: () => true, spoiled: () => false, status: () => undefined })
      await service.run(store, JOB, ms(NOW) + 3_600_000, { restate: true })
    },
  }
}
