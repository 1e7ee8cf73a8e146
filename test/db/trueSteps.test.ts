import { expect, test } from 'vitest'
import { up } from '../../migrations/0006_true_steps.ts'
import type { Database } from '../../src/tables/schema.ts'
import { emulate, ms, runJob, tempStore } from '../kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const at = (text: string): number => ms(text) / 1000

test('what was held in the days of another zone, and sums that were taken for values, are asked again', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const yaml = `series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-09-01, to: 2025-11-01 } }
  - { indicators: [10207], timeTrunc: month, timeAgg: sum, window: { from: 2025-08-01, to: 2025-11-01 } }
  - { indicators: [1739], window: { from: 2025-08-01, to: 2025-11-01 } }`
  await runJob(store, emulator, yaml, { now: NOW })
  const before = emulator.requests.length
  store.run(`update series set time_zone = 'Atlantic/Canary' where indicator_id <> 1739`, [])
  store.run(`update _fetch set time_zone = 'Atlantic/Canary' where series_id <> 3`, [])
  store.run('update _fetch set resolution_id = 223 where series_id = 3 and from_at >= ?', [at('2025-09-30T22:00:00Z')])
  await up(store.kysely as unknown as Parameters<typeof up>[0])
  expect(store.all('select distinct time_zone from series union select time_zone from _fetch')).toEqual([
    { time_zone: 'Europe/Madrid' } satisfies Partial<Database['series']>,
  ])
  expect(store.get('select count(*) from observation')).toBeGreaterThan(0)
  await runJob(store, emulator, yaml, { now: NOW })
  const requested = emulator.requests.slice(before).map(({ url }) => decodeURIComponent(url))
  const days = (url: string): string => url.replace(/^.*start_date=([^&]*)&end_date=([^&]*).*$/, '$1 $2')
  expect(requested.filter((url) => url.startsWith('/indicators/600?')).map(days)).toEqual([
    '2025-09-29T22:00:00Z 2025-09-30T21:59:59Z',
    '2025-09-30T22:00:00Z 2025-10-01T21:59:59Z',
  ])
  expect(requested.filter((url) => url.startsWith('/indicators/10207?')).map(days)).toEqual([
    '2025-07-31T22:00:00Z 2025-10-31T22:59:59Z',
  ])
  expect(requested.filter((url) => url.startsWith('/indicators/1739?'))).toHaveLength(
    store.get('select count(*) from _fetch where series_id = 3 and resolution_id = 223 and run_id = 1') as number,
  )
})
