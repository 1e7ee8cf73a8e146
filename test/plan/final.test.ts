import { describe, expect, test } from 'vitest'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, runJob, tempStore } from '../support/kit.ts'

const NOON = '2025-11-04T12:00:00Z'
const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const job = (lookback: string, window = '{ from: 2025-10-01, to: +1d }', more = '') =>
  `series: [{ indicators: [5], window: ${window}, lookback: ${lookback}, refresh: 1h${more} }]`

describe('settled values and lookback', () => {
  test('a job with a longer lookback requests values that a shorter one considers settled', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const other = `name: other\n${job('10d')}`
    for (let n = 0; n < 12; n++) await service.run(store, job('1d'), night(n))
    // Every day was last fetched a little over a day after its end, except days settled on the first night.
    expect(await service.run(store, other, night(12))).toEqual(['2025-10-24T22..2025-11-16T23'])
    expect(await service.run(store, other, night(12) + 60_000)).toEqual([])
    expect(await service.run(store, job('1d'), night(12) + 60_000)).toEqual([])
  })

  test('a lookback that an edit lengthens applies only to data that is younger than it now', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    for (let n = 0; n < 12; n++) await service.run(store, job('1d'), night(n))
    expect(await service.run(store, job('10d'), night(12))).toEqual(['2025-11-05T23..2025-11-16T23'])
    expect(await service.run(store, job('1d'), night(12) + 60_000)).toEqual([])
    // Shortened and lengthened again.
    expect(await service.run(store, job('4d'), night(13))).toEqual(['2025-11-12T23..2025-11-17T23'])
  })

  test('a value fetched seconds ago is not requested again by a job with a longer lookback', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    for (let n = 0; n < 5; n++) await service.run(store, job('1d'), night(n))
    const other = (lookback: string) => `name: other\n${job(lookback)}`
    expect(await service.run(store, other('30d'), night(4) + 2_000)).toEqual(['2025-10-04T22..2025-11-05T23'])
    const two = `${job('1d')}\n  - { indicators: [5], window: { from: 2025-10-01, to: +1d }, lookback: 20d, refresh: 1h }`
    const fresh = await tempStore()
    await service.run(fresh, two.replace('[{', '\n  - {').replace('}]', '}'), night(0))
    expect(await service.run(fresh, other('20d'), night(0) + 2_000)).toEqual([])
  })

  test('coverage rows of many nights merge, and the view shows final values by the longest lookback', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    for (let n = 0; n < 20; n++) await service.run(store, job('2d'), night(n))
    expect(store.get('select count(*) from _coverage')).toBeLessThanOrEqual(4)
    expect(store.all('select from_local, to_local, state from coverage')).toEqual([
      { from_local: '2025-10-01T00:00:00+02:00', to_local: '2025-11-21T00:00:00+01:00', state: 'final' },
      { from_local: '2025-11-21T00:00:00+01:00', to_local: '2025-11-24T00:00:00+01:00', state: 'provisional' },
    ])
    expect(await gapsAtLastRun(store)).toEqual([])
  })
})

describe('old unverified data', () => {
  const FIXED = job('2d', '{ from: 2025-10-01, to: 2025-10-03 }')
  test('a rejected row is a gap, requested at doubling intervals, and closed by a valid reply', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ spoiled: (at) => at === ms('2025-10-02T10:00:00Z') / 1000 })
    const nights: number[] = []
    for (let n = 0; n < 40; n++) if ((await service.run(store, FIXED, night(n))).length > 0) nights.push(n)
    expect(nights).toEqual([0, 1, 3, 7, 15, 31])
    expect(await gapsAtLastRun(store)).toMatchObject([
      { reason: 'unverified', from: '2025-10-01T00:00:00+02:00', to: '2025-10-03T00:00:00+02:00' },
    ])
    service.state.spoiled = () => false
    expect(await service.run(store, FIXED, night(63))).toHaveLength(1)
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(await service.run(store, FIXED, night(200))).toEqual([])
  })

  test('a known geo that is missing in a reply for all geos remains unverified', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    await service.run(store, FIXED, NOON)
    service.state.geos = [3]
    await service.run(store, FIXED, night(1), { restate: true })
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'unverified', geo_id: 8741 }])
    expect(store.all('select geo_id, state from coverage order by 1')).toEqual([
      { geo_id: 3, state: 'final' },
      { geo_id: 8741, state: 'unverified' },
    ])
    expect(store.get('select count(*) from observation where geo_id = 8741')).toBe(48)
    service.state.geos = [3, 8741]
    const one = FIXED.replace('[5]', '[5], geoIds: [8741]')
    expect(await service.run(store, FIXED.replace('[5]', '[5], geoIds: [3]'), night(2))).toEqual([])
    expect(await service.run(store, one, night(2))).toEqual(['2025-09-30T22..2025-10-02T22 8741'])
    expect(await service.run(store, FIXED, night(3))).toEqual([])
    expect(await gapsAtLastRun(store)).toEqual([])
  })

  test('all geos are requested again if one is unverified', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 8741] })
    await service.run(store, FIXED, NOON)
    service.state.geos = [3]
    await service.run(store, FIXED, night(1), { restate: true })
    service.state.geos = [3, 8741]
    expect(await service.run(store, FIXED, night(2))).toEqual(['2025-09-30T22..2025-10-02T22'])
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(store.get('select count(*) from _coverage')).toBe(1)
  })
})

describe('repeated requests', () => {
  test('an unknown id is requested once per run, at growing intervals', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    service.state.status = (path) => (path === '/indicators/99' ? 404 : undefined)
    const yaml =
      'pace: { perSecond: 50, concurrency: 1 }\nseries: [{ indicators: [99, 5], window: { from: 2025-01-01, to: 2025-10-03 }, chunk: 1mo }]'
    const nights: number[] = []
    for (let n = 0; n < 20; n++) {
      await service.run(store, yaml, night(n))
      const calls = service.requested.filter(({ path }) => path === '/indicators/99').length
      expect(calls).toBeLessThanOrEqual(1)
      if (calls > 0) nights.push(n)
    }
    expect(nights).toEqual([0, 1, 3, 7, 15])
    const summary = await runJob(store, service, yaml, { now: night(20) })
    expect(summary).toMatchObject({ outcome: 'partial', skipped: [{ route: 'indicator', id: 99 }] })
    service.state.status = () => undefined
    expect((await service.run(store, yaml, night(21), { restate: true })).length).toBe(20)
    expect(await service.run(store, yaml, night(22))).toEqual([])
  })
})
