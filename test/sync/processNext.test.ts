import { expect, test } from 'vitest'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { processNext } from '../../src/sync/processRequest.ts'
import { openRun } from '../../src/sync/record.ts'
import { formatUtc } from '../../src/util/time/instant.ts'
import { testClient } from '../fetch/testClient.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { jobOf, ms, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400
const YAML = 'name: test\nseries: [{ indicators: [600], window: { from: 2025-10-01, to: 2025-10-09 }, chunk: 4d }]'

/** Starts a run of two requests of four days each against a service, with what processes them. */
async function start(service: Awaited<ReturnType<typeof startHourlyService>>) {
  const store = await tempStore()
  const job = jobOf(YAML, SERVICES.generic)
  const run = await openRun({ store, nowMs: () => NOW }, { command: 'sync', job })
  const pending = [
    ...planJob({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW / 1000, options: {} }),
  ]
  return {
    pending,
    next: () => processNext(run, testClient(service.url), pending),
    /** The windows that are pending, by their local days. */
    windows: () => pending.map(({ window }) => `${day(window!.from)}-${day(window!.to)}`),
  }
}

/** The day of the month two hours after an instant: the local day of Madrid. */
const day = (at: number): string => formatUtc(at + 7200).slice(8, 10)

test('the parts of a request take its place, in order, until each is loaded', async () => {
  const service = await startHourlyService({ status: (_path, { from, to }) => (to - from > DAY ? 413 : undefined) })
  const { next, pending, windows } = await start(service)
  const outcomes: string[] = []
  const seen = [windows().join(' ')]
  while (pending.length > 0) {
    outcomes.push((await next()).kind)
    seen.push(windows().join(' '))
  }
  // Once the service has shown its limit, later requests are split before they are sent.
  expect(seen.slice(0, 4)).toEqual(['01-05 05-09', '01-03 03-05 05-09', '01-02 02-03 03-05 05-09', '02-03 03-05 05-09'])
  expect(outcomes.filter((kind) => kind === 'loaded')).toHaveLength(8)
  expect(new Set(outcomes)).toEqual(new Set(['split', 'loaded']))
})

test('a request that ends the run stays the next one, so that it can be processed again', async () => {
  const service = await startHourlyService({ status: () => 401 })
  const { next, windows } = await start(service)
  expect([(await next()).kind, windows()]).toEqual(['stopped', ['01-05', '05-09']])
  service.state.status = () => undefined
  expect([(await next()).kind, windows()]).toEqual(['loaded', ['05-09']])
})
