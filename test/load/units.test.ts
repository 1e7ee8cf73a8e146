import { describe, expect, test } from 'vitest'
import { BEGINNING } from '../../src/db/tables/codes.ts'
import { findChangedMeanings } from '../../src/findings/kinds/changedMeaning.ts'
import { decideUnits, type UnitStretch } from '../../src/load/decideUnits.ts'
import { json, ms, replayed, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-20T12:00:00Z')
const ENERGY = { id: 13, name: 'Energía' }
const POWER = { id: 20, name: 'Potencia' }

/** Starts a service of quarter-hours of 100, and a function that runs a job for some days while it states a quantity. */
async function startService() {
  const store = await tempStore()
  let quantity = ENERGY
  let name = 'x'
  const server = await serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const values = []
    for (let at = from; at <= end; at += 900) values.push(valueAt(at, 100))
    const magnitud = quantity.id === 0 ? [] : [quantity]
    json(response, { indicator: { id: 5, name, magnitud, tiempo: [{ id: 218 }], geos: [], values } })
  })
  const load = (from: string, to: string, stated: { id: number; name: string }, newName = name, restate = false) => {
    quantity = stated
    name = newName
    const days = `{ from: 2025-${from}, to: 2025-${to} }`
    return runJob(store, server, `series: [{ indicators: [5], window: ${days} }]`, { now: NOW, options: { restate } })
  }
  return { store, load }
}

const daily = (store: Store) =>
  (
    store.all('select local_date, unit, energy from observations_daily order by 1') as { [column: string]: unknown }[]
  ).map(({ local_date, unit, energy }) => `${local_date} ${energy} ${unit}`)
const stretches = (store: Store) =>
  store.all("select date(from_at + 3600, 'unixepoch') as day, magnitude_id as id from indicator_unit order by from_at")

describe('the unit of an indicator', () => {
  test('the unit of stored days stays when a later response states another one', async () => {
    const { store, load } = await startService()
    await load('11-01', '11-03', ENERGY)
    const before = ['2025-11-01 9600 MWh', '2025-11-02 9600 MWh']
    expect(daily(store)).toEqual(before)
    expect(stretches(store), 'most indicators have no rows').toEqual([])
    await load('11-02', '11-04', POWER, 'x', true)
    const after = [...before, '2025-11-03 2400 MW']
    expect(daily(store)).toEqual(after)
    await load('11-01', '11-03', POWER, 'x', true)
    expect(daily(store), 'a restatement keeps them, too').toEqual(after)
    expect(stretches(store)).toEqual([
      { day: '0001-01-01', id: 13 },
      { day: '2025-11-03', id: 20 },
    ])
    const copy = await replayed(store)
    const rows = 'select * from indicator_unit order by from_at'
    expect(copy.all(rows), 'a replay restores them').toEqual(store.all(rows))
  })

  test('all views show the unit at the time of the value', async () => {
    const { store, load } = await startService()
    await load('11-01', '11-02', ENERGY)
    await load('11-02', '11-03', POWER)
    const units = 'select distinct local_date, unit from'
    const expected = [
      { local_date: '2025-11-01', unit: 'MWh' },
      { local_date: '2025-11-02', unit: 'MW' },
    ]
    for (const view of ['observations', 'observation_history', 'observations_hourly', 'observations_daily'])
      expect(store.all(`${units} ${view} order by 1`), view).toEqual(expected)
    expect(store.all('select distinct local_date, value, energy from observations_hourly order by 1')).toEqual([
      { local_date: '2025-11-01', value: 400, energy: 400 },
      { local_date: '2025-11-02', value: 100, energy: 100 },
    ])
    expect(store.all('select unit, energy from observations_monthly')).toEqual([{ unit: 'MWh', energy: 9600 + 2400 }])
    expect(store.all('select unit from latest')).toEqual([{ unit: 'MW' }])
  })

  test.each([
    ['in order', [0, 1, 2]],
    ['in reverse', [2, 1, 0]],
    ['mixed', [1, 2, 0]],
  ])('the unit is the same after responses %s', async (_name, order) => {
    const { store, load } = await startService()
    const replies = [
      ['11-01', '11-03', ENERGY],
      ['11-03', '11-05', ENERGY],
      ['11-07', '11-09', POWER],
    ] as const
    for (const i of order) {
      const [from, to, stated] = replies[i]!
      await load(from, to, stated)
    }
    expect(stretches(store)).toEqual([
      { day: '0001-01-01', id: 13 },
      { day: '2025-11-07', id: 20 },
    ])
  })

  test('a unit that is named in another way or not at all is the same', async () => {
    const { store, load } = await startService()
    await load('11-01', '11-02', ENERGY)
    await load('11-02', '11-03', { id: 13, name: 'Energy' })
    await load('11-03', '11-04', { id: 0, name: '' })
    expect(stretches(store)).toEqual([])
    expect(new Set(daily(store).map((day) => day.split(' ')[2]))).toEqual(new Set(['MWh']))
  })

  test('units do not depend on the order of responses about different days', () => {
    const days = Array.from({ length: 9 }, (_, day) => ({
      day: day * 2,
      magnitude_id: 13 + ((day * 7) % 4),
      magnitude: null,
    }))
    const decide = (order: readonly number[]) => {
      let result: readonly UnitStretch[] = [{ from_at: BEGINNING, ...days[order[0]!]!, fetch_id: null }]
      const stored: number[] = [days[order[0]!]!.day]
      for (const i of order.slice(1)) {
        const { day, ...stated } = days[i]!
        const known = stored.toSorted((a, b) => a - b)
        const storedDays = {
          days: known.filter((other) => other >= day),
          hasEarlier: known.some((other) => other < day),
        }
        result = decideUnits(result, { ...stated, fetch_id: 1 }, [day], storedDays, (at) => at)
        stored.push(day)
      }
      return result.map(({ from_at, magnitude_id }) => [from_at, magnitude_id])
    }
    const inOrder = decide([0, 1, 2, 3, 4, 5, 6, 7, 8])
    for (const step of [2, 4, 5, 7, 8]) expect(decide(days.map((_, i) => (i * step) % 9))).toEqual(inOrder)
  })

  test.each([
    [
      'name and unit',
      POWER,
      'y',
      [{ oldName: 'x', oldUnit: 'MWh', name: 'y', unit: 'MW', from: ms('2025-11-01T23:00:00Z') / 1000 }],
    ],
    ['name', ENERGY, 'y', []],
    ['unit', POWER, 'x', []],
  ])('a change of the %s of an id is a finding for some weeks', async (_name, stated, name, findings) => {
    const { store, load } = await startService()
    await load('11-01', '11-02', ENERGY)
    await load('11-02', '11-03', stated, name)
    expect(await findChangedMeanings(store, NOW / 1000 + 86_400)).toMatchObject(
      findings.map((meaning) => ({ kind: 'id changed meaning', meaning })),
    )
    expect(await findChangedMeanings(store, NOW / 1000 + 60 * 86_400)).toEqual([])
  })
})
