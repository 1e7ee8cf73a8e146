import { expect, test } from 'vitest'
import { plan, readJob, SERVICES, sync } from '../../src/index.ts'
import { emulate, ms, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z') / 1000

test('plan lists what sync then requests: before the catalogue is stored only that, then the selected indicators', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW })
  const job = readJob(
    'name: a\npace: { perSecond: 50, concurrency: 1 }\nseries: [{ indicators: { match: spot }, window: { last: 1d } }]',
    'a.yaml',
  )
  const options = { store, service: SERVICES.generic, now: () => NOW }
  const planned = async () => Array.from(await plan(job, options), ({ http }) => http.target)
  const before = await planned()
  expect(before.length).toBeGreaterThan(0)
  for (const target of before) expect(target).toMatch(/^\/indicators\?/)
  await sync(job, { ...options, baseUrl: emulator.url, key: emulator.key })
  expect(emulator.requests.map(({ url }) => url).slice(0, before.length)).toEqual(before)
  const sent = emulator.requests.length
  expect(sent).toBeGreaterThan(before.length)
  const later = { ...options, now: () => NOW + 2 * 86_400 }
  const next = Array.from(await plan(job, later), ({ http }) => http.target)
  await sync(job, { ...later, baseUrl: emulator.url, key: emulator.key })
  expect(emulator.requests.slice(sent).map(({ url }) => url)).toEqual(next)
})
