import { describe, expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { findGaps } from '../../src/findings/findGaps.ts'
import { readMissingData } from '../../src/findings/readers/missingData.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { json, ms, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const DAY = 86_400_000
const NIGHT = ms('2025-11-04T20:15:00Z')
const entry = (from: string, to: string) => `{ indicators: [5], window: { from: ${from}, to: ${to} }, lookback: 2d }`

describe('the time since which data is missing', () => {
  test('data is missing since the same time in the gaps of each job, the view and the findings', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    service.state.status = () => 400
    await service.run(store, `name: a\nseries: [${entry('2025-10-01', '2025-10-03')}]`, NIGHT)
    await service.run(store, `name: b\nseries: [${entry('2025-10-10', '2025-10-12')}]`, NIGHT + 3 * DAY)
    expect(store.all('select job, since_at from gaps order by job')).toEqual([
      { job: 'a', since_at: '2025-11-04T20:15:00Z' },
      { job: 'b', since_at: '2025-11-07T20:15:00Z' },
    ])
    const gaps = await readMissingData(store, NIGHT / 1000 + 4 * 86_400)
    expect(gaps.map(({ sinceAt }) => sinceAt)).toEqual([NIGHT / 1000, NIGHT / 1000 + 3 * 86_400])
  })
})

describe('a series without values', () => {
  const find = async (store: Store, now: number) => ({
    gaps: (await findGaps(store, now / 1000)).map(
      ({ series_id, geo_id, reason }) => `${series_id} ${geo_id}: ${reason}`,
    ),
    findings: (await findFindings(store, now / 1000, { depth: 'state' })).map(({ subject, message }) => [
      subject,
      message,
    ]),
  })

  test('a series without values is a finding, even if another series of the indicator has values', async () => {
    const store = await tempStore()
    const server = await serve((request, response) => {
      const { from, end } = requestedWindow(request)
      const isHourly = new URL(request.url!, 'http://x').searchParams.get('time_trunc') === 'hour'
      const hours = isHourly ? Math.ceil((end + 1 - from) / 3600) : 0
      const values = Array.from({ length: hours }, (_, i) => valueAt(from + i * 3600, 1, 3))
      json(response, { indicator: { id: 5, tiempo: [{ id: 4 }], geos: [], values } })
    })
    const window = 'window: { from: 2025-08-01, to: 2025-08-31 }, lookback: 2d'
    const series = ['hour', 'month'].map((unit) => `{ indicators: [5], timeTrunc: ${unit}, timeAgg: sum, ${window} }`)
    await runJob(store, server, `name: both\nseries: [${series.join(', ')}]`, { now: NIGHT })
    expect(await find(store, NIGHT)).toEqual({
      gaps: ['2 0: no values'],
      findings: [
        [
          'indicator 5 by the month, series 2',
          'indicator 5 by the month, series 2 has no values: the service responded without any; other series of the indicator have values for 3. Unless they are still to come, correct job both, then run the job',
        ],
      ],
    })
  })

  test('geos that two jobs select are a finding of each job', async () => {
    const store = await tempStore()
    const service = await startHourlyService()
    const job = (name: string, geos: string) =>
      `name: ${name}\nseries: [{ indicators: [5], geoIds: [${geos}], window: { from: 2025-10-01, to: 2025-10-03 }, lookback: 2d }]`
    await service.run(store, job('a', '3, 98'), NIGHT)
    await service.run(store, job('b', '3, 99'), NIGHT + DAY)
    const message = (geo: number, name: string) =>
      `indicator 5 has no values for geo ${geo}; values are stored for 3. Unless they are still to come, correct job ${name}, then run the job`
    expect(await find(store, NIGHT + DAY)).toEqual({
      gaps: ['1 98: no values', '1 99: no values'],
      findings: [
        ['indicator 5', message(98, 'a')],
        ['indicator 5', message(99, 'b')],
      ],
    })
  })
})

test('a late series says when it is requested again, as the view does', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  service.state.has = (at) => at < ms('2025-10-15T00:00:00Z') / 1000
  const job = 'name: a\nseries: [{ indicators: [5], window: { from: 2025-10-01, to: 2025-10-31 }, lookback: 2d }]'
  const late = async () => (await findFindings(store, NIGHT / 1000, { depth: 'state' })).map(({ message }) => message)
  await service.run(store, job, NIGHT)
  const [gap] = await findGaps(store, NIGHT / 1000)
  expect(gap).toMatchObject({
    reason: 'late',
    next_at: expect.stringMatching(/^2025-11-\d\dT/),
    next: expect.any(String),
  })
  expect(await late()).toEqual([
    expect.stringContaining(`which is later than usual; requested again from ${gap!.next_at} on. Check the source.`),
  ])
  store.run("update _span set next_at = null where reason = 'late'", [])
  expect(await late()).toEqual([expect.stringContaining('later than usual; no sync requests it any more. Check')])
  expect(await findGaps(store, NIGHT / 1000)).toMatchObject([{ next_at: null, next: null }])
})
