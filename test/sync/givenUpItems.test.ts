import { expect, test } from 'vitest'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { isUnknownInRun } from '../../src/sync/givenUpItems.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { jobOf, ms, runJob, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const BREAKER = { failures: 4, pauseMs: 1, openings: 3, giveUpMs: 60_000 }
const YAML = 'name: test\nseries: [{ indicators: [5, 6, 7], window: { from: 2025-10-01, to: 2025-10-11 }, chunk: 1d }]'

test('a run gives up an unknown and a broken indicator, and its records tell workers only of the unknown one', async () => {
  const service = await startHourlyService({
    status(path) {
      if (path.endsWith('/6')) return 404
      return path.endsWith('/7') ? 500 : undefined
    },
  })
  const store = await tempStore()
  await runJob(store, service, YAML, { now: NOW, breaker: BREAKER })
  const count = (id: number) => store.get(`select count(*) from _fetch where target like '/indicators/${id}?%'`)
  expect([count(5), count(6)]).toEqual([10, 1])
  // The service counts as broken for an item after several failures in a row.
  expect(count(7)).toBeLessThan(10)
  const planned = planJob({
    job: jobOf(YAML, SERVICES.generic),
    service: SERVICES.generic,
    plannerState: EMPTY_STATE,
    now: NOW / 1000,
    options: {},
  })
  const runId = Number(store.get('select max(id) from _run'))
  const unknown = new Map<number, boolean[]>()
  for (const request of planned) {
    const id = request.series!.indicatorId
    const answers = [await isUnknownInRun(store, runId, request), await isUnknownInRun(store, runId + 1, request)]
    unknown.set(id, answers)
  }
  expect([...unknown]).toEqual([
    [5, [false, false]],
    [6, [true, false]],
    [7, [false, false]],
  ])
})
