import { expect, test } from 'vitest'
import { ms, tempStore } from '../kit.ts'

const MONTH = 24_309

/** The print of a month with these totals of its days. */
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
  const print = (await store.engine.dayTotalsChecksums()).get(MONTH)!
  await store.close()
  return print
}

test('the print of a month tells a cent beside a number in whose double a cent is nothing', async () => {
  expect(await printOf({ 1: 1e16, 2: 0.01 })).not.toBe(await printOf({ 1: 1e16, 2: 0.02 }))
})

test.each([
  ['the same totals', { 1: 5, 2: 7.5 }, true],
  ['totals of two days that are exchanged', { 1: 7.5, 2: 5 }, false],
  ['what moves from one day to the other', { 1: 5.5, 2: 7 }, false],
  ['a total that is negative', { 1: 5, 2: -7.5 }, false],
])('the print of a month: %s', async (_what, totals, same) => {
  expect((await printOf(totals)) === (await printOf({ 1: 5, 2: 7.5 }))).toBe(same)
})
