import { describe, expect, test } from 'vitest'
import { databaseFolder, isAddress } from '../../src/db/address.ts'
import { prepareQuery } from '../../src/db/prepared.ts'
import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { FETCH_OUTCOMES } from '../../src/db/tables/codes.ts'
import { tableOf } from '../../src/db/tables/schema.ts'
import { startOfDate } from '../../src/util/time/zone.ts'
import { oracleDays } from '../load/dayOracle.ts'
import { ms, tempStore } from '../support/kit.ts'

const MONTH = 24_309

/** Returns the checksum of a month with these daily totals. */
async function printOf(totals: Readonly<Record<number, number>>): Promise<string> {
  const store = await tempStore()
  store.run(`insert into indicator (kind, id, payload, first_seen_at) values ('indicator', 600, '{}', '')`, [])
  store.run(
    `insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, 'UTC', ?)`,
    [new Date(ms('2025-01-01T00:00:00Z')).toISOString()],
  )
  for (const [day, total] of Object.entries(totals))
    store.run(
      `insert into _day (series_id, geo_id, month, day, count, hours, min, max, sum, energy, missing)
       values (1, 3, ?, ?, 1, 1, ?, ?, ?, ?, 0)`,
      [MONTH, Number(day), total, total, total, total],
    )
  const print = (await store.engine.computeDayChecksums()).get(MONTH)!
  await store.close()
  return print
}

test('the checksum of a month distinguishes a cent beside a large number', async () => {
  expect(await printOf({ 1: 1e16, 2: 0.01 })).not.toBe(await printOf({ 1: 1e16, 2: 0.02 }))
})

test.each([
  ['the same totals', { 1: 5, 2: 7.5 }, true],
  ['totals of two days that are exchanged', { 1: 7.5, 2: 5 }, false],
  ['an amount moved from one day to the other', { 1: 5.5, 2: 7 }, false],
  ['a total that is negative', { 1: 5, 2: -7.5 }, false],
])('the checksum of a month distinguishes %s', async (_what, totals, same) => {
  expect((await printOf(totals)) === (await printOf({ 1: 5, 2: 7.5 }))).toBe(same)
})

const ZONE = 'Europe/Madrid'
test('a different time zone gives different days for the same values', async () => {
  const store = await tempStore()
  await rememberZone(store.kysely, ZONE)
  store.run('pragma foreign_keys = off', [])
  store.run(`insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 7, ?, '')`, [
    ZONE,
  ])
  store.run('insert into series_geo (series_id, geo_id) values (1, 3)', [])
  store.run('insert into observation values (1, 3, ?, 5, 3600, 1)', [startOfDate(ZONE, '2025-06-02')! - 3600])
  store.run('update time_zone_offset set offset_s = offset_s + 3600', [])
  await store.write((tx) => rememberZone(tx, ZONE, 'of other clocks'))
  expect(store.all('select day from _day')).toEqual([{ day: 1 }])
  expect(store.all('select * from _day')).toEqual(oracleDays(store, ZONE))
})

test('every outcome of a request is listed once and described in its column', () => {
  const all = Object.values(FETCH_OUTCOMES).flat()
  expect(new Set(all).size).toBe(all.length)
  const { about } = tableOf('_fetch').columns.outcome!
  const described = about.replace(/\([^)]*\)/g, '').match(/[a-z-]+/g)!
  expect(all.filter((outcome) => !described.includes(outcome))).toEqual([])
})

test.each([0, 1, 2, 500])(
  'a list of %i values is one parameter, so that its statement is prepared once',
  async (length) => {
    const { kysely } = await tempStore()
    await kysely
      .insertInto('geo')
      .values([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 999 }])
      .execute()
    const ids = Array.from({ length }, (_, i) => i + 1)
    const inside = kysely.selectFrom('geo').select('id').where('id', 'in', ids).orderBy('id')
    const outside = kysely.selectFrom('geo').select('id').where('id', 'not in', ids).orderBy('id')
    expect(inside.compile().parameters).toHaveLength(1)
    expect(inside.compile().sql).toBe(
      kysely.selectFrom('geo').select('id').where('id', 'in', [7]).orderBy('id').compile().sql,
    )
    const known = [1, 2, 3, 999]
    expect((await inside.execute()).map(({ id }) => id)).toEqual(known.filter((id) => ids.includes(id)))
    expect((await outside.execute()).map(({ id }) => id)).toEqual(known.filter((id) => !ids.includes(id)))
  },
)

test('texts in a list are compared exactly', async () => {
  const { kysely } = await tempStore()
  const names = [`it's`, '"quoted"', 'a\\b', 'ñandú\n', '7']
  await kysely.insertInto('geo').values({ id: 1 }).execute()
  await kysely
    .insertInto('geo_text')
    .values(names.map((name, i) => ({ id: 1, locale: `l${i}`, name })))
    .execute()
  const found = await kysely
    .selectFrom('geo_text')
    .select('name')
    .where('name', 'in', names)
    .orderBy('locale')
    .execute()
  expect(found.map(({ name }) => name)).toEqual(names)
})

test.each([
  ['data/market.db', 'data'],
  ['market.db', '.'],
  ['postgres.db', '.'],
  ['postgres://user@host/market', null],
  ['POSTGRESQL://host/market', null],
])('the database %s is on a server, or in a folder', (name, folder) =>
  expect([databaseFolder(name), isAddress(name)]).toEqual([folder, folder === null]),
)

/** Runs all pending callbacks. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a transaction', () => {
  test('concurrent transactions run one after the other, and a rollback affects only one', async () => {
    const store = await tempStore()
    const order: string[] = []
    let goOn = (): void => undefined
    const blocked = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const first = store.write(async (tx) => {
      await tx.insertInto('geo').values({ id: 1 }).execute()
      order.push('first')
      await blocked
      order.push('first is over')
      throw new Error('undone')
    })
    const undone = expect(first).rejects.toThrow('undone')
    while (order.length === 0) await turn()
    const second = store.write(async (tx) => {
      order.push('second')
      await tx.insertInto('geo').values({ id: 2 }).execute()
    })
    const single = store.kysely.insertInto('geo').values({ id: 3 }).execute()
    const read = store.kysely.selectFrom('geo').select('id').orderBy('id').execute()
    for (let i = 0; i < 100; i++) await turn()
    expect(order).toEqual(['first'])
    goOn()
    await undone
    await second
    await single
    expect(order).toEqual(['first', 'first is over', 'second'])
    expect(await read).toEqual([{ id: 2 }, { id: 3 }])
  })

  test('a finished transaction accepts no more queries', async () => {
    const store = await tempStore()
    const tx = await store.write(async (tx) => tx)
    await expect(tx.insertInto('geo').values({ id: 1 }).execute()).rejects.toThrow()
  })
})

test('a prepared query is built once per database, independent of its parameters', async () => {
  const store = await tempStore()
  let built = 0
  const insert = prepareQuery((db, row: { id: number; kind: string }) => {
    built++
    return db
      .insertInto('indicator')
      .values({ kind: row.kind, id: row.id, first_seen_at: 'now' })
      .onConflict((conflict) => conflict.doNothing())
  })
  const find = prepareQuery((db, of: { from: number; step: string | null }) => {
    built++
    return db
      .selectFrom('indicator')
      .select('id')
      .where('id', '>=', of.from)
      .where('step_type', 'is not distinct from', of.step)
      .orderBy('id')
  })
  await store.write(async (tx) => {
    for (const id of [1, 2, 2]) await insert.run(tx, { id, kind: 'indicator' })
  })
  expect(await find.all(store.kysely, { from: 1, step: null })).toEqual([{ id: 1 }, { id: 2 }])
  expect(await find.all(store.kysely, { from: 2, step: null })).toEqual([{ id: 2 }])
  expect(await find.first(store.kysely, { from: 1, step: null })).toEqual({ id: 1 })
  expect(await find.first(store.kysely, { from: 1, step: 'linear' })).toBeUndefined()
  expect(built).toBe(2)
})
