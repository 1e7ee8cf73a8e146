import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { planRetry } from '../../src/plan/planRetry.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import {
  emulate,
  gapsAtLastRun,
  json,
  judgeAgain,
  ms,
  requestedWindow,
  runJob,
  serve,
  tempStore,
  valueAt,
} from '../support/kit.ts'
import { openReader } from '../support/testStore.ts'

const NOW = '2025-11-04T12:00:00Z'
const SECONDS = ms(NOW) / 1000
const now = { now: ms(NOW) }

describe('a change of resolution', () => {
  test('no request spans an announced change of resolution', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    await runJob(
      store,
      emulator,
      'series:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-09-01, to: 2025-11-01 } }',
      now,
    )
    expect(emulator.requests).toHaveLength(2)
    expect(store.all('select distinct step_s from observation')).toHaveLength(2)
    const [month] = store.all(`select count, hours, energy from observations_monthly where local_month = '2025-10'`)
    expect(month).toEqual({ count: 31 * 96 + 4, hours: 31 * 24 + 1, energy: null })
  })

  test('rewritten history replaces the hours, whose values stay known as of then', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS, historyRewrittenAt: SECONDS + 1000 })
    const yaml = 'series:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-09-01, to: 2025-09-03 } }'
    await runJob(store, emulator, yaml, now)
    const hours = store.all('select at, value from observation order by at')
    expect(hours).toHaveLength(48)
    emulator.setNow(SECONDS + 86_400)
    await runJob(store, emulator, yaml, { now: ms(NOW) + 86_400_000, options: { restate: true } })
    expect(store.all('select step_s, count(*) as n from observation group by 1')).toEqual([{ step_s: 900, n: 192 }])
    // The first quarter of an hour has the value of the hour: a change of step alone is not a revision.
    expect(store.get('select count(*) from observation_revision')).toBe(0)
    const then = new Date(ms(NOW) + 3_600_000).toISOString()
    expect(
      store.all(
        `select at, value from observation_history
         where valid_from <= ? and (valid_to is null or valid_to > ?) order by at`,
        [then, then],
      ),
    ).toEqual(hours)
  })

  test('rewritten history with other values keeps the hours as revisions with their step', async () => {
    const store = await tempStore()
    let step = 3600
    let value = 1
    const server = await serve((request, response) => {
      const { from, end } = requestedWindow(request)
      const periods = Array.from({ length: Math.ceil((end + 1 - from) / step) }, (_, i) => from + i * step)
      json(response, {
        indicator: {
          id: 600,
          tiempo: [{ id: step === 3600 ? 4 : 218 }],
          geos: [],
          values: periods.map((at) => valueAt(at, value)),
        },
      })
    })
    const yaml = 'series:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-09-01, to: 2025-09-03 } }'
    await runJob(store, server, yaml, now)
    ;[step, value] = [900, 2]
    await runJob(store, server, yaml, { now: ms(NOW) + 86_400_000, options: { restate: true } })
    expect(store.all('select step_s, value, count(*) as n from observation group by 1, 2')).toEqual([
      { step_s: 900, value: 2, n: 192 },
    ])
    expect(store.all('select step_s, value, count(*) as n from observation_revision group by 1, 2')).toEqual([
      { step_s: 3600, value: 1, n: 48 },
    ])
  })
})

describe('missing values', () => {
  test('a finding contains the name of the series and of its geos', async () => {
    const store = await tempStore()
    const server = await serve((_request, response) => json(response, {}, 400))
    const yaml =
      'series: [{ indicators: [5], timeTrunc: month, timeAgg: sum, window: { from: 2025-03-01, to: 2025-04-01 } }]'
    await runJob(store, server, yaml, now)
    expect((await findFindings(store))[0]).toMatchObject({
      kind: 'failure',
      message: expect.stringMatching(/\. Missing because of this: indicator 5 by the month, series 1$/),
    })
  })

  test('failed windows, holes of the source and unrequested ranges have different reasons', async () => {
    const store = await tempStore()
    let broken = true
    const server = await serve((request, response) => {
      const { from, end: to } = requestedWindow(request)
      if (broken && from <= ms('2025-03-09T23:00:00Z') / 1000 && to > ms('2025-03-09T23:00:00Z') / 1000)
        return json(response, {}, 400)
      const rows = []
      for (let at = from; at <= to; at += 3600) if (at !== ms('2025-03-30T00:00:00Z') / 1000) rows.push(valueAt(at))
      json(response, { indicator: { id: 5, tiempo: [{ id: 4 }], geos: [], values: rows } })
    })
    const yaml =
      'series:\n  - { indicators: [5], geoIds: [3], window: { from: 2025-03-01, to: 2025-04-01 }, chunk: 1d }'
    const first = await runJob(store, server, yaml, now)
    expect(first).toMatchObject({ outcome: 'partial', counts: { failed: 1 } })
    store.run('update _coverage set to_at = to_at - 7200 where to_at = ?', [ms('2025-03-31T22:00:00Z') / 1000])
    store.run(`insert into _coverage values (1, 3, ?, ?, 'values', 1762257600, 1000000, null)`, [
      ms('2025-04-01T22:00:00Z') / 1000,
      ms('2025-04-02T22:00:00Z') / 1000,
    ])
    await judgeAgain(store)
    expect(await gapsAtLastRun(store)).toMatchObject([
      { reason: 'failed', from: '2025-03-10T00:00:00+01:00', to: '2025-03-11T00:00:00+01:00' },
      {
        reason: 'absent',
        from: '2025-03-30T01:00:00+01:00',
        to: '2025-03-30T03:00:00+02:00',
        missing: 1,
        step_s: 3600,
        expected_in_day: 23,
        next_at: '2025-11-05T11:00:00Z',
      },
      { reason: 'never requested', from: '2025-03-31T22:00:00+02:00', to: '2025-04-01T00:00:00+02:00' },
    ])
    expect((await findFindings(store)).map(({ kind, cause }) => [kind, cause])).toEqual([
      ['failure', 'bad-request'],
      ['gap', 'absent'],
      ['gap', 'never requested'],
    ])
    broken = false
    const later = { service: SERVICES.generic, now: ms(NOW) / 1000 + 9 * 86_400 }
    const again = [...planRetry(later, await readRetryRequests(store))]
    expect(again.map(({ http }) => http.target)).toEqual(first.failures.map(({ planned }) => planned.http.target))
    expect(again[0]).toMatchObject({
      window: first.failures[0]!.planned.window,
      geoIds: [3],
      series: first.failures[0]!.planned.series,
    })
    await runJob(store, server, yaml, now)
    expect(await readRetryRequests(store)).toEqual([])
  })

  test('the next run fetches everything after an outage of three weeks', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const job = (last: string) => `series:\n  - { indicators: [1739], window: { last: ${last} }, lookback: 2d }`
    await runJob(store, emulator, job('10d'), { now: ms('2025-10-01T12:00:00Z') })
    await runJob(store, emulator, job('40d'), now)
    expect((await gapsAtLastRun(store)).filter(({ reason }) => reason !== 'absent')).toEqual([])
    expect(store.all('select local_date from observations_daily where hours < 23')).toEqual([])
  })

  test('a window of months has whole months, and the current month is provisional', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    await runJob(
      store,
      emulator,
      'series:\n  - { indicators: [10207], timeTrunc: month, timeAgg: sum, window: { from: 2025-08-15, to: 2025-11-02 } }',
      now,
    )
    expect(store.all('select from_local, to_local, state from coverage order by 1')).toEqual([
      { from_local: '2025-08-01T00:00:00+02:00', to_local: '2025-11-01T00:00:00+01:00', state: 'final' },
      { from_local: '2025-11-01T00:00:00+01:00', to_local: '2025-12-01T00:00:00+01:00', state: 'provisional' },
    ])
    expect(
      store.all('select substr(at_local, 1, 19) as at_local, step_s / 3600 as hours from observations order by 1'),
    ).toEqual([
      { at_local: '2025-08-01T00:00:00', hours: 744 },
      { at_local: '2025-09-01T00:00:00', hours: 720 },
      { at_local: '2025-10-01T00:00:00', hours: 745 },
      { at_local: '2025-11-01T00:00:00', hours: 720 },
    ])
  })
})

describe('past values', () => {
  test('values as of any past time equal the replies at that time', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const yaml =
      'series:\n  - { indicators: [551, 541], window: { from: 2025-11-03, to: 2025-11-06 }, lookback: 1y, refresh: 1m }'
    const log: { at: string; said: unknown[] }[] = []
    const current = () => store.all('select series_id, geo_id, at, value from observation order by 1, 2, 3')
    for (const hours of [0, 2, 5, 26, 50]) {
      emulator.setNow(SECONDS + hours * 3600)
      await runJob(store, emulator, yaml, { now: ms(NOW) + hours * 3_600_000 })
      log.push({ at: new Date(ms(NOW) + hours * 3_600_000 + 1).toISOString(), said: current() })
    }
    expect(store.get('select count(*) from observation_revision')).toBeGreaterThan(100)
    const reader = openReader(store.file)
    for (const { at, said } of log)
      expect(
        reader.all(
          `select series_id, geo_id, unixepoch(at_utc) as at, value from observation_history
           where valid_from <= ? and (valid_to is null or valid_to > ?) order by 1, 2, 3`,
          [at, at],
        ),
      ).toEqual(said)
    await reader.close()
  })
})

describe('the history of the catalogue', () => {
  test('changed names and added or removed indicators have dates', async () => {
    const store = await tempStore()
    let list = [
      { id: 1, name: 'one', short_name: '1', description: '<p>a</p>' },
      { id: 634, name: 'old meaning', short_name: 'x' },
    ]
    const server = await serve((_request, response) =>
      json(response, { indicators: list, meta: { size: list.length } }),
    )
    const yaml = 'catalogue: true'
    await runJob(store, server, yaml, now)
    list = [
      { id: 634, name: 'new meaning', short_name: 'x' },
      { id: 700, name: 'seven hundred', short_name: '7' },
    ]
    await runJob(store, server, yaml, { now: ms(NOW) + 86_400_000 })
    expect(store.all('select id, first_seen_at, withdrawn_at from indicator order by id')).toEqual([
      { id: 1, first_seen_at: '2025-11-04T12:00:00.000Z', withdrawn_at: '2025-11-05T12:00:00.000Z' },
      { id: 634, first_seen_at: '2025-11-04T12:00:00.000Z', withdrawn_at: null },
      { id: 700, first_seen_at: '2025-11-05T12:00:00.000Z', withdrawn_at: null },
    ])
    expect(
      store.all('select r.id, r.name, f.finished_at from indicator_revision r join _fetch f on f.id = r.superseded_by'),
    ).toEqual([{ id: 634, name: 'old meaning', finished_at: '2025-11-05T12:00:00.000Z' }])
  })
})
