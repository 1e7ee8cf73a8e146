import { expect, test } from 'vitest'
import { MAX_WITHDRAWN, readWithdrawn } from '../../src/page/queries/withdrawn.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'
import { servePage } from './site.ts'

const at = (text: string): number => ms(text) / 1000
const HOUR = 3_600

/** Serves a series of two geos of which a later response of the same days lacks ten hours of one geo. */
async function withdrawTenHours() {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 9] })
  const from = at('2025-11-01T23:00Z')
  const end = at('2025-11-04T12:00Z')
  service.state.has = (instant) => instant < end
  const job = 'series: [{ indicators: [7], window: { from: 2025-10-28, to: +1d }, lookback: 10d }]'
  await service.run(store, job, '2025-11-03T12:00:00Z')
  service.state.has = (instant, geo) => instant < end && !(geo === 9 && instant >= from && instant < from + 10 * HOUR)
  await service.run(store, job, '2025-11-04T12:00:00Z')
  const { url } = await servePage(store.file)
  const get = async (path: string) => (await fetch(url + path)).text()
  return { store, from, get, data: async (path: string) => JSON.parse(await get(path)) }
}

test('withdrawn values are a state of the chart, its legend, its list and its table', async () => {
  const { from, get, data } = await withdrawTenHours()
  const address = '/series/7?geo=9&day=2025-11-02&lang=en'
  const { chart, open, table } = await data(address.replace('?', '.json?'))
  expect(chart.states.filter(([, , state]: string[]) => state === 'withdrawn')).toEqual([
    [from, from + 10 * HOUR, 'withdrawn'],
  ])
  expect(open.find(({ state }: { state: string }) => state === 'withdrawn')).toMatchObject({ missing: 10 })
  expect(table.rows).toHaveLength(24)
  const page = await get(address)
  expect(page.match(/– <span class="soft">withdrawn 2025-11-04 13:00, was 1</g)).toHaveLength(10)
  expect(page).toMatch(/<span class="cell withdrawn"[^>]*>–<\/span> withdrawn/)
  expect(page).toContain('class="state-withdrawn"')
  expect(await get(address.replace('=en', '=es'))).toContain('retirado 2025-11-04 13:00, era 1')
  // The other geo has all of them.
  expect((await data('/series/7.json?geo=3&day=2025-11-02')).chart.states.flat()).not.toContain('withdrawn')
})

test('the coverage of a series has withdrawn values, and says that the next sync requests them', async () => {
  const { get } = await withdrawTenHours()
  const page = await get('/coverage/7?geo=9&lang=en')
  expect(page).toMatch(/2025-11-02: [^<]*withdrawn/)
  // A small screen shows these above its calendar.
  expect(page).toMatch(/<p class="problem-days">Days with problems: <a [^>]*day=2025-11-02[^>]*>– 11-02<\/a> <\/p>\n/)
  expect(page).toContain('The service withdrew the values.')
  expect(page).toContain('The next sync requests it again.')
  expect(await get('/coverage/7?geo=3&lang=en')).not.toContain('The service withdrew the values.')
})

test('a withdrawn value that came back is not withdrawn', async () => {
  const { store, from } = await withdrawTenHours()
  const [{ id }] = store.all('select id from series') as [{ id: number }]
  expect((await readWithdrawn(store, id, [3, 9])).values).toHaveLength(10)
  const service = await startHourlyService({ geos: [3, 9] })
  service.state.has = (instant) => instant < at('2025-11-05T12:00Z') && instant !== from
  const job = 'series: [{ indicators: [7], window: { from: 2025-10-28, to: +1d }, lookback: 10d }]'
  await service.run(store, job, '2025-11-05T12:00:00Z')
  const { values: left } = await readWithdrawn(store, id, [3, 9])
  expect(left.map(({ geoId, from: begin }) => [geoId, begin])).toEqual([
    [3, from],
    [9, from],
  ])
})

test('the coverage page says that it lacks withdrawn values if a geo has more of them than are read', async () => {
  const { store, from, get } = await withdrawTenHours()
  const [{ id }] = store.all('select id from series') as [{ id: number }]
  /** Adds as many withdrawn values, a minute apart; the first one is this many minutes before the others. */
  const withdraw = (first: number, count: number): void => {
    store.run(
      `with recursive minutes(n) as (
        select cast(? as bigint) union all select n + 1 from minutes where n + 1 < cast(? as bigint))
      insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
      select series_id, geo_id, at - n * 60 - 30, fetch_id, value, step_s, superseded_by
      from observation_revision, minutes where geo_id = 9 and at = ?`,
      [first, first + count, from],
    )
  }
  const english = 'Only the first 5,000 withdrawn values of each geo are shown.'
  const spanish = 'Solo se muestran los primeros 5000 valores retirados de cada zona.'
  withdraw(0, MAX_WITHDRAWN - 10)
  expect((await readWithdrawn(store, id, [3, 9])).values).toHaveLength(MAX_WITHDRAWN)
  expect(await get('/coverage/7?lang=en')).not.toContain(english)
  withdraw(MAX_WITHDRAWN - 10, 1)
  expect((await readWithdrawn(store, id, [3, 9])).values).toHaveLength(MAX_WITHDRAWN)
  expect(await get('/coverage/7?lang=en')).toContain(english)
  expect(await get('/coverage/7?lang=es')).toContain(spanish)
})
