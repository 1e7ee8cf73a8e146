import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeAll } from '../../src/load/spans/recordSpans.ts'
import { acceptGaps } from '../../src/sync/acceptGaps.ts'
import { findForgettable, forgetJob } from '../../src/sync/forgetJob.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, lastRunTime, ms, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'
import type { Store } from '../support/testStore.ts'

const NIGHT = ms('2025-11-04T20:15:00Z')
const DAY_MS = 86_400_000
const spans = (store: Store) =>
  store.all('select * from _span order by series_id, reason, geo_id, from_at').map((row) => ({ ...(row as object) }))

/** Expects that the stored spans are those that a judgement of everything would write. */
async function expectJudged(store: Store): Promise<void> {
  const stored = spans(store)
  await judgeAll(store, lastRunTime(store) * 1000)
  expect(stored).toEqual(spans(store))
}

describe('stored spans', () => {
  test('every transaction leaves the spans that a judgement of everything would write', async () => {
    const day = fc.integer({ min: 1, max: 25 })
    const steps = fc.array(
      fc.record({
        from: day,
        days: fc.integer({ min: 1, max: 12 }),
        geos: fc.constantFrom('', ', geoIds: [3]', ', geoIds: [3, 9]'),
        lost: day,
        fails: fc.boolean(),
        restate: fc.boolean(),
      }),
      { minLength: 2, maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const store = await tempStore()
        const service = await startHourlyService({ geos: [3, 4] })
        for (const [n, { from, days, geos, lost, fails, restate }] of steps.entries()) {
          const gone = ms('2025-10-01T00:00:00Z') / 1000 + lost * 86_400
          service.state.has = (at) => at < gone || at >= gone + 7200
          service.state.status = (_path, window) => (fails && window.from < gone ? 400 : undefined)
          const two = (date: number) => `2025-10-${String(date).padStart(2, '0')}`
          const window = `{ from: ${two(from)}, to: ${two(Math.min(31, from + days))} }`
          const job = `series: [{ indicators: [5]${geos}, window: ${window}, chunk: 3d, lookback: 2d, refresh: 1h }]`
          await service.run(store, job, NIGHT + n * DAY_MS, { restate })
          await expectJudged(store)
        }
      }),
      { numRuns: cases(3) },
    )
  })

  test('forgetting a job and accepting a gap judge their series again', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const from = ms('2025-10-05T00:00:00Z') / 1000
    const to = ms('2025-10-06T00:00:00Z') / 1000
    service.state.has = (at) => at < from || at >= to
    await service.run(store, 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 } }]', NIGHT)
    expect(await gapsAtLastRun(store)).toHaveLength(2)
    const request = { indicatorId: 5, geoId: 3, from: () => from, to: () => to, note: 'known' }
    await acceptGaps(store, request, NIGHT)
    await expectJudged(store)
    await forgetJob(store, { job: await findForgettable(store, 'test', undefined), nowMs: NIGHT })
    await expectJudged(store)
    expect(store.all('select distinct job from _span')).toEqual([{ job: null }])
  })

  test('an id that the service refuses, then knows again, postpones and restores the request of every missing period', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const gone = ms('2025-10-05T00:00:00Z') / 1000
    service.state.has = (at) => at < gone || at >= gone + 7200
    const job =
      'series: [{ indicators: [5], window: { from: 2025-10-01, to: +1d }, lookback: 2d, chunk: 9d, refresh: 1h }]'
    await service.run(store, job, NIGHT)
    const missing = () => spans(store).find((span) => (span as { reason: string }).reason === 'absent') as object
    const before = missing()
    for (const [night, status] of [404, 404, undefined].entries()) {
      service.state.status = () => status
      await service.run(store, job, NIGHT + (night + 1) * DAY_MS, { restate: status === undefined })
      await expectJudged(store)
      if (status) expect(missing()).not.toEqual(before)
    }
  })

  test('a sync that changes nothing writes no spans', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const job = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d }]'
    await service.run(store, job, NIGHT)
    const before = spans(store)
    expect(await service.run(store, job, NIGHT + DAY_MS)).toEqual([])
    expect(spans(store)).toEqual(before)
  })

  test('a window that grows is missing a month after the last run, without any write', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3] })
    await service.run(
      store,
      'series: [{ indicators: [5], window: { from: 2025-10-20, to: +1d }, lookback: 2d }]',
      NIGHT,
    )
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(store.all(`select reason, from_local from gaps`)).toEqual([
      { reason: 'never requested', from_local: '2025-11-05T00:00:00+01:00' },
    ])
  })

  test.each([
    ['recorded in the future', 400 * DAY_MS, 31],
    ['recorded before the clock was set back', -1000, 10],
  ])('the usual lag ignores fetches %s', async (_name, shiftMs, newest) => {
    const store = await tempStore()
    const service = await startHourlyService()
    const nights = 40
    let now = NIGHT
    service.state.has = (at) => at < now / 1000
    for (let n = 0; n < nights; n++) {
      now = NIGHT + n * DAY_MS
      await service.run(store, 'series: [{ indicators: [5], window: { last: 1d }, lookback: 1d }]', now)
    }
    const lateFrom = async () => {
      await judgeAll(store, now)
      return store.get("select due_at from _span where reason = 'late'")
    }
    const before = await lateFrom()
    expect(before).not.toBeNull()
    for (const row of store.all('select id, finished_at from _fetch where id <= ?', [newest])) {
      const { id, finished_at } = row as { id: number; finished_at: string }
      const finishedMs = shiftMs > 0 ? Date.parse(finished_at) + shiftMs : now + shiftMs
      store.run('update _fetch set finished_at = ?, to_at = ? where id = ?', [
        new Date(finishedMs).toISOString(),
        Math.floor((finishedMs + DAY_MS) / 1000),
        id,
      ])
    }
    expect(await lateFrom()).toBe(before)
  })
})
