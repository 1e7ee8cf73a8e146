import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import type { FindingKind } from '../../src/findings/finding.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { findForgettable, forgetJob } from '../../src/sync/forgetJob.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, ms, replayed, runJob, tempStore } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

const DAY = 86_400_000
const night = (n: number) => ms('2025-11-04T20:15:00Z') + n * DAY
const seconds = (at: number) => Math.floor(at / 1000)
const found = async (store: Store, wanted: FindingKind, now: number) =>
  (await findFindings(store, now, { depth: 'state' })).filter(({ kind }) => kind === wanted)
const LIVE = 'series: [{ indicators: [5], window: { last: 5d }, refresh: 1h }]'

describe('late values', () => {
  /** Fetches a source every night that publishes up to `lag` hours ago. */
  const nights = async (count: number, yaml = LIVE) => {
    const store = await tempStore()
    const service = await startHourlyService()
    let now = 0
    let lag = 6
    service.state.has = (at) => at < seconds(now) - lag * 3600
    for (let n = 0; n < count; n++) {
      now = night(n)
      await service.run(store, yaml, now)
    }
    const run = (n: number, hours: number) => {
      now = night(n)
      lag = hours
      return service.run(store, yaml, now)
    }
    return { store, service, run }
  }

  test('a dead cron is reported the next morning', async () => {
    const { store } = await nights(5)
    expect(await found(store, 'no run', seconds(night(4)) + 20 * 3600)).toEqual([])
    const morning = seconds(night(5)) + 11 * 3600
    expect(await found(store, 'no run', morning)).toMatchObject([
      {
        subject: 'job test',
        since_at: '2025-11-10T02:15:00Z',
        message:
          'job test: no run since 2025-11-08T20:15:00Z; it usually runs every 24 h, and was overdue at 2025-11-10T02:15:00Z. Check its timer or `schedule`. Missing because of this: indicator 5',
        command: `indicator-sync sync test.yaml --database ${store.file}`,
      },
    ])
    expect(await findFindings(store, seconds(night(40))), 'one cause, also after a month').toHaveLength(1)
    expect(await prometheusText(store)).toContain('indicator_sync_missed_runs{job="test"} 1')
    expect(await prometheusText(store)).toContain('indicator_sync_usual_run_interval_seconds{job="test"} 86400')
  })

  test('a job with a schedule is reported as missed after a single run', async () => {
    const { store } = await nights(1, `schedule: "15 21 * * *"\n${LIVE}`)
    expect(await found(store, 'no run', seconds(night(1)) - 60)).toEqual([])
    expect(await found(store, 'no run', seconds(night(1)) + 11 * 3600)).toMatchObject([
      { message: expect.stringMatching(/^job test: no run since 2025-11-04T20:15:00Z; it usually runs every 24 h/) },
    ])
  })

  test('a source that stopped is reported with the time of its last value', async () => {
    const { store, run } = await nights(8)
    expect(await found(store, 'late', seconds(night(7)) + 12 * 3600)).toEqual([])
    await run(8, 30)
    await run(9, 54)
    expect(await found(store, 'late', seconds(night(9)))).toMatchObject([
      {
        subject: 'indicator 5, geo 3',
        since_at: '2025-11-11T15:00:00Z',
        message: expect.stringMatching(
          /^indicator 5, geo 3: no value from 2025-11-11T16:00:00\+01:00 on, which is later/,
        ),
        command: null,
        cause: 'late',
      },
    ])
  })

  test('a series of a forgotten job is not reported', async () => {
    const { store, run } = await nights(8)
    await run(8, 30)
    await run(9, 54)
    expect(await found(store, 'late', seconds(night(9)))).toHaveLength(1)
    const job = await findForgettable(store, 'test', undefined)
    await forgetJob(store, { job, nowMs: night(9) })
    expect(await found(store, 'late', seconds(night(9)))).toEqual([])
  })

  test('a series is reported as late even if runs have irregular intervals', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const at = (n: number) => night(0) + n * 83_401_000
    for (let n = 0; n < 8; n++) {
      const now = n < 5 ? at(n) : at(4)
      service.state.has = (when) => when < seconds(now) - 6 * 3600
      await service.run(store, LIVE, at(n))
    }
    expect(await found(store, 'late', seconds(at(7)))).toHaveLength(1)
  })

  test('fixed past windows, manual runs and removed series cause no alarm', async () => {
    const past = await nights(
      5,
      'series: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-11-04 }, lookback: 30d, refresh: 1h }]',
    )
    expect(await findFindings(past.store, seconds(night(30)))).toEqual([])
    const byHand = await tempStore()
    const service = await startHourlyService()
    for (let n = 0; n < 4; n++) await service.run(byHand, LIVE, night(0) + n * 1_200_000)
    expect(await found(byHand, 'no run', seconds(night(3)))).toEqual([])
    const left = await nights(5)
    for (let n = 5; n < 9; n++) await left.service.run(left.store, LIVE.replace('[5]', '[6]'), night(n))
    const late = await found(left.store, 'late', seconds(night(8)))
    expect(late.filter(({ subject }) => subject.startsWith('indicator 5'))).toEqual([])
  })
})

test('the time of the last request is reported for each geo', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 8741] })
  await service.run(store, LIVE.replace('[5]', '[5], geoIds: [3]'), night(0))
  await service.run(store, LIVE.replace('[5]', '[5], geoIds: [8741]'), night(2))
  expect(store.all('select geo_id, checked_at from freshness order by 1')).toEqual([
    { geo_id: 3, checked_at: new Date(night(0)).toISOString() },
    { geo_id: 8741, checked_at: new Date(night(2)).toISOString() },
  ])
  await service.run(store, LIVE, night(4))
  expect(store.get('select count(distinct checked_at) from freshness')).toBe(1)
})

test('clock changes are updated with new time zone data', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  await service.run(store, LIVE, night(0))
  const offsets = store.all('select * from time_zone_offset order by zone, from_at')
  store.run(`update time_zone_offset set offset_s = 0, zone_data = '1999a'`, [])
  await (await openStore(store.file)).close()
  expect(store.all('select * from time_zone_offset order by zone, from_at')).toEqual(offsets)
})

test('an incomplete reply store preserves the times at which items were first seen', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: seconds(night(0)) })
  const yaml = 'keep: latest\ncatalogue: { refresh: 1h }'
  for (const n of [0, 3]) await runJob(store, emulator, yaml, { now: night(n) })
  store.run(`update _fetch set reply_hash = null where id = 1`, [])
  const seen = (db: typeof store) => db.all('select kind, id, first_seen_at from indicator order by 1, 2')
  expect(seen(await replayed(store))).toEqual(seen(store))
})
