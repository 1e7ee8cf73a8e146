import { expect, test } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/startEmulator.ts'
import type { Script } from '../../src/emulator/world/script.ts'
import { emulate } from '../support/kit.ts'

const HOUR = 3_600
const at = (text: string): number => Date.parse(text) / 1000
const NOW = at('2025-11-04T12:00:00Z')
const DAY_1 = at('2025-11-01T00:00:00+01:00')
const DAY_2 = at('2025-11-02T00:00:00+01:00')
const DAY_3 = at('2025-11-03T00:00:00+01:00')
const HOURLY: Script = {
  id: 9001,
  geos: [3, 8741],
  resolutions: [{ from: at('2025-10-01T00:00:00+02:00'), every: HOUR }],
}

interface Value {
  readonly value: number
  readonly tz_time: string
  readonly geo_id: number
}
interface Series {
  readonly tiempo: readonly [{ readonly name: string; readonly id: number }]
  readonly geos: readonly { readonly geo_id: number }[]
  readonly values_updated_at: string | null
  readonly values: readonly Value[]
}

async function open(script: Script, options: EmulatorOptions = {}) {
  const emulator = await emulate({ now: NOW, scripts: [script], ...options })
  const get = (target: string) => fetch(`${emulator.url}${target}`, { headers: { 'x-api-key': emulator.key } })
  const days = async (from: string, to = from, more = ''): Promise<Series> => {
    const response = await get(`/indicators/${script.id}?start_date=${from}T00:00&end_date=${to}T23:59${more}`)
    expect(response.status).toBe(200)
    return ((await response.json()) as { indicator: Series }).indicator
  }
  return { emulator, get, days }
}

const instants = (series: Series): number[] => [...new Set(series.values.map(({ tz_time }) => at(tz_time)))]
const steps = (series: Series): number[] => [
  ...new Set(instants(series).map((one, i, all) => (all[i + 1] ?? Number.NaN) - one)),
]

test('a window across several changes of resolution returns hourly sums', async () => {
  const { days } = await open({
    ...HOURLY,
    resolutions: [
      { from: DAY_1, every: HOUR },
      { from: DAY_2, every: 900 },
      { from: DAY_3, every: 300 },
    ],
  })
  const hours = await days('2025-11-01')
  const quarters = await days('2025-11-02')
  const fives = await days('2025-11-03')
  expect([hours, quarters, fives].map(({ tiempo, values }) => [tiempo[0].id, values.length / 2])).toEqual([
    [4, 24],
    [218, 96],
    [222, 288],
  ])
  const whole = await days('2025-11-01', '2025-11-03')
  expect(whole.tiempo).toEqual([{ id: 223, name: 'Hora' }])
  expect(whole.values).toHaveLength(3 * 24 * 2)
  const sum = (values: readonly Value[]) => values.reduce((total, { value }) => total + value, 0)
  expect(whole.values.slice(0, 48)).toEqual(hours.values)
  expect(sum(whole.values.slice(48, 96))).toBeCloseTo(sum(quarters.values), 1)
  expect(sum(whole.values.slice(96))).toBeCloseTo(sum(fives.values), 1)
})

test('a change of resolution has no effect until its later values are published', async () => {
  const { days, emulator } = await open({
    ...HOURLY,
    resolutions: [
      { from: DAY_1, every: HOUR },
      { from: DAY_2, every: 900 },
    ],
    actions: [{ do: 'publish', at: NOW + 60, from: DAY_2, to: DAY_3 }],
  })
  expect((await days('2025-11-01', '2025-11-02')).tiempo).toEqual([{ id: 4, name: 'Hora' }])
  emulator.setNow(NOW + 60)
  expect((await days('2025-11-01', '2025-11-02')).tiempo).toEqual([{ id: 223, name: 'Hora' }])
})

test('values are published, revised, withdrawn and republished at their instants, for their geos', async () => {
  const { days, emulator } = await open({
    ...HOURLY,
    actions: [
      { do: 'publish', at: NOW + 100, from: DAY_1, to: DAY_1 + HOUR },
      { do: 'revise', at: NOW + 200, from: DAY_1, to: DAY_1 + 2 * HOUR, geos: [3], by: 5 },
      { do: 'withdraw', at: NOW + 300, from: DAY_1, to: DAY_2, geos: [8741] },
      { do: 'publish', at: NOW + 400, from: DAY_1, to: DAY_2, geos: [8741] },
    ],
  })
  const seen: Series[] = []
  for (const seconds of [0, 100, 200, 300, 400]) {
    emulator.setNow(NOW + seconds)
    seen.push(await days('2025-11-01'))
  }
  expect(seen.map(({ values }) => values.length)).toEqual([46, 48, 48, 24, 48])
  const changed = seen[2]!.values.flatMap(({ value }, i) => Math.round((value - seen[1]!.values[i]!.value) * 100) / 100)
  expect(changed.filter(Boolean)).toEqual([5, 5])
  expect(seen[3]!.geos).toEqual([{ geo_id: 3, geo_name: 'España' }])
  expect(seen.map(({ values_updated_at }) => at(values_updated_at!))).toEqual([
    DAY_2 - HOUR,
    ...[100, 200, 300, 400].map((seconds) => NOW + seconds),
  ])
})

test('history changes its resolution at the scripted instant', async () => {
  const { days, emulator } = await open({
    ...HOURLY,
    actions: [{ do: 'resolve', at: NOW + 60, resolutions: [{ from: DAY_1, every: 900, tiempo: 77 }] }],
  })
  expect((await days('2025-11-01')).values).toHaveLength(48)
  emulator.setNow(NOW + 60)
  const after = await days('2025-11-01')
  expect([after.tiempo[0].id, after.values.length]).toEqual([77, 192])
})

test.each([
  ['day', '2025-10-20', '2025-10-31', [86_400, 90_000]],
  ['month', '2025-01-01', '2025-10-31', [28, 29, 30, 31]],
  ['irregular', '2025-11-01', '2025-11-01', []],
] as const)('a series can have %s periods', async (every, from, to, lengths) => {
  const { days } = await open({
    ...HOURLY,
    geos: [3],
    resolutions: [{ from: at('2025-01-01T00:00:00+01:00'), every, tiempo: 42 }],
  })
  const series = await days(from, to)
  expect(series.tiempo[0].id).toBe(42)
  expect(series.values.length).toBeGreaterThan(5)
  for (const step of steps(series).filter((step) => !Number.isNaN(step)))
    if (every === 'day') expect(lengths).toContain(step)
    else if (every === 'month') expect(lengths).toContain(Math.round(step / 86_400))
  if (every === 'irregular') expect(steps(series).length).toBeGreaterThan(5)
  if (every === 'day') expect(steps(series)).toContain(90_000)
})

test('a period is published after its lag, and an empty reply names the scripted resolution', async () => {
  const { days } = await open({ ...HOURLY, geos: [3], lag: 6 * HOUR, emptyTiempo: 223 })
  const today = await days('2025-11-04')
  expect(instants(today).at(-1)).toBe(NOW - 6 * HOUR)
  expect(await days('2025-11-05')).toMatchObject({
    tiempo: [{ id: 223 }],
    geos: [],
    values: [],
    values_updated_at: null,
  })
})

test('a window above the limit of days times geos returns 504, a smaller one 200', async () => {
  const { get } = await open(HOURLY, { geoDays: 20 })
  const planned = async (more: string) =>
    (await get(`/indicators/9001?start_date=2025-10-01T00:00&end_date=${more}`)).status
  expect(await planned('2025-10-10T23:59')).toBe(200)
  expect(await planned('2025-10-11T23:59')).toBe(504)
  expect(await planned('2025-10-11T23:59&geo_ids[]=3')).toBe(200)
  expect(await planned('2025-10-11T23:59&time_trunc=month&time_agg=average')).toBe(504)
})

test.each([
  '/indicators/1293?start_date=0002-01-01&end_date=9999-12-31',
  '/indicators/1293?start_date=0002-01-01&end_date=9999-12-31&time_trunc=year&time_agg=average',
  '/indicators/9001?start_date=0002-01-01&end_date=9999-12-31',
  '/offer_indicators/25?start_date=0002-01-01&end_date=9999-12-31',
  '/archives?start_date=0002-01-01&end_date=9999-12-31',
  '/archives?start_date=2025-01-01&end_date=9999-12-31&date_type=publicacion',
  '/archives_json?start_date=0002-01-01&end_date=9999-12-31',
  '/widgets/1?start_date=0002-01-01&end_date=9999-12-31',
])('%s over 9,998 years returns a small response, and the emulator remains responsive', async (target) => {
  const { get, emulator } = await open({ ...HOURLY, resolutions: [{ from: -6e10, every: 1 }], lag: -3e11 })
  for (const now of ['2025-11-04T12:00:00Z', '9998-01-01T00:00:00Z']) {
    emulator.setNow(at(now))
    const response = await get(target)
    expect([200, 504]).toContain(response.status)
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(1e8)
    expect((await get('/widgets')).status).toBe(200)
  }
})

test('a fault applies to one indicator, and removes values, a geo, or validity', async () => {
  const { emulator, days } = await open({ ...HOURLY }, { faults: [{ id: 9001, rows: 'geo-missing' }] })
  expect((await days('2025-11-01')).geos).toEqual([{ geo_id: 3, geo_name: 'España' }])
  emulator.setFaults([{ id: 9001, rows: 'none' }])
  expect(await days('2025-11-01')).toMatchObject({ geos: [], values: [], values_updated_at: null })
  emulator.setFaults([{ id: 9001, rows: 'garbage' }])
  expect((await days('2025-11-01')).values[0]).toMatchObject({ datetime: 'yesterday', tz_time: null })
  emulator.setFaults([{ id: 9001, body: 'other-id' }])
  expect(await days('2025-11-01')).toMatchObject({ id: 9002 })
  emulator.setFaults([{ id: 9002, status: 500 }])
  expect((await days('2025-11-01')).values).toHaveLength(48)
})
