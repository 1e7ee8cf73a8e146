import { join } from 'node:path'
import { Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { startOfDate, transitions } from '../../src/base/time/zone.ts'
import { rememberZone } from '../../src/db/queries/zones.ts'
import { connect } from '../../src/db/sqlite/connection.ts'
import { MIGRATIONS, readMigrations } from '../../src/db/sqlite/migrations.ts'
import { APPLICATION_ID } from '../../src/db/sqlite/schema.ts'
import { tempFolder, tempStore } from '../kit.ts'
import { oracleDays } from '../load/dayOracle.ts'
import { openStore } from '../store.ts'

const ZONE = 'Europe/Madrid'
const names = Object.keys(MIGRATIONS)

/** A database as an earlier version left it, with two days in which clocks change: hours, then quarters, and one null. */
async function earlier(file: string, name: string, zoned: boolean): Promise<void> {
  const { kysely, raw } = connect(file)
  raw.pragma('synchronous = off')
  raw.pragma(`application_id = ${APPLICATION_ID}`)
  const { error } = await new Migrator({
    db: kysely,
    provider: { getMigrations: readMigrations },
    migrationTableName: '_migration',
    migrationLockTableName: '_migration_lock',
  }).migrateTo(name)
  expect(error).toBeUndefined()
  raw.pragma('foreign_keys = off')
  raw.exec(`begin; insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 7, '${ZONE}', '');
    insert into series_geo values (1, 3), (1, 4)`)
  const insert = raw.prepare(
    'insert into observation (series_id, geo_id, at, value, step_s, fetch_id) values (1, ?, ?, ?, ?, 1)',
  )
  for (const [date, step] of [
    ['2025-03-30', 3600],
    ['2025-10-26', 900],
  ] as const)
    for (let at = startOfDate(ZONE, date)! - 7_200, i = 0; i < 120; at += step, i++)
      insert.run(i % 7 === 0 ? 4 : 3, at, i === 50 ? null : i / 8, step)
  const rows = transitions(ZONE)
  const offset = raw.prepare('insert into time_zone_offset (zone, from_at, to_at, offset_s) values (?, ?, ?, ?)')
  for (const [i, row] of zoned ? rows.entries() : [])
    offset.run(ZONE, i === 0 ? -62_135_596_800 : row.at, rows[i + 1]?.at ?? 253_402_300_800, row.offset)
  raw.exec('commit')
  await kysely.destroy()
}

// Every other one knows the clocks of its zone by then.
test.each(names.slice(0, names.indexOf('0019_day_totals')).map((name, i) => [name, i % 2 === 0] as const))(
  'the totals of days are made of the values that a database of schema %s holds',
  async (name, zoned) => {
    const file = join(tempFolder(), 'old.db')
    await earlier(file, name, zoned)
    const store = await openStore(file)
    const totals = store.all('select * from _day order by geo_id, month, day')
    expect(totals.length).toBeGreaterThan(7)
    expect(totals).toEqual(oracleDays(store, ZONE))
    await store.close()
  },
)

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
