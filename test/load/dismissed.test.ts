import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { dismiss } from '../../src/load/quarantine/quarantine.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, json, ms, replayed, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const at = (text: string) => ms(text) / 1000
const FIXED = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d, refresh: 1h }]'
const ROLLING = 'series: [{ indicators: [5], window: { from: 2025-11-01, to: 2025-11-04 }, lookback: 9d, refresh: 1h }]'
const WRONG = at('2025-10-02T10:00:00Z')
const openIds = (store: Store) =>
  (store.all('select id from _quarantine where resolved_at is null') as { id: number }[]).map(({ id }) => id)

/** Returns the tables of a database and of its replay. */
async function bothTables(store: Store) {
  const tables = ['_coverage', '_absent', '_quarantine', 'observation', 'observation_revision', '_duty']
  return [store, await replayed(store, () => night(99))].map((one) =>
    Object.fromEntries(tables.map((table) => [table, one.all(`select * from ${table} order by 1, 2, 3`)])),
  ) as [object, object]
}

describe('dismissed quarantine entries', () => {
  test('the range of a dismissed entry is requested once more, passes the check, and survives a replay', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (instant) => instant === WRONG })
    for (const n of [0, 1, 3]) expect(await service.run(store, FIXED, night(n))).toHaveLength(1)
    expect(openIds(store)).toEqual([1, 2, 3])
    // Dismissing one of several identical entries dismisses all.
    expect(await dismiss(store, [2], 'a misprint', night(3) + 1000)).toEqual([1, 2, 3])
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'unverified' }])
    const nights = []
    for (let n = 4; n < 40; n++) if ((await service.run(store, FIXED, night(n))).length > 0) nights.push(n)
    expect(nights).toEqual([7])
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(await findFindings(store, night(40) / 1000)).toEqual([])
    const [before, after] = await bothTables(store)
    expect(after).toEqual(before)
  })

  test('a dismissed reject that recurs is not reported, but a new one is', async () => {
    const wrong = new Set([at('2025-11-02T10:00:00Z')])
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (instant) => wrong.has(instant) })
    await service.run(store, ROLLING, night(0))
    await dismiss(store, openIds(store), 'a misprint', night(0))
    const summary = await runJob(store, service, ROLLING, { now: night(1) })
    expect(summary).toMatchObject({ outcome: 'done', counts: { requests: 1, rows_rejected: 0 } })
    expect(store.all('select state from coverage')).toEqual([{ state: 'provisional' }])
    expect(await findFindings(store, night(1) / 1000)).toEqual([])
    wrong.add(at('2025-11-02T11:00:00Z'))
    expect(await runJob(store, service, ROLLING, { now: night(2) })).toMatchObject({
      outcome: 'partial',
      counts: { rows_rejected: 1 },
    })
    expect(openIds(store)).toHaveLength(1)
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'unverified' }])
    await dismiss(store, openIds(store), 'another one', night(2))
    expect(await findFindings(store, night(2) / 1000)).toMatchObject([{ kind: 'gap', cause: 'unverified' }])
    await service.run(store, ROLLING, night(3))
    expect(await findFindings(store, night(3) / 1000)).toEqual([])
    // Long settled, it is neither absent nor unverified.
    await runJob(store, service, ROLLING, { now: night(20), options: { restate: true } })
    expect(await findFindings(store, night(20) / 1000)).toEqual([])
    const [before, after] = await bothTables(store)
    expect(after).toEqual(before)
  })

  test('a dismissed entry of one reply does not accept another entry of a later reply', async () => {
    let wrong = WRONG
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (instant) => instant === wrong })
    await service.run(store, FIXED, night(0))
    wrong += 3600
    await service.run(store, FIXED, night(1))
    await dismiss(store, [1], 'a misprint', night(1))
    await service.run(store, FIXED, night(3))
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'unverified' }])
    await dismiss(store, [2], 'another', night(3))
    await service.run(store, FIXED, night(7))
    expect(await gapsAtLastRun(store)).toEqual([])
  })

  test('a dismissed entry also lets a run with --on-reject fail succeed', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (instant) => instant === WRONG })
    expect((await runJob(store, service, FIXED, { now: night(0), onReject: 'fail' })).failures).toHaveLength(1)
    await dismiss(store, openIds(store), 'a misprint', night(0))
    expect(await runJob(store, service, FIXED, { now: night(1), onReject: 'fail' })).toMatchObject({ outcome: 'done' })
    expect(await findFindings(store, night(1) / 1000)).toEqual([])
  })

  test('the window of an unparsable body remains open after its dismissal', async () => {
    const store = await tempStore()
    const server = await serve((_, response) => json(response, { indicator: { id: 5, values: 'none' } }))
    await runJob(store, server, FIXED, { now: night(0) })
    await dismiss(store, openIds(store), 'known', night(0))
    await runJob(store, server, FIXED, { now: night(1) })
    expect(openIds(store)).toEqual([])
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'failed' }])
  })
})
