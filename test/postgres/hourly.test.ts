import { expect, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { ensureZone } from '../../src/db/queries/referenceTables.ts'
import { migratedDatabase, withClient } from './database.ts'

/** Inserts a year of quarter-hours of two geos. */
const FILL = [
  `insert into indicator (kind, id, first_seen_at) values ('indicator', 600, '')`,
  `insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, 'Europe/Madrid', '')`,
  'insert into series_geo (series_id, geo_id) values (1, 1), (1, 3)',
  `insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
   select 1, g, 1735686000 + 900 * n, n % 97, 900, 1 from generate_series(0, 35039) n, unnest(array[1, 3]) g`,
  'analyze',
]

test('observations_hourly uses the primary key for a series and a time range', async () => {
  const url = await migratedDatabase()
  const store = await openStore(url)
  await ensureZone(store, 'Europe/Madrid')
  await store.close()
  await withClient(url, async (client) => {
    await client.query('set session_replication_role = replica')
    for (const statement of FILL) await client.query(statement)
    await client.query('set search_path = public, compat')
    const { rows } = await client.query(
      'explain (analyze, timing off) select * from observations_hourly where series_id = 1 and at >= 1750000000 and at < 1750086400',
    )
    const plan = rows.map((row) => row['QUERY PLAN'] as string)
    const conditions = plan.filter((line) => /Index Cond/.test(line) && /at >=/.test(line))
    expect(conditions.join('\n'), plan.join('\n')).toMatch(/series_id = 1\b.*at >= 1750000000.*at < 1750086400/)
    const { rows: counted } = await client.query(
      'select count(*)::int as hours, sum(value) as sum from observations_hourly where series_id = 1 and geo_id = 3 and at >= 1750000000 and at < 1750086400',
    )
    expect(counted).toEqual([{ hours: 24, sum: expect.any(Number) }])
  })
})
