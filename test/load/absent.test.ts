import { describe, expect, test } from 'vitest'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, tempStore } from '../support/kit.ts'

const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const at = (text: string) => ms(text) / 1000
const FIXED = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-11 }, lookback: 2d, refresh: 1h }]'
/** Other series whose periods leave a share for 14 days of the first one. */
const OTHERS =
  '\n  - { indicators: [101, 102, 103, 104, 105, 106], window: { last: 24d }, lookback: 60d, timeTrunc: hour, timeAgg: sum, refresh: 5m }'
const SHARED = `pace: { concurrency: 8 }\nseries:\n  - ${FIXED.slice(9, -1)}${OTHERS}`
/** The windows of the first series. */
const ofFirst = (windows: readonly string[]) => windows.filter((window) => window < '2025-10-10')
const within = (from: string, to: string) => (instant: number) => instant >= at(from) && instant < at(to)

describe('absent values', () => {
  test('absent values are retried after 1, 2, 4, 8 … days up to half a year, then only by restate', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const hole = within('2025-10-05T08:00:00Z', '2025-10-05T11:00:00Z')
    service.state.has = (instant) => !hole(instant)
    const nights: number[] = []
    const distances = new Set<string | null>()
    const dueDates = [127, 128, 190, 254, 255, 256, 300, 350, 399]
    for (const n of [...Array(21).keys(), ...dueDates]) {
      const requested = await service.run(store, FIXED, night(n))
      if (requested.length > 0) nights.push(n)
      for (const { next_at } of await gapsAtLastRun(store)) distances.add(next_at)
    }
    expect(nights).toEqual([0, 1, 3, 7, 15, 127, 255])
    expect(distances.has(null)).toBe(true)
    expect(await gapsAtLastRun(store)).toEqual([
      expect.objectContaining({
        reason: 'absent',
        geo_id: 3,
        missing: 3,
        step_s: 3600,
        next_at: null,
        from: '2025-10-05T10:00:00+02:00',
        to: '2025-10-05T13:00:00+02:00',
      }),
    ])
    service.state.has = () => true
    expect(await service.run(store, FIXED, night(420), { restate: true })).toHaveLength(1)
    expect(await gapsAtLastRun(store)).toEqual([])
  })

  test('absent values that arrive late are stored: a whole day, and hours of one geo', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const lostDay = within('2025-10-08T22:00:00Z', '2025-10-09T22:00:00Z')
    const lostHours = within('2025-10-03T08:00:00Z', '2025-10-03T11:00:00Z')
    service.state.has = (i, geo) => !lostDay(i) && !(geo === 4 && lostHours(i))
    expect(await service.run(store, FIXED, night(1))).toEqual(['2025-09-30T22..2025-10-10T22'])
    const day = { reason: 'absent', from: '2025-10-09T00:00:00+02:00', to: '2025-10-10T00:00:00+02:00', missing: 24 }
    expect(
      (await gapsAtLastRun(store)).sort((a, b) => a.geo_id - b.geo_id || a.from.localeCompare(b.from)),
    ).toMatchObject([
      { ...day, geo_id: 3 },
      { reason: 'absent', geo_id: 4, from: '2025-10-03T10:00:00+02:00', to: '2025-10-03T13:00:00+02:00', missing: 3 },
      { ...day, geo_id: 4 },
    ])
    service.state.has = () => true
    // A job that requests nothing else has one small request a day.
    for (const n of [2, 3, 4]) expect((await service.run(store, FIXED, night(n))).length).toBeLessThan(2)
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(store.get('select count(*) from observation')).toBe(480)
  })

  test('nothing is missing before seven whole days are known, nor before the first and after the last value', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [] })
    await service.run(store, FIXED, night(0))
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'no values', geo_id: 0, missing: null }])
    const from = at('2025-10-02T22:00:00Z')
    const to = at('2025-10-09T22:00:00Z')
    const hole = at('2025-10-05T10:00:00Z')
    Object.assign(service.state, { geos: [3], has: (i: number) => i >= from && i < to && i !== hole })
    await service.run(store, FIXED.replace('10-11', '10-09'), night(1), { restate: true })
    const absent = async () => (await gapsAtLastRun(store)).filter((gap) => gap.reason === 'absent')
    expect(await absent()).toEqual([])
    await service.run(store, FIXED, night(2), { restate: true })
    expect(await absent()).toMatchObject([{ from: '2025-10-05T12:00:00+02:00', missing: 1 }])
  })

  test('an empty reply about absent values of one geo continues their retry intervals', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    service.state.has = (instant) => !within('2025-10-02T22:00:00Z', '2025-10-03T22:00:00Z')(instant)
    const nights: number[] = []
    // The day is requested alone after the first reply, without result.
    for (let n = 0; n < 20; n++)
      if (
        (await service.run(store, n === 0 ? FIXED : FIXED.replace('refresh', 'chunk: 1d, refresh'), night(n))).length >
        0
      )
        nights.push(n)
    expect(nights).toEqual([0, 1, 3, 7, 15])
    expect(await gapsAtLastRun(store)).toMatchObject([{ reason: 'absent', missing: 24 }])
  })

  test('values absent for all geos have the same retry intervals for a single geo', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    service.state.has = (instant) => !within('2025-10-02T22:00:00Z', '2025-10-03T22:00:00Z')(instant)
    const job = (geos: string) => FIXED.replace('window', `${geos}window`).replace('refresh', 'chunk: 1d, refresh')
    await service.run(store, job(''), night(0))
    const nights: number[] = []
    for (let n = 1; n < 16; n++)
      if ((await service.run(store, job('geoIds: [3], '), night(n))).length > 0) nights.push(n)
    expect(nights).toEqual([1, 3, 7, 15])
  })

  test('absent values are requested again only by a job that selects them, and gaps shows this', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    service.state.has = (instant) => !within('2025-10-25T08:00:00Z', '2025-10-25T11:00:00Z')(instant)
    const job = (what: string) => `series: [{ ${what}, lookback: 2d, refresh: 1h }]`
    const next = async () => (await gapsAtLastRun(store)).map(({ geo_id, next_at }) => `${geo_id} ${next_at}`)
    const rolling = job('indicators: [5], window: { last: 14d }')
    await service.run(store, rolling, night(0))
    expect(await next()).toEqual(['3 2025-11-05T19:15:00Z', '4 2025-11-05T19:15:00Z'])
    for (let n = 1; n < 8; n++) await service.run(store, rolling, night(n))
    expect(await next()).toEqual(['3 2025-11-19T19:15:00Z', '4 2025-11-19T19:15:00Z'])
    // Another window of the same job with one geo.
    await service.run(
      store,
      job('indicators: [5], geoIds: [3], window: { from: 2025-10-25, to: 2025-10-27 }'),
      night(8),
    )
    expect(await next()).toEqual(['3 2025-11-19T19:15:00Z'])
    await service.run(store, job('indicators: [6], window: { last: 14d }'), night(9))
    expect(await next(), 'no job selects the series').toEqual([])
    await service.run(store, rolling, night(10))
    expect(await next()).toEqual(['3 null', '4 null'])
  })

  test.each([
    ['absent', '1h'],
    ['absent', '3d'],
    ['unverified', '1h'],
    ['unverified', '3d'],
  ] as const)('gaps of the reason %s with a refresh of %s show when a sync requests them', async (reason, refresh) => {
    const store = await tempStore()
    const service = await startHourlyService()
    const isBad = within('2025-10-05T08:00:00Z', '2025-10-05T11:00:00Z')
    Object.assign(service.state, reason === 'absent' ? { has: (i: number) => !isBad(i) } : { spoiled: isBad })
    const yaml = FIXED.replace('refresh: 1h', `refresh: ${refresh}`)
    await service.run(store, yaml, night(0))
    for (let n = 0; n < 4; n++) {
      const [gap] = await gapsAtLastRun(store)
      expect(gap?.reason).toBe(reason)
      expect(await service.run(store, yaml, ms(gap!.next_at!) - 1000)).toEqual([])
      expect(await service.run(store, yaml, ms(gap!.next_at!))).toHaveLength(1)
    }
  })

  test('absent values of neighbouring days are requested together, without other days, up to a change of resolution', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const lost = ['2025-10-01', '2025-10-02', '2025-10-03', '2025-10-05'].map((day) =>
      within(`${day}T08:00:00Z`, `${day}T11:00:00Z`),
    )
    service.state.has = (instant) => !lost.some((is) => is(instant))
    await service.run(store, SHARED, night(0))
    store.run(
      `insert into _resolution (series_id, from_at, step_s) values (1, unixepoch('2025-10-02T22:00:00Z'), 3600)`,
      [],
    )
    expect(ofFirst(await service.run(store, SHARED, night(1)))).toEqual([
      '2025-09-30T22..2025-10-02T22',
      '2025-10-02T22..2025-10-03T22',
      '2025-10-04T22..2025-10-05T22',
    ])
  })
})
