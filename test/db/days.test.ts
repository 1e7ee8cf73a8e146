import { expect, test } from 'vitest'
import { startOfDate } from '../../src/base/time/zone.ts'
import { rememberZone } from '../../src/db/queries/zones.ts'
import { tempStore } from '../kit.ts'
import { oracleDays } from '../load/dayOracle.ts'

const ZONE = 'Europe/Madrid'
test('other clocks make other days of the same values', async () => {
  const store = await tempStore()
  await rememberZone(store.kysely, store.engine, ZONE)
  store.run('pragma foreign_keys = off', [])
  store.run(`insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 7, ?, '')`, [
    ZONE,
  ])
  store.run('insert into series_geo values (1, 3)', [])
  store.run('insert into observation values (1, 3, ?, 5, 3600, 1)', [startOfDate(ZONE, '2025-06-02')! - 3600])
  store.run('update time_zone_offset set offset_s = offset_s + 3600', [])
  await store.write((tx) => rememberZone(tx, store.engine, ZONE, 'of other clocks'))
  expect(store.all('select day from _day')).toEqual([{ day: 1 }])
  expect(store.all('select * from _day')).toEqual(oracleDays(store, ZONE))
})
