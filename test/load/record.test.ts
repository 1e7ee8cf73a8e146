import { expect, test } from 'vitest'
import { planRetry } from '../../src/plan/planRetry.ts'
import { buildRequest } from '../../src/service/request.ts'
import { SERVICES } from '../../src/service/services.ts'
import { readRetryRequests } from '../../src/state/failedRequests.ts'
import { readReplies } from '../../src/state/replies.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const service = SERVICES.generic
const KINDS = `catalogue: true
series: [{ indicators: [600], geoIds: [3], window: { from: 2025-11-01, to: 2025-11-03 } }, { indicators: [1293], datetime: 2025-11-01 }]
offers: [{ indicators: [25], window: { from: 2025-11-01, to: 2025-11-03 } }]
content: [{ kinds: [news] }]
archives: [{ window: { from: 2025-11-01, to: 2025-11-03 }, dateType: datos }]
archivesJson: [{ date: 2025-11-01 }, { window: { from: 2025-11-01, to: 2025-11-03 } }]
widgets: { list: true, names: [7], window: { from: 2025-11-01, to: 2025-11-03 } }`

interface Recorded {
  readonly route: string
  readonly target: string
  readonly params: string
  readonly entry: string
}
const RECORDED = 'select route, target, params, entry from _fetch order by id'

test('the recorded parameters of a request rebuild its URL', async () => {
  const store = await tempStore()
  const server = await serve((_request, response) => json(response, {}, 400))
  await runJob(store, server, KINDS, { now: NOW })
  const recorded = store.all(RECORDED) as Recorded[]
  expect(new Set(recorded.map(({ entry }) => entry.replace(/\[.*/, '')))).toEqual(
    new Set(['catalogue', 'series', 'offers', 'content', 'archives', 'archivesJson', 'widgets']),
  )
  for (const { route, target, params } of recorded)
    expect(buildRequest(service, route, JSON.parse(params)).target).toBe(target)
  const from = ms('2025-10-31T23:00:00Z') / 1000
  const to = ms('2025-11-02T23:00:00Z') / 1000
  expect(recorded.find(({ entry }) => entry === 'series[0]')?.params).toBe(
    `{"end_date":${to - 1},"geo_ids":[3],"id":600,"locale":"es","start_date":${from}}`,
  )
  expect(recorded.filter(({ entry }) => entry === 'archives[0]').map(({ params }) => params)).toEqual([
    `{"date_type":"datos","end_date":${from + 86_399},"locale":"es","start_date":${from}}`,
    `{"date_type":"datos","end_date":${to - 1},"locale":"es","start_date":${from + 86_400}}`,
  ])
  // A retry sends each of them to the same URL again.
  const again = [...planRetry({ service, now: NOW / 1000 }, await readRetryRequests(store))]
  expect(again.map(({ http }) => http.target).sort()).toEqual(recorded.map(({ target }) => target).sort())
})

test('the request of a stored reply is read as it was planned, with one window', async () => {
  const store = await tempStore()
  const server = await serve((_request, response) => json(response, { archives: [] }))
  await runJob(
    store,
    server,
    KINDS.split('\n')
      .filter((line) => line.startsWith('archives'))
      .join('\n'),
    { now: NOW },
  )
  const read = []
  for await (const { planned } of readReplies(store, service)) read.push(planned)
  const days = [1, 2].map((day) => ms(`2025-11-0${day}T00:00:00+01:00`) / 1000) as [number, number]
  const end = days[1] + 86_400
  expect(read.map(({ params, window }) => ({ params, window }))).toEqual([
    { params: { locale: 'es', date_type: 'datos' }, window: { from: days[0], to: days[1] } },
    { params: { locale: 'es', date_type: 'datos' }, window: { from: days[1], to: end } },
    { params: { locale: 'es', date: days[0] }, window: { from: days[0], to: days[0] + 1 } },
    { params: { locale: 'es' }, window: { from: days[0], to: end } },
  ])
})
