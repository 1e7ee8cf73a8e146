import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { dump } from '../support/dump.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import {
  gapsAtLastRun,
  json,
  ms,
  replayed,
  requestedWindow,
  runJob,
  serve,
  tempStore,
  valueAt,
} from '../support/kit.ts'

const NOW = ms('2025-11-04T20:15:00Z')
const job = (from: string, to: string, geo = '') =>
  `series: [{ indicators: [5]${geo}, window: { from: ${from}, to: ${to} }, lookback: 1d, refresh: 1h }]`
const gapsOf = async (store: Parameters<typeof gapsAtLastRun>[0]) =>
  (await gapsAtLastRun(store)).map(
    ({ reason, geo_id, from, to }) => `${reason} ${geo_id} ${from.slice(5, 10)}..${to.slice(5, 10)}`,
  )

/** Hours with an unknown resolution id; single days are empty, so that the composition of the whole is unknown. */
const sums = () =>
  serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const values = []
    if (end - from > 90_000) for (let at = from; at <= end; at += 3600) values.push(valueAt(at))
    json(response, { indicator: { id: 777, tiempo: [{ id: 999, name: 'Hora' }], geos: [], values } })
  })

test('a hole that no job wants between stored ranges is not a gap', async () => {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  await service.run(store, job('2025-10-20', '2025-10-25', ', geoIds: [3]'), NOW)
  await service.run(store, job('2025-10-28', '2025-11-02'), NOW)
  expect(store.all('select geo_id, reason, from_local, to_local from gaps')).toEqual([])
  expect(await gapsOf(store)).toEqual([])
  expect(await findFindings(store)).toEqual([])
})

test('a coarse reply that was not requested in parts remains a gap', async () => {
  const store = await tempStore()
  // The first reply contains sums; then the key is refused, and the run ends.
  const server = await serve((request, response, call) => {
    if (call > 1) return json(response, { message: 'no' }, 401)
    const { from } = requestedWindow(request)
    const values = Array.from({ length: 30 * 24 }, (_, i) => valueAt(from + i * 3600, i))
    json(response, { indicator: { id: 5, tiempo: [{ id: 223, name: 'Hora' }], geos: [], values } })
  })
  await runJob(store, server, job('2025-09-01', '2025-10-01', ', chunk: 1mo'), { now: NOW }).catch(() => undefined)
  expect(store.all('select outcome from _fetch')).toContainEqual({ outcome: 'coarse' })
  expect(await gapsOf(store)).toEqual(['failed 0 09-01..10-01'])
})

test('a replay of a coarse reply and its parts gives the same rows', async () => {
  const store = await tempStore()
  const service = await sums()
  const yaml = 'series: [{ indicators: [777], window: { from: 2025-09-01, to: 2025-09-11 }, chunk: 1mo }]'
  await runJob(store, service, yaml, { now: NOW })
  expect(store.get(`select count(*) from _fetch where outcome = 'coarse'`)).toBeGreaterThan(0)
  expect(dump(await replayed(store))).toEqual(dump(store))
})
