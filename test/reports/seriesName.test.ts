import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { seriesName } from '../../src/reports/seriesName.ts'
import { gapsAtLastRun, judgeAgain, tempStore } from '../support/kit.ts'

const SERIES = { series_id: 4, kind: 'indicator', indicator_id: 600, time_trunc: null, geo_agg: null }

test.each([
  [{}, 'indicator 600'],
  [{ kind: 'offer_indicator' }, 'offer indicator 600'],
  [{ time_trunc: 'hour' }, 'indicator 600 by the hour, series 4'],
  [{ time_trunc: 'fifteen_minutes' }, 'indicator 600 by the quarter-hour, series 4'],
  [{ geo_agg: 'sum' }, 'indicator 600 as sum of geos, series 4'],
  [{ time_trunc: 'day', geo_agg: 'average' }, 'indicator 600 by the day as average of geos, series 4'],
])('%o is called %s', (own, name) => {
  expect(seriesName({ ...SERIES, ...own })).toBe(name)
})

test('a gap distinguishes offer indicators and shows the aggregation of geos', async () => {
  const store = await tempStore()
  for (const kind of ['indicator', 'offer_indicator'])
    store.run("insert into indicator (kind, id, first_seen_at) values (?, 7, '2025-01-01T00:00:00.000Z')", [kind])
  store.run("insert into _job (id, name, definition_at, returns) values (1, 'job', '2025-01-01T00:00:00.000Z', 0)", [])
  for (const [id, kind, agg] of [
    [1, 'indicator', null],
    [2, 'offer_indicator', null],
    [3, 'indicator', 'sum'],
  ]) {
    store.run(
      `insert into series (id, kind, indicator_id, geo_agg, time_zone, created_at)
       select ?, ?, 7, ?, 'Europe/Madrid', '2025-01-01T00:00:00.000Z'`,
      [id, kind, agg],
    )
    for (const [from, to] of [
      [0, 3600],
      [7200, 10_800],
    ])
      store.run("insert into _coverage values (?, 3, ?, ?, 'values', 1762257600, 1000000, null)", [id, from, to])
    store.run(
      `insert into _duty (series_id, job_id, geo_ids, window_text, entry, time_zone, from_at, to_at, lookback_s, refresh_s, since_at)
       values (?, 1, '3', '1970-01-01..1970-01-02', 'series[0]', 'UTC', 0, 10800, 172800, 86400, 0)`,
      [id],
    )
  }
  await judgeAgain(store)
  const gaps = (await gapsAtLastRun(store)).filter(({ reason }) => reason === 'never requested')
  expect(gaps.map(({ series_id, kind, geo_agg }) => [series_id, kind, geo_agg])).toEqual([
    [1, 'indicator', null],
    [2, 'offer_indicator', null],
    [3, 'indicator', 'sum'],
  ])
  const named = (await findFindings(store)).filter(({ cause }) => cause === 'never requested')
  expect(named.map(({ message }) => message)).toEqual([
    'data of 3 series was never requested: indicator 7, offer indicator 7, indicator 7 as sum of geos, series 3',
  ])
})
