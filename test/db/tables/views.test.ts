import { describe, expect, test } from 'vitest'
import { writeLanguage } from '../../../src/db/queries/referenceTables.ts'
import { readDimension } from '../../../src/lake/lakeRows.ts'
import { seriesUnits } from '../../../src/page/queries/names.ts'
import { readExportedSeries } from '../../../src/reports/exportQuestion.ts'
import { startOfDate } from '../../../src/util/time/zone.ts'
import { at, every, filled } from './handmade.ts'

const HEAD =
  'series_id kind indicator_id indicator_name time_trunc time_agg geo_agg geo_trunc unit geo_id geo_name'.split(' ')
const MOMENT = 'at at_utc at_local local_date step_s value fetched_at'.split(' ')
const TOTALS = 'count min max avg sum energy hours'.split(' ')
const COLUMNS = {
  observations: [...HEAD, ...MOMENT],
  latest: [...HEAD, ...MOMENT],
  observation_history: [...HEAD, ...MOMENT, 'valid_from', 'valid_to'],
  observations_hourly: [...HEAD, ...'at at_utc at_local local_date value is_complete'.split(' '), ...TOTALS],
  observations_daily: [...HEAD, 'at', 'local_date', ...TOTALS],
  observations_monthly: [...HEAD, 'at', 'local_month', ...TOTALS],
}

describe('views on values', () => {
  test.each(['Europe/Madrid', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Beirut', 'Pacific/Apia'])(
    'days and months begin at local midnight in %s',
    async (zone) => {
      const store = await filled({
        id: 1,
        zone,
        values: every('2011-12-01T00:30Z', '2012-12-31T00:00Z', 6 * 3600, (i) => i),
      })
      for (const view of ['observations_daily', 'observations_monthly'])
        for (const row of store.all(`select * from ${view}`) as Record<string, string>[])
          expect(row.at, JSON.stringify(row)).toBe(startOfDate(zone, row.local_date ?? `${row.local_month}-01`))
    },
  )

  test.each([
    'Europe/Madrid',
    'UTC',
    'Asia/Kolkata',
    'America/Sao_Paulo',
    'America/Havana',
    'Asia/Beirut',
    'Pacific/Apia',
  ])('every day appears exactly once, including the first and the last, in %s', async (zone) => {
    const store = await filled({
      id: 1,
      zone,
      values: [
        ...['1969-12-30T12:00Z', '1970-01-01T12:00Z', '1970-01-02T12:00Z'].map((from) => [at(from), 1, 3600] as const),
        ...every('2008-01-01T00:30Z', '2012-12-31T00:00Z', 24 * 3600, (i) => i),
        ...every('2099-12-01T12:00Z', '2100-02-01T12:00Z', 24 * 3600, (i) => i),
        [at('9999-12-30T12:00Z'), 1, 3600],
      ],
    })
    const days = 'printf("%04d-%02d-%02d", month / 12, month % 12 + 1, day)'.replaceAll('"', "'")
    expect(store.all('select geo_id, local_date from observations_daily')).toEqual(
      store.all(`select geo_id, ${days} as local_date from _day`),
    )
    expect(store.all('select * from observations_daily where series_id = 2')).toEqual([])
  })

  test.each(Object.entries(COLUMNS))('%s names the series of each row', async (view, columns) => {
    const store = await filled(
      { id: 1, values: every('2025-10-25T22:00Z', '2025-10-26T23:00Z', 3600, (i) => i) },
      { id: 2, trunc: 'hour', values: every('2025-10-25T22:00Z', '2025-10-26T23:00Z', 3600, () => 9_999) },
    )
    const all = store.all(`select * from ${view} where indicator_id = 7`) as Record<string, unknown>[]
    expect(Object.keys(all[0]!)).toEqual(columns)
    expect(all[0]).toMatchObject({ indicator_name: 'Demand', unit: 'MW', geo_name: 'Spain' })
    const native = store.all(
      `select * from ${view} where indicator_id = 7 and time_trunc is null and geo_agg is null`,
    ) as Record<string, unknown>[]
    expect(native.length).toBe(all.length / 2)
    expect(new Set(native.map(({ series_id }) => series_id))).toEqual(new Set([1]))
    for (const row of native)
      expect(row.at).toBe(
        'at_utc' in row
          ? at(String(row.at_utc))
          : startOfDate('Europe/Madrid', String(row.local_date ?? `${row.local_month}-01`)),
      )
  })

  test('a daily view aggregates days of 23 and 25 hours, mixed steps and nulls by duration', async () => {
    const store = await filled({
      id: 1,
      values: [
        ...every('2025-03-29T23:00Z', '2025-03-30T22:00Z', 3600, () => 100),
        // Twelve hours at 10, then thirteen hours of quarters at 40 with one null.
        ...every('2025-10-25T22:00Z', '2025-10-26T10:00Z', 3600, () => 10),
        ...every('2025-10-26T10:00Z', '2025-10-26T23:00Z', 900, (i) => (i === 0 ? null : -40)),
      ],
    })
    const hours = 12 + 12.75
    expect(store.all('select local_date, count, avg, energy, hours from observations_daily order by 1')).toEqual([
      { local_date: '2025-03-30', count: 23, avg: 100, energy: 2300, hours: 23 },
      {
        local_date: '2025-10-26',
        count: 12 + 51,
        avg: expect.closeTo((12 * 10 - 12.75 * 40) / hours, 9),
        energy: 12 * 10 - 12.75 * 40,
        hours,
      },
    ])
  })

  test.each([
    { values: 'native powers', of: 7, energy: 600 },
    { values: 'powers averaged over time', of: 7, trunc: 'hour', energy: 600 },
    { values: 'powers summed over time', of: 7, trunc: 'hour', agg: 'sum', energy: null },
    { values: 'energies of a period', of: 8, energy: 600, mixed: 12 * 20 + 48 * 30 },
    { values: 'energies summed over time', of: 8, trunc: 'hour', agg: 'sum', energy: 600, mixed: 12 * 20 + 48 * 30 },
    { values: 'energies averaged over time', of: 8, trunc: 'hour', energy: null },
    { values: 'prices', of: 9, energy: null },
    { values: 'values of an unknown magnitude', of: 10, energy: null },
  ])(
    'days and months of $values have the energy $energy',
    async ({ values: _, energy, mixed: ofMixed = energy, ...series }) => {
      const even = every('2025-09-29T22:00Z', '2025-09-30T22:00Z', 3600, () => 25)
      const mixed = [
        ...every('2025-09-30T22:00Z', '2025-10-01T10:00Z', 3600, () => 20),
        ...every('2025-10-01T10:00Z', '2025-10-01T22:00Z', 900, () => 30),
      ]
      const store = await filled({ id: 1, ...series, values: [...even, ...mixed] })
      for (const view of ['observations_daily', 'observations_monthly'])
        expect(store.all(`select avg, energy from ${view} order by at`)).toEqual([
          { avg: 25, energy },
          { avg: 25, energy: ofMixed },
        ])
    },
  )

  test('names use the chosen language, then English, then Spanish, then any other language', async () => {
    const store = await filled({ id: 1, values: every('2025-09-29T22:00Z', '2025-09-30T22:00Z', 3600, () => 25) })
    const expectNames = (indicator_name: string, geo_name: string) => {
      for (const view of Object.keys(COLUMNS))
        expect(store.all(`select distinct indicator_name, geo_name from ${view}`)).toEqual([
          { indicator_name, geo_name },
        ])
    }
    expectNames('Demand', 'Spain')
    await writeLanguage(store.kysely, 'ca')
    expectNames('Demanda', 'Spain')
    await writeLanguage(store.kysely, 'es')
    expectNames('La demanda', 'Spain')
    store.run(`delete from indicator_text where locale in ('en', 'es')`, [])
    store.run(`delete from geo_text where locale = 'en'`, [])
    expectNames('Demanda', 'Espagne')
  })

  test.each([
    { of: 7, unit: 'MW' },
    { of: 8, unit: 'MWh' },
    { of: 9, unit: '€/MWh' },
    { of: 10, unit: null },
    { of: 11, unit: 'Temperatura' },
  ])('the unit of indicator $of is $unit: a known unit, else the name of the quantity', async ({ of, unit }) => {
    const store = await filled({ id: 1, of, values: every('2025-09-29T22:00Z', '2025-09-30T22:00Z', 3600, () => 25) })
    for (const view of Object.keys(COLUMNS)) expect(store.all(`select distinct unit from ${view}`)).toEqual([{ unit }])
  })

  test.each([
    { of: 7, agg: 'sum', unit: 'sum of MW' },
    { of: 7, agg: 'average', unit: 'MW' },
    { of: 8, agg: 'sum', unit: 'MWh' },
    { of: 9, agg: 'sum', unit: 'sum of €/MWh' },
    { of: 10, agg: 'sum', unit: null },
    { of: 11, agg: 'sum', unit: 'sum of Temperatura' },
  ])('the unit of the time aggregation $agg of indicator $of is $unit', async ({ of, agg, unit }) => {
    const values = every('2025-09-29T22:00Z', '2025-09-30T22:00Z', 3600, () => 25)
    const store = await filled({ id: 1, of, trunc: 'hour', agg, values })
    for (const view of Object.keys(COLUMNS)) expect(store.all(`select distinct unit from ${view}`)).toEqual([{ unit }])
    const [series] = await readExportedSeries(store, { indicators: [of], geos: [], from: 0, to: 1, asOf: null })
    expect(series!.unit).toBe(unit)
    expect((await readDimension(store, 'series'))[0]![4]).toBe(unit)
    expect((await seriesUnits({ store, languages: ['en'] }, [1])).get(1)).toBe(unit)
  })

  test('every known unit has a source and says whether it is assumed', async () => {
    const store = await filled()
    const rows = store.all('select id, unit, measure, source, assumed from magnitude order by id')
    expect(rows).toMatchObject([
      { id: 13, unit: 'MWh', measure: 'energy', assumed: 0 },
      { id: 20, unit: 'MW', measure: 'power', assumed: 1 },
      { id: 23, unit: '€/MWh', measure: 'price', assumed: 0 },
    ])
    for (const { source } of rows as { source: string }[]) expect(source).toMatch(/^Id/)
  })

  test('days and months as native periods have their real length and belong to their start', async () => {
    const months = ['2025-01-31T23:00Z', '2025-02-28T23:00Z', '2025-03-31T22:00Z', '2025-04-30T22:00Z'].map(at)
    const store = await filled({
      id: 1,
      values: months.slice(0, 3).map((from, i) => [from, (i + 1) * 10, months[i + 1]! - from] as const),
    })
    expect(store.all('select local_month, count, avg, energy, hours from observations_monthly order by 1')).toEqual([
      { local_month: '2025-02', count: 1, avg: 10, energy: 6_720, hours: 672 },
      { local_month: '2025-03', count: 1, avg: 20, energy: 20 * 743, hours: 743 },
      { local_month: '2025-04', count: 1, avg: 30, energy: 30 * 720, hours: 720 },
    ])
    expect(store.all('select local_date from observations_daily order by 1')).toEqual([
      { local_date: '2025-02-01' },
      { local_date: '2025-03-01' },
      { local_date: '2025-04-01' },
    ])
    const [total] = store.all('select sum(energy) / sum(hours) as avg from observations_monthly') as { avg: number }[]
    expect(total!.avg).toBeCloseTo((10 * 672 + 20 * 743 + 30 * 720) / (672 + 743 + 720), 9)
  })

  test('local times use the zone of the series, with half-hour changes and negative offsets', async () => {
    const store = await filled(
      {
        id: 1,
        zone: 'Australia/Lord_Howe',
        values: [
          [at('2025-04-05T14:45Z'), 1, 900],
          [at('2025-04-05T15:15Z'), 2, 900],
        ],
      },
      { id: 2, trunc: 'hour', zone: 'America/St_Johns', values: [[at('2025-07-01T02:00Z'), 3, 3600]] },
    )
    expect(store.all('select at_local, local_date from observations order by at')).toEqual([
      { at_local: '2025-04-06T01:45:00+11:00', local_date: '2025-04-06' },
      { at_local: '2025-04-06T01:45:00+10:30', local_date: '2025-04-06' },
      { at_local: '2025-06-30T23:30:00-02:30', local_date: '2025-06-30' },
    ])
  })
})
