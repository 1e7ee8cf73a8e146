import { describe, expect, test } from 'vitest'
import { type Resampling, resample } from '../../../src/reports/resample.ts'
import type { Store } from '../../support/testStore.ts'
import { at, every, filled, type Series } from './handmade.ts'

/** A clock change and a change of resolution within a local day. */
const PARTS = [
  ['2025-03-28T23:00Z', '2025-03-31T22:00Z', 3600],
  ['2025-09-29T22:00Z', '2025-09-30T22:00Z', 3600],
  ['2025-09-30T22:00Z', '2025-10-01T22:00Z', 900],
  ['2025-10-24T22:00Z', '2025-10-26T00:00Z', 3600],
  ['2025-10-26T00:00Z', '2025-10-27T23:00Z', 900],
] as const

/** Distinct values for all periods. */
const values = (lacks: (at: number) => boolean = () => false): Series['values'] =>
  PARTS.flatMap(([from, to, step]) => every(from, to, step, (i) => Math.round(1000 * Math.sin(i * i)) / 8)).filter(
    ([when]) => !lacks(when),
  )

/** Returns the offset of Central European Time by arithmetic, between two known clock changes. */
const offsetAt = (when: number): number =>
  when >= at('2025-03-30T01:00Z') && when < at('2025-10-26T01:00Z') ? 7200 : 3600

/** Returns the start and length of the local hour, day or month of an instant. */
function periodOf(when: number, unit: Resampling['unit']): [from: number, length: number] {
  if (unit === 'hour') return [when - (when % 3600), 3600]
  const local = new Date((when + offsetAt(when)) * 1000)
  const year = local.getUTCFullYear()
  const month = local.getUTCMonth()
  const day = local.getUTCDate()
  const starts = (
    unit === 'day'
      ? [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)]
      : [0, 1].map((n) => Date.UTC(year, month + n))
  ).map((midnight) => {
    // At midnight, the offset equals that of two hours earlier and later.
    const guess = midnight / 1000 - 7200
    return midnight / 1000 - offsetAt(guess)
  })
  return [starts[0]!, starts[1]! - starts[0]!]
}

/** Aggregates value by value, without grouping by the database. */
function aggregated(of: Series['values'], unit: Resampling['unit'], isSummed: boolean, partial: boolean) {
  const found = new Map<number, { length: number; parts: [value: number, step: number][] }>()
  for (const [when, value, step] of of) {
    const [from, length] = periodOf(when, unit)
    const one = found.get(from) ?? { length, parts: [] }
    found.set(from, one)
    if (value !== null) one.parts.push([value, step])
  }
  return [...found].map(([from, { length, parts }]) => {
    const seconds = parts.reduce((sum, [, step]) => sum + step, 0)
    const value = isSummed
      ? parts.reduce((sum, [one]) => sum + one, 0)
      : parts.reduce((sum, [one, step]) => sum + one * (step / seconds), 0)
    const isComplete = seconds === length
    return {
      at: from,
      value: (isComplete || partial) && parts.length > 0 ? value : null,
      isComplete: Number(isComplete),
    }
  })
}

const CASES = [
  { what: 'powers', of: 7, isSummed: false },
  { what: 'energies per period', of: 8, isSummed: true },
  { what: 'prices', of: 9, isSummed: false },
  { what: 'values of an unknown quantity', of: 11, isSummed: false },
]
/** Missing values: the third quarter of one hour, the first of another, and a whole hour. */
const LACKING = [
  '2025-10-26T01:30Z',
  '2025-10-26T05:00Z',
  ...['00', '15', '30', '45'].map((m) => `2025-10-01T07:${m}Z`),
]

const close = (value: number | null) => (value === null ? null : expect.closeTo(value, 9))

/** Returns the energy of the hours of a case of `CASES`. */
function energyOf(of: number, { avg, sum }: Record<'avg' | 'sum', number>) {
  if (of === 7) return close(avg)
  return of === 8 ? close(sum) : null
}

const hours = (store: Store) =>
  store.all('select at, value, is_complete as isComplete from observations_hourly where series_id = 1 order by at')

describe('observations_hourly', () => {
  test.each(CASES)(
    'observations_hourly matches an independent calculation of $what across clock changes and steps',
    async ({ of, isSummed }) => {
      const given = values((when) => LACKING.some((one) => at(one) === when))
      const expected = aggregated(given, 'hour', isSummed, false)
      expect(expected).toHaveLength(71 + 24 + 23 + 26 + 47)
      expect(expected.filter(({ isComplete }) => !isComplete)).toHaveLength(2)
      const store = await filled({ id: 1, of, values: given })
      expect(hours(store)).toEqual(expected.map((one) => ({ ...one, value: close(one.value) })))
    },
  )

  test('observations_hourly has 23 and 25 hours on clock change days, with distinct local times', async () => {
    const store = await filled({ id: 1, values: values() })
    const days = `select local_date, count(*) as hours, count(distinct at_local) as names from observations_hourly
      where local_date in ('2025-03-30', '2025-10-25', '2025-10-26') group by 1 order by 1`
    expect(store.all(days)).toEqual([
      { local_date: '2025-03-30', hours: 23, names: 23 },
      { local_date: '2025-10-25', hours: 24, names: 24 },
      { local_date: '2025-10-26', hours: 25, names: 25 },
    ])
    const repeated = `select at_local from observations_hourly where at_local like '2025-10-26T02%' order by at`
    expect(store.all(repeated)).toEqual([
      { at_local: '2025-10-26T02:00:00+02:00' },
      { at_local: '2025-10-26T02:00:00+01:00' },
    ])
  })

  test('energy is the mean of powers, the sum of energies, and null for prices', async () => {
    for (const { of } of CASES) {
      const store = await filled({ id: 1, of, values: values() })
      const [one] = store.all(
        `select sum(energy) as energy, sum(avg) as avg, sum(sum) as sum from observations_hourly`,
      ) as [Record<'energy' | 'avg' | 'sum', number>]
      expect(one.energy).toEqual(energyOf(of, one))
      const [daily] = store.all('select sum(energy) as energy from observations_daily') as [{ energy: number | null }]
      expect(one.energy).toEqual(close(daily.energy))
    }
  })

  test('an hour with a null, missing periods or a longer period is incomplete', async () => {
    const store = await filled({
      id: 1,
      values: [
        ...every('2025-10-05T22:00Z', '2025-10-05T23:00Z', 900, (i) => (i === 2 ? null : 4)),
        ...every('2025-10-05T23:15Z', '2025-10-06T00:00Z', 900, () => 4),
        [at('2025-10-06T00:00Z'), 4, 7200],
      ],
    })
    expect(store.all('select value, is_complete, count, hours, avg from observations_hourly order by at')).toEqual([
      { value: null, is_complete: 0, count: 3, hours: 0.75, avg: 4 },
      { value: null, is_complete: 0, count: 3, hours: 0.75, avg: 4 },
      { value: null, is_complete: 0, count: 1, hours: 2, avg: 4 },
    ])
  })

  test('a query by series, geo and time range uses the primary key', async () => {
    const store = await filled({ id: 1, values: values() })
    const plan = (condition: string): string[] =>
      (
        store.all(`explain query plan select * from observations_hourly where ${condition}`) as { detail: string }[]
      ).map(({ detail }) => detail)
    const range = `at >= ${at('2025-10-26T00:00Z')} and at < ${at('2025-10-27T00:00Z')}`
    for (const condition of [`series_id = 1 and geo_id = 3 and ${range}`, `series_id = 1 and ${range}`]) {
      const steps = plan(condition)
      const key = 'USING PRIMARY KEY (series_id=? AND geo_id=? AND at>? AND at<?)'
      expect(steps).toContain(`SEARCH h ${key}`)
      expect(steps).toContain(`SEARCH o ${key}`)
      expect(steps.filter((step) => /^SCAN (s|g|h|o|d)$/.test(step) && step !== 'SCAN s')).toEqual([])
    }
  })
})

describe('resampled values', () => {
  const read = async (given: Series['values'], isSummed: boolean, resampling: Resampling) => {
    async function* blocks() {
      for (let i = 0; i < given.length; i += 7) yield given.slice(i, i + 7)
    }
    const rows = []
    for await (const block of resample(blocks(), { zone: 'Europe/Madrid', isSummed }, resampling)) rows.push(...block)
    return rows
  }

  test.each(
    CASES.flatMap((one) =>
      (['hour', 'day', 'month'] as const).flatMap((unit) =>
        [false, true].map((partial) => ({ ...one, unit, partial })),
      ),
    ),
  )(
    'resampled $what by $unit match an independent calculation (incomplete ones too: $partial)',
    async ({ isSummed, unit, partial }) => {
      const given = values((when) => LACKING.some((one) => at(one) === when))
      const rows = await read(given, isSummed, { unit, partial })
      const expected = aggregated(given, unit, isSummed, partial)
      const there = new Set(expected.map(({ at }) => at))
      const found = rows.filter(([from]) => there.has(from))
      expect(found.map(([from, value, , isComplete]) => ({ at: from, value, isComplete }))).toEqual(
        expected.map((one) => ({ ...one, value: close(one.value) })),
      )
      for (const [from, , length] of rows) expect(length).toBe(periodOf(from, unit)[1])
      // No period between the first and the last is missing.
      for (const [i, [from, , length]] of rows.slice(0, -1).entries()) expect(rows[i + 1]![0]).toBe(from + length)
      for (const [from, value, , isComplete] of rows)
        if (!there.has(from)) expect([value, isComplete]).toEqual([null, 0])
    },
  )

  test.each([true, false])('values longer than the resampling unit become null (summed: %s)', async (isSummed) => {
    const hour = { unit: 'hour', partial: true } as const
    const days: Series['values'] = [
      [at('2025-10-24T22:00Z'), 50, 86_400],
      [at('2025-10-25T22:00Z'), 60, 90_000],
    ]
    const rows = await read(days, isSummed, hour)
    expect(rows.filter(([, value, , isComplete]) => value !== null || isComplete)).toEqual([])
    const months: Series['values'] = [[at('2025-09-30T22:00Z'), 70, 31 * 86_400 + 3600]]
    expect(await read(months, isSummed, { unit: 'day', partial: true })).toEqual([
      [at('2025-09-30T22:00Z'), null, 86_400, 0],
    ])
    expect((await read(days, isSummed, { unit: 'day', partial: true })).map(([, value]) => value)).toEqual([50, 60])

    // Shorter values of the same hour count.
    const mixed: Series['values'] = [
      [at('2025-10-24T22:00Z'), 4, 1800],
      [at('2025-10-24T22:30Z'), 8, 7200],
    ]
    expect(await read(mixed, isSummed, hour)).toEqual([[at('2025-10-24T22:00Z'), 4, 3600, 0]])
  })

  test('values resampled by hour equal observations_hourly', async () => {
    const given = values((when) => LACKING.some((one) => at(one) === when))
    const store = await filled({ id: 1, of: 8, values: given })
    const rows = await read(given, true, { unit: 'hour', partial: false })
    const expected = hours(store)
    const there = new Set((expected as { at: number }[]).map(({ at }) => at))
    expect(
      rows
        .filter(([from]) => there.has(from))
        .map(([from, value, , isComplete]) => ({ at: from, value: close(value), isComplete })),
    ).toEqual(expected)
  })
})
