import { describe, expect, test } from 'vitest'
import { SERVICES } from '../../src/service/services.ts'
import { formatLocal } from '../../src/util/time/zone.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, ms, tempStore } from '../support/kit.ts'

const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const job = (from: string, to: string, more = '') =>
  `series: [{ indicators: [5], window: { from: ${from}, to: ${to} }, lookback: 1d, refresh: 1h${more} }]`
const gapsOf = async (store: Parameters<typeof gapsAtLastRun>[0]) =>
  (await gapsAtLastRun(store))
    // The end of a geo that has ended is late, which is not about its periods.
    .filter(({ reason }) => reason !== 'never requested' && reason !== 'late')
    .map(({ reason, geo_id, from, to }) => `${reason} ${geo_id} ${from.slice(5, 10)}..${to.slice(5, 10)}`)

describe('a known geo that is missing in a reply for all geos', () => {
  test('periods of a geo are missing only between its first and its last value', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const at = (text: string) => ms(text) / 1000
    const isBegun = (i: number) => i >= at('2025-03-01T00:00:00Z') && i < at('2025-03-08T00:00:00Z')
    service.state.has = (i, geo) => geo === 3 || isBegun(i)
    await service.run(store, job('2025-03-01', '2025-03-10'), night(0))
    await service.run(store, job('2025-02-01', '2025-02-05'), night(0))
    await service.run(store, job('2025-10-01', '2025-10-05'), night(0))
    expect(await gapsOf(store)).toEqual([])
    service.state.has = (i, geo) => geo === 3 || isBegun(i) || i >= at('2025-10-05T00:00:00Z')
    await service.run(store, job('2025-10-05', '2025-10-06'), night(0))
    expect(store.all('select geo_id, sum(missing) as missing from _absent group by 1')).toEqual([
      // Two days less an hour in March, four days and two hours in October.
      { geo_id: 4, missing: 47 + 98 },
    ])
    expect(store.get('select min(from_at) from _absent')).toBe(at('2025-03-08T00:00:00Z'))
    expect(store.get('select max(to_at) from _absent')).toBe(at('2025-10-05T00:00:00Z'))
  })

  test('a geo that has ended causes only few calls and rows over many nights, and misses them when it returns', async () => {
    const store = await tempStore()
    const service = await startHourlyService({ geos: [3, 4] })
    const rolling = 'series: [{ indicators: [5], window: { from: 2025-10-20, to: +1d }, lookback: 1d, refresh: 1h }]'
    await service.run(store, rolling, night(0))
    const end = ms('2025-11-05T23:00:00Z') / 1000
    service.state.has = (i, geo) => geo === 3 || i < end
    let calls = 0
    for (let n = 1; n < 40; n++) calls += (await service.run(store, rolling, night(n))).length
    expect(calls).toBeLessThan(2 * 39)
    expect(store.get('select count(*) from _coverage')).toBeLessThan(16)
    expect(await gapsOf(store)).toEqual([])
    const back = ms('2025-12-13T23:00:00Z') / 1000
    service.state.has = (i, geo) => geo === 3 || i < end || i >= back
    await service.run(store, rolling, night(40))
    expect(store.all('select geo_id, from_at, to_at from _absent order by from_at').at(0)).toMatchObject({
      geo_id: 4,
      from_at: end,
    })
    expect(store.get('select sum(missing) from _absent')).toBe((back - end) / 3600)
  })
})

describe('stray rows and missing values', () => {
  const at = (text: string): number => ms(text) / 1000
  test.each([['10d'], ['1d']])('a stray row does not hide a missing value (chunk: %s)', async (chunk) => {
    const lost = at('2025-10-03T05:00:00Z')
    const strays = [at('2025-10-03T11:30:00Z'), at('2025-10-05T02:15:00Z')]
    const store = await tempStore()
    const service = await startHourlyService({ strays, has: (one) => one !== lost })
    await service.run(store, job('2025-10-01', '2025-10-10', `, chunk: ${chunk}`), night(0))
    expect(await gapsOf(store)).toEqual(['absent 3 10-03..10-03'])
    expect(store.all('select distinct step_s from observation')).toEqual([{ step_s: 3600 }])
  })

  test('a stray row at the end of a hole does not hide missing values in later replies', async () => {
    const gone = at('2025-10-06T04:00:00Z')
    const back = at('2025-10-06T15:00:00Z')
    const stray = at('2025-10-06T14:10:00Z')
    const has = (one: number): boolean => one < gone || one >= back || one === stray
    const store = await tempStore()
    const service = await startHourlyService({ strays: [stray], has })
    const date = (day: number) => `2025-10-${String(day).padStart(2, '0')}`
    for (const day of [6, 5, 7, 10, 9, 8, 13, 11, 12]) await service.run(store, job(date(day), date(day + 1)), night(0))
    expect(store.all('select from_at, to_at from _absent')).toEqual([{ from_at: gone, to_at: back }])
  })

  test.each([['10d'], ['1d']])(
    'a clock change by half an hour does not hide a missing value (chunk: %s)',
    async (chunk) => {
      const declared = { ...SERVICES.generic, timeZone: 'Australia/Lord_Howe' }
      const lost = at('2025-10-03T22:00:00+10:30')
      const halves = Array.from({ length: 46 * 48 }, (_, i) => at('2025-09-14T00:00:00+10:30') + i * 1800)
      const hours = halves.filter((half) => formatLocal(declared.timeZone, half).slice(14, 16) === '00')
      const service = await startHourlyService({ strays: hours, has: (one) => hours.includes(one) && one !== lost })
      const store = await tempStore()
      await service.run(store, job('2025-09-15', '2025-10-25', `, chunk: ${chunk}`), night(0), {}, declared)
      expect(await gapsOf(store)).toContain('absent 3 10-03..10-03')
      expect(store.all('select distinct step_s from observation')).toEqual([{ step_s: 3600 }])
    },
  )
})

describe('values off the local grid', () => {
  const half = (iso: string): number => ms(iso) / 1000
  const lost = [half('2025-10-03T00:30:00+02:00'), half('2025-10-05T09:30:00+02:00'), half('2025-10-07T23:30:00+02:00')]
  const strays = Array.from({ length: 9 * 24 }, (_, i) => half('2025-10-01T00:30:00+02:00') + i * 3600)
  const has = (one: number): boolean => strays.includes(one) && !lost.includes(one)
  const ABSENT =
    'select from_at, sum(to_at - from_at) as seconds, sum(missing) as missing from _absent group by from_at order by from_at'
  /** The last one is in the last half hour of a day, so that a window ends in the middle of its period. */
  const absent = lost.map((from_at) => ({ from_at, seconds: 3600, missing: 1 }))

  test.each([['10d'], ['1d']])(
    'values off the local grid are not absent at the edges of windows (chunk: %s)',
    async (chunk) => {
      const store = await tempStore()
      const service = await startHourlyService({ strays, has })
      await service.run(store, job('2025-10-01', '2025-10-10', `, chunk: ${chunk}`), night(0))
      expect(store.all(ABSENT)).toEqual(absent)
      expect((await gapsOf(store)).length).toBe(3)
    },
  )

  // Orders in which whole or half periods were absent before neighbouring replies arrived.
  test.each([
    [[4, 3, 9, 8, 1, 6, 5, 7, 2]],
    [[9, 8, 7, 6, 5, 4, 3, 2, 1]],
    [[2, 4, 6, 8, 1, 3, 5, 7, 9]],
    [[5, 1, 9, 3, 7, 2, 8, 4, 6]],
    [[8, 3, 1, 4, 2, 7, 9, 6, 5]],
  ])('values off the local grid are not absent for any order of days: %j', async (days) => {
    const store = await tempStore()
    const service = await startHourlyService({ strays, has })
    for (const day of days) {
      const [from, to] = [day, day + 1].map((date) => `2025-10-${String(date).padStart(2, '0')}`) as [string, string]
      await service.run(store, job(from, to, ', chunk: 1d'), night(0))
    }
    expect(store.all(ABSENT)).toEqual(absent)
  })
})
