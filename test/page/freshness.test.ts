import { expect, test } from 'vitest'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'
import { servePage } from './site.ts'

const at = (text: string): number => ms(text) / 1000
const DAY = 86_400
const JOB = 'name: live\nseries: [{ indicators: [5], window: { last: 5d }, refresh: 1h }]'

/** Stores a series of six nightly runs; its source has values up to an hour before each, and none from `until` on. */
async function sixNights(until = '2026-01-01T00:00Z') {
  const store = await tempStore()
  const service = await startHourlyService()
  let now = ''
  service.state.has = (instant) => instant < Math.min(at(now) - 3_600, at(until))
  for (let day = 4; day < 10; day++) {
    now = `2025-11-0${day}T21:00:00Z`
    await service.run(store, JOB, now)
  }
  return { store, last: at('2025-11-09T20:00Z') }
}

const serve = async (file: string, now: number) => {
  const { url } = await servePage(file, { now: () => now })
  const get = async (path: string) => (await fetch(url + path)).text()
  return { get, data: async (path: string) => JSON.parse(await get(path)) }
}

test('a series says how old its last value is, and what is expected later is not a gap', async () => {
  const { store, last } = await sixNights()
  const now = last + 7 * 3_600
  const { get, data } = await serve(store.file, now)
  expect(await get('/series/5?last=7&lang=en')).toMatch(
    /Last value <time data-ago [^>]*title="2025-11-09 21:00"[^>]*>7 h ago/,
  )
  const { freshness, chart } = await data('/series/5.json?last=7')
  expect(freshness).toMatchObject({ endAt: last, usualS: 3_600, missing: null })
  expect(chart.states.at(-1)).toEqual([last, now, 'expected'])
  expect(chart.to).toBeGreaterThan(now)
  // The ETag may not keep an old age.
  const { url } = await servePage(store.file, { now: () => now })
  const tag = (await fetch(`${url}/series/5`)).headers.get('etag')!
  const { url: later } = await servePage(store.file, { now: () => now + 3_600 })
  expect((await fetch(`${later}/series/5`, { headers: { 'if-none-match': tag } })).status).toBe(200)
})

test('the last days end now, and the part without data is shaded with its reason', async () => {
  const { store, last } = await sixNights()
  const now = last + 21 * DAY
  const { get, data } = await serve(store.file, now)
  const { chart } = await data('/series/5.json?last=7')
  expect(chart.to).toBeGreaterThan(now)
  expect(chart.to - now).toBeLessThanOrEqual(DAY)
  expect(chart.now.segments).toEqual([])
  expect(new Set(chart.states.map(([, , state]: string[]) => state))).toEqual(new Set(['unrequested']))
  const page = await get('/series/5?last=7&lang=en')
  expect(page).toContain('late: 21 days, usually 60 min')
  expect(page).toContain('No data in this range.')
  expect(page).toContain('>Newest data</a>')
  expect(await get('/series/5?last=7&lang=es')).toContain('con retraso: 21 días, normalmente 60 min')
})

test('a series whose source stopped is late, with its usual delay', async () => {
  const { store } = await sixNights('2025-11-06T20:00Z')
  const { get, data } = await serve(store.file, at('2025-11-09T21:30Z'))
  expect((await data('/series/5.json?last=7')).freshness.missing).toMatchObject({ state: 'late' })
  expect(await get('/series/5?last=7&lang=en')).toMatch(/late: 3 days, usually|late: 74 h, usually/)
})
