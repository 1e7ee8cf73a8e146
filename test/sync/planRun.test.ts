import { expect, test } from 'vitest'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { countRequests } from '../../src/sync/planRun.ts'

test('counting the plan stops at a million requests or on an abort signal', async () => {
  const controller = new AbortController()
  expect(
    await countRequests(
      Array.from({ length: 3 }, () => ({}) as PlannedRequest),
      controller.signal,
    ),
  ).toBe(3)
  function* endless() {
    for (;;) {
      taken++
      yield {} as PlannedRequest
    }
  }
  let taken = 0
  expect(await countRequests(endless(), controller.signal)).toBeNull()
  taken = 0
  setImmediate(() => controller.abort())
  expect(await countRequests(endless(), controller.signal)).toBeNull()
  expect(taken).toBeLessThan(100_000)
})
