import { describe, expect, test } from 'vitest'
import { acceptGaps, listAccepted, reopenGaps } from '../../src/sync/acceptGaps.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { gapsAtLastRun, judgeAgain, lastRunTime, ms, tempStore } from '../support/kit.ts'

const at = (text: string) => () => ms(text) / 1000
const NIGHT = '2025-11-04T20:15:00Z'
const NOTE = 'never published'

/** A database with 24 missing hours of the geos 3 and 4 on 5 October. */
async function holes() {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  const from = ms('2025-10-04T22:00:00Z') / 1000
  const to = ms('2025-10-05T22:00:00Z') / 1000
  service.state.has = (instant) => instant < from || instant >= to
  const job = 'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 1d, refresh: 1h }]'
  await service.run(store, job, NIGHT)
  return { store, now: lastRunTime(store) * 1000 }
}
const request = { indicatorId: 5, from: at('2025-10-04T22:00:00Z'), to: at('2025-10-05T22:00:00Z'), note: NOTE }

describe('accepting gaps', () => {
  test('an accepted gap leaves the list, and comes back when it is reopened', async () => {
    const { store, now } = await holes()
    expect((await gapsAtLastRun(store)).map(({ geo_id }) => geo_id)).toEqual([3, 4])
    const accepted = await acceptGaps(store, { ...request, geoId: 3 }, now)
    expect(accepted).toMatchObject([
      { id: 1, indicator_id: 5, geo_id: 3, from: '2025-10-05T00:00:00+02:00', note: NOTE },
    ])
    expect((await gapsAtLastRun(store)).map(({ geo_id }) => geo_id)).toEqual([4])
    expect(store.all('select geo_id from gaps')).toEqual([{ geo_id: 4 }])
    expect(await listAccepted(store)).toEqual(accepted)
    expect(await reopenGaps(store, [1], now)).toEqual(accepted)
    expect((await gapsAtLastRun(store)).map(({ geo_id }) => geo_id)).toEqual([3, 4])
  })

  test('only the accepted part of a gap leaves the list', async () => {
    const { store, now } = await holes()
    await acceptGaps(store, { ...request, geoId: 3, from: at('2025-10-05T10:00:00Z') }, now)
    const [left] = await gapsAtLastRun(store)
    expect(left).toMatchObject({ geo_id: 3, to: '2025-10-05T12:00:00+02:00', missing: 12 })
  })

  test('without a geo, the gaps of all geos in the range are accepted', async () => {
    const { store, now } = await holes()
    expect(await acceptGaps(store, request, now)).toHaveLength(2)
    expect(await gapsAtLastRun(store)).toEqual([])
  })

  test('a larger range accepts no gaps that come later', async () => {
    const { store, now } = await holes()
    await acceptGaps(store, { ...request, from: at('2025-10-01T00:00:00Z'), to: at('2025-10-20T00:00:00Z') }, now)
    expect(store.all('select from_at, to_at from _accept where geo_id = 3')).toEqual([
      { from_at: request.from(), to_at: request.to() },
    ])
  })

  test.each([
    ['an unknown indicator', { indicatorId: 7 }, 'Indicator 7 has no gap.'],
    ['a geo without gaps', { geoId: 8 }, 'Indicator 5 has no gap of geo 8.'],
    ['a series without gaps', { seriesId: 2 }, 'Series 2 of indicator 5 has no gap.'],
    [
      'a range outside of the gaps',
      { from: at('2025-10-10T00:00:00Z'), to: at('2025-10-11T00:00:00Z') },
      'Indicator 5 has no gap in the range; its first gap is 2025-10-05T00:00:00+02:00 to 2025-10-06T00:00:00+02:00.',
    ],
    [
      'a hole without an end',
      { to: null },
      'A gap that is absent needs --to: without it, only the end of a series or geo is accepted.',
    ],
  ])('%s is refused', async (_, over, message) => {
    const { store, now } = await holes()
    await expect(acceptGaps(store, { ...request, ...over }, now)).rejects.toThrow(message)
    expect(await listAccepted(store)).toEqual([])
  })

  test('an unknown acceptance cannot be reopened', async () => {
    const { store, now } = await holes()
    await expect(reopenGaps(store, [4], now)).rejects.toThrow('No accepted gap has the id 4.')
  })

  test('an ended series is accepted without an end, and stays so', async () => {
    const { store, now } = await holes()
    store.run(`update series_geo set kind = 'regular', step_s = 3600, first_at = ?, last_at = ? where geo_id = 4`, [
      ms('2025-09-30T22:00:00Z') / 1000,
      ms('2025-10-10T21:00:00Z') / 1000,
    ])
    store.run('delete from _absent', [])
    await judgeAgain(store)
    expect(await gapsAtLastRun(store)).toMatchObject([{ geo_id: 4, reason: 'late', from: '2025-10-11T00:00:00+02:00' }])
    await acceptGaps(store, { ...request, geoId: 4, to: null }, now)
    expect(await gapsAtLastRun(store)).toEqual([])
    expect(store.all('select geo_id, to_at from _accept')).toEqual([{ geo_id: 4, to_at: null }])
  })
})
