import { describe, expect, test } from 'vitest'
import { startOfDate } from '../../src/util/time/zone.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, replayed, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'
import { oracleDays } from './dayOracle.ts'
import { loadReplies, type Sent, storeWithSeries } from './loads.ts'

/* A reply that lacks many stored final values of a day withdraws them only if a second one lacks them too (M6). */

const ZONE = 'Europe/Madrid'
const HOUR = 3600
const DAY = 86_400
const MONDAY = startOfDate(ZONE, '2025-06-02')!
const WEEK = { from: MONDAY, to: MONDAY + 10 * DAY }
const LATER = MONDAY + 40 * DAY

/** The hours of the geos 3 and 4, of ten days. */
const hours = (isLost: (day: number, hour: number, geo: number) => boolean = () => false, step = HOUR) =>
  [3, 4].flatMap((geo) =>
    Array.from({ length: (10 * DAY) / step }, (_, i) => ({ geo, at: MONDAY + i * step })).filter(
      ({ at }) => !isLost(Math.floor((at - MONDAY) / DAY), ((at - MONDAY) % DAY) / HOUR, geo),
    ),
  )
const full: Sent = { window: WEEK, values: hours(), fetchedAt: LATER }
/** Lacks four hours of the third day of geo 3. */
const thin = (wait: number, more: Partial<Sent> = {}): Sent => ({
  ...full,
  values: hours((day, hour, geo) => geo === 3 && day === 2 && hour >= 20),
  fetchedAt: LATER + wait,
  ...more,
})

const countValues = (store: Store) => store.get('select count(*) from observation')
const unverified = (store: Store) =>
  store.all(`select geo_id, from_at, to_at from _coverage where state = 'unverified' order by 1, 2`)
const withdrawals = (store: Store) =>
  store.all('select geo_id, from_at, fetch_id, confirmed_by from _withdrawal order by fetch_id, geo_id, from_at')
const missing = (store: Store) =>
  store.all('select geo_id, from_at, missing, reason from _absent order by geo_id, from_at')
const THIRD = { from: MONDAY + 2 * DAY, to: MONDAY + 3 * DAY }
const THIRD_UNVERIFIED = [{ geo_id: 3, from_at: THIRD.from, to_at: THIRD.to }]
const WITHDRAWN = [{ geo_id: 3, from_at: THIRD.to - 4 * HOUR, missing: 4, reason: 'withdrawn' }]

/** Loads replies and checks that the totals of days are those of the stored values. */
async function loaded(...replies: Sent[]) {
  const store = await storeWithSeries(ZONE)
  const counts = await loadReplies(store, ZONE, replies)
  expect(store.all('select * from _day order by series_id, geo_id, month, day')).toEqual(oracleDays(store, ZONE))
  return { store, withdrawn: counts.map(({ rows_withdrawn }) => rows_withdrawn) }
}

describe('a reply that lacks more than an eighth of the final values of a day', () => {
  test('a reply without an eighth of the final values withdraws none, and the day of the geo is unverified', async () => {
    const { store, withdrawn } = await loaded(full, thin(DAY))
    expect(withdrawn).toEqual([0, 0])
    expect(countValues(store)).toBe(480)
    expect(unverified(store)).toEqual(THIRD_UNVERIFIED)
    expect(withdrawals(store)).toEqual([{ geo_id: 3, from_at: THIRD.from, fetch_id: 2, confirmed_by: null }])
    expect(missing(store)).toEqual([])
  })

  test('the other days of such a reply are withdrawn, revised and summed as usual', async () => {
    const few = thin(DAY, {
      values: hours((day, hour, geo) => geo === 3 && ((day === 2 && hour >= 20) || (day === 5 && hour < 3))).map(
        (row) => (row.at === THIRD.from || row.at === MONDAY ? { ...row, value: 7 } : row),
      ),
    })
    const { store, withdrawn } = await loaded(full, few)
    expect(withdrawn).toEqual([0, 3])
    expect(countValues(store)).toBe(477)
    expect(unverified(store)).toEqual(THIRD_UNVERIFIED)
    expect(store.get('select sum(value) from observation')).toBe(477 + 4 * 6)
    expect(missing(store)).toEqual([{ geo_id: 3, from_at: MONDAY + 5 * DAY, missing: 3, reason: 'withdrawn' }])
  })

  test.each([
    ['less than twenty hours later', 0, 20 * HOUR - 1],
    ['twenty hours later', 4, 20 * HOUR],
    ['some days later', 4, 5 * DAY],
  ])('a second identical reply %s withdraws %i values', async (_when, count, wait) => {
    const { store, withdrawn } = await loaded(full, thin(DAY), thin(DAY + wait))
    expect(withdrawn).toEqual([0, 0, count])
    expect(countValues(store)).toBe(480 - count)
    expect(unverified(store)).toEqual(count === 0 ? THIRD_UNVERIFIED : [])
    expect(missing(store)).toEqual(count === 0 ? [] : WITHDRAWN)
    expect(withdrawals(store)).toEqual([
      { geo_id: 3, from_at: THIRD.from, fetch_id: 2, confirmed_by: count === 0 ? null : 3 },
    ])
  })

  test('the wait counts from the first reply, however many follow', async () => {
    const { withdrawn } = await loaded(full, thin(DAY), thin(DAY + 10 * HOUR), thin(DAY + 21 * HOUR))
    expect(withdrawn).toEqual([0, 0, 0, 4])
  })

  test('a reply with the values verifies the day, so that the next one without them is the first again', async () => {
    const back = { ...full, fetchedAt: LATER + 2 * DAY }
    const { store, withdrawn } = await loaded(full, thin(DAY), back, thin(3 * DAY))
    expect(withdrawn).toEqual([0, 0, 0, 0])
    expect(unverified(store)).toEqual(THIRD_UNVERIFIED)
    expect(withdrawals(store)).toEqual([{ geo_id: 3, from_at: THIRD.from, fetch_id: 4, confirmed_by: null }])
  })

  test('a second reply for that day and geo alone confirms the withdrawal', async () => {
    const values = thin(0).values.filter(({ geo, at }) => geo === 3 && at >= THIRD.from && at < THIRD.to)
    const { store, withdrawn } = await loaded(full, thin(DAY), thin(2 * DAY, { window: THIRD, geoIds: [3], values }))
    expect(withdrawn).toEqual([0, 0, 4])
    expect(missing(store)).toEqual(WITHDRAWN)
    expect(unverified(store)).toEqual([])
  })

  test('a restate withdraws at once', async () => {
    const { store, withdrawn } = await loaded(full, thin(DAY, { reason: 'restate' }))
    expect(withdrawn).toEqual([0, 4])
    expect(missing(store)).toEqual(WITHDRAWN)
    expect(unverified(store)).toEqual([])
  })

  test('values that may still be revised are withdrawn at once', async () => {
    const { withdrawn } = await loaded(full, thin(DAY, { settledBefore: THIRD.from }))
    expect(withdrawn).toEqual([0, 4])
  })

  test('each geo is verified on its own', async () => {
    const both = hours((day, hour) => day === 2 && hour >= 20)
    const { store, withdrawn } = await loaded(full, thin(DAY), thin(2 * DAY, { values: both }))
    // Geo 3 is confirmed, and geo 4 is unverified for the first time.
    expect(withdrawn).toEqual([0, 0, 4])
    expect(unverified(store)).toEqual([{ ...THIRD_UNVERIFIED[0], geo_id: 4 }])
    expect(missing(store)).toEqual(WITHDRAWN)
  })
})

describe('a series of days', () => {
  const daily = (lost: readonly number[], wait: number, more: Partial<Sent> = {}): Sent => ({
    ...full,
    step: DAY,
    values: hours((day, _, geo) => geo === 3 && lost.includes(day), DAY),
    fetchedAt: LATER + wait,
    ...more,
  })

  test('one lost day is withdrawn at once, and several only by a second reply', async () => {
    expect((await loaded(daily([], 0), daily([4], DAY))).withdrawn).toEqual([0, 1])
    const { store, withdrawn } = await loaded(daily([], 0), daily([4, 6], DAY))
    expect(withdrawn).toEqual([0, 0])
    expect(unverified(store)).toMatchObject([{ from_at: MONDAY + 4 * DAY }, { from_at: MONDAY + 6 * DAY }])
    expect((await loaded(daily([], 0), daily([4, 6], DAY), daily([4, 6], 2 * DAY))).withdrawn).toEqual([0, 0, 2])
  })

  test('smaller windows of the second request do not make it credible sooner', async () => {
    const one = (wait: number): Sent =>
      daily([], wait, {
        window: { from: MONDAY + 4 * DAY, to: MONDAY + 5 * DAY },
        values: [{ geo: 4, at: MONDAY + 4 * DAY }],
      })
    const two = (wait: number): Sent =>
      daily([4], wait, {
        window: { from: MONDAY + 4 * DAY, to: MONDAY + 6 * DAY },
        values: hours((day, _, geo) => day < 4 || day > 5 || (geo === 3 && day === 4), DAY),
      })
    expect((await loaded(daily([], 0), daily([4, 6], DAY), two(DAY + HOUR))).withdrawn).toEqual([0, 0, 0])
    expect((await loaded(daily([], 0), daily([4, 6], DAY), two(2 * DAY))).withdrawn).toEqual([0, 0, 1])
    // Without any value of the geo, a reply says nothing about it.
    expect((await loaded(daily([], 0), daily([4, 6], DAY), one(2 * DAY))).withdrawn).toEqual([0, 0, 0])
  })
})

test('a nightly job withdraws final values after two nights, and a replay makes the same rows', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY * 1000
  const job = 'series: [{ indicators: [5], window: { from: 2025-10-20, to: 2025-11-05 }, lookback: 2d, refresh: 1h }]'
  await service.run(store, job, night(0))
  const lost = ms('2025-11-03T10:00:00Z') / 1000
  service.state.has = (at, geo) => geo !== 3 || at < lost || at >= lost + 10 * HOUR
  await service.run(store, job, night(3))
  expect(unverified(store)).toMatchObject([{ geo_id: 3 }])
  expect(store.get('select sum(rows_withdrawn) from _fetch')).toBe(0)
  const tables = [
    '_withdrawal',
    '_coverage',
    '_absent',
    '_cadence',
    '_day',
    'series_geo',
    'observation',
    'observation_revision',
  ]
  const rowsOf = (one: Store) =>
    Object.fromEntries(tables.map((table) => [table, one.all(`select * from ${table} order by 1, 2, 3, 4`)]))
  expect(rowsOf(await replayed(store))).toEqual(rowsOf(store))
  for (const n of [4, 5, 6]) await service.run(store, job, night(n))
  expect(store.get('select sum(rows_withdrawn) from _fetch')).toBe(10)
  expect(missing(store)).toEqual([{ geo_id: 3, from_at: lost, missing: 10, reason: 'withdrawn' }])
  expect(withdrawals(store)).toMatchObject([{ geo_id: 3, confirmed_by: expect.any(Number) }])
  expect(rowsOf(await replayed(store))).toEqual(rowsOf(store))
})
