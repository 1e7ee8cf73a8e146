import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { readOpenFailures } from '../../src/findings/readStatus.ts'
import { planRetry } from '../../src/plan/planRetry.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T20:15:00Z')
const DAY = 86_400_000
/** Each job has a name of its own, so that the selections of the others stay. */
const job = (geos: string, from: string, to: string) =>
  `name: of-${geos.replaceAll(/\W+/g, '-')}-${from}-${to}\nseries: [{ indicators: [5], ${geos ? `geoIds: [${geos}], ` : ''}window: { from: 2025-10-${from}, to: 2025-10-${to} }, refresh: 1h }]`
const retried = async (store: Store) =>
  [...planRetry({ service: SERVICES.generic, now: NOW / 1000 }, await readRetryRequests(store))].map(
    ({ window, params }) =>
      [
        new Date(window!.from * 1000).toISOString().slice(5, 10),
        new Date(window!.to * 1000).toISOString().slice(5, 10),
        params.geo_ids ?? 'all',
      ].join(' '),
  )

describe('open failures', () => {
  test('a failure remains open until all of its range is fetched, by any requests and geos', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    service.state.status = () => 400
    await service.run(store, job('3, 8741', '01', '11'), NOW)
    expect(await retried(store)).toEqual(['09-30 10-10 3,8741'])
    service.state.status = () => undefined
    await service.run(store, job('3', '01', '06'), NOW)
    expect(await retried(store)).toEqual(['10-05 10-10 3', '09-30 10-10 8741'])
    await service.run(store, job('8741', '01', '11'), NOW)
    expect(await retried(store)).toEqual(['10-05 10-10 3'])
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'failed', geo_id: 3 }])
    expect(await readOpenFailures(store)).toHaveLength(1)
    await service.run(store, job('', '05', '13'), NOW)
    expect(await retried(store)).toEqual([])
    expect(await readOpenFailures(store)).toEqual([])
    expect(await findFindings(store)).toEqual([])
  })

  test('a failure of a stored window remains open, and a retry requests nothing twice', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    await service.run(store, job('', '01', '11'), NOW)
    service.state.status = () => 400
    await service.run(store, job('3', '01', '06'), NOW, { restate: true })
    await service.run(store, job('3, 8741', '01', '11'), NOW, { restate: true })
    await service.run(store, job('', '04', '08'), NOW, { restate: true })
    expect((await retried(store)).sort()).toEqual(
      ['10-03 10-07 all', '09-30 10-03 3', '10-07 10-10 3,8741', '09-30 10-03 8741'].sort(),
    )
    expect(await gapsAtLastRun(store)).toEqual([])
  })

  test('a job of one geo does not request again what failed for all geos', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    service.state.status = () => 400
    const all = job('', '01', '11')
    await service.run(store, all, NOW)
    service.state.status = () => undefined
    await service.run(store, job('3', '01', '11'), NOW)
    const failed = { reason: 'failed', geo_id: 0, job: 'of--01-11' }
    expect(await gapsAtLastRun(store)).toMatchObject([failed])
    // Once no job selects all geos, their values are not missing.
    await service.run(store, all.replace('indicators: [5]', 'indicators: [5], geoIds: [3]'), NOW)
    expect([await gapsAtLastRun(store), await retried(store), await findFindings(store)]).toEqual([[], [], []])
  })

  test('an unknown indicator that was removed from its job is neither a failure nor a gap', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3] })
    service.state.status = (path) => (path.endsWith('/5') ? 404 : undefined)
    await service.run(store, job('', '01', '11'), NOW)
    expect([await readOpenFailures(store), await gapsAtLastRun(store)]).toMatchObject([
      [{}],
      [{ reason: 'failed', job: 'of--01-11' }],
    ])
    await service.run(store, job('', '01', '11').replace('[5]', '[6]'), NOW)
    expect([await readOpenFailures(store), await gapsAtLastRun(store), await retried(store)]).toEqual([[], [], []])
    expect(await findFindings(store)).toEqual([])
  })

  test('each geo has its own reason, and the requests at both ends are listed', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    service.state.status = (_path, { from, to }) =>
      from < ms('2025-10-02T00:00:00Z') / 1000 || to > ms('2025-10-09T23:00:00Z') / 1000 ? 400 : undefined
    await service.run(store, job('8741', '03', '05'), NOW)
    await service.run(store, job('3', '03', '05').replace('refresh', 'chunk: 1d, refresh'), NOW)
    await service.run(store, job('3', '01', '11').replace('refresh', 'chunk: 1d, refresh'), NOW)
    await service.run(store, job('8741', '08', '09'), NOW)
    const gaps = (await gapsAtLastRun(store)).map(
      ({ geo_id, from, to, reason }) => `${geo_id} ${from.slice(5, 10)} ${to.slice(5, 10)} ${reason}`,
    )
    expect(gaps).toEqual(['3 10-01 10-03 failed', '3 10-10 10-11 failed'])
    expect(
      store.all(
        `select geo_id || ' ' || substr(from_local, 6, 5) || ' ' || substr(to_local, 6, 5) || ' ' || reason as gap from gaps order by geo_id, from_at`,
      ),
    ).toEqual(gaps.map((gap) => ({ gap })))
  })
})

describe('the quarantine', () => {
  const spoiled = async () => {
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (at) => at === ms('2025-10-03T10:00:00Z') / 1000 })
    await service.run(store, job('', '01', '11'), NOW)
    expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(1)
    return { store, service }
  }
  test('a quarantine entry is closed when its window is fetched correctly, in any number of parts', async () => {
    const { store, service } = await spoiled()
    service.state.spoiled = () => false
    await service.run(store, job('', '01', '05'), NOW + DAY, { restate: true })
    expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(1)
    await service.run(store, job('', '05', '11'), NOW + DAY, { restate: true })
    expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(0)
    expect(await findFindings(store)).toEqual([])
  })

  test('a retry requests unverified data, but no complete data', async () => {
    const { store } = await spoiled()
    expect(await retried(store)).toEqual(['09-30 10-10 all'])
  })
})
