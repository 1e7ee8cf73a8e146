import { describe, expect, test } from 'vitest'
import { INDICATORS } from '../../src/emulator/world/indicators.ts'
import { CONTENT_ROUTES, ROUTE_NAMES, routeOf } from '../../src/service/routes.ts'
import { emulate } from '../kit.ts'

const NOW = Date.UTC(2025, 10, 4, 12) / 1000

interface Value {
  readonly value: number
  readonly datetime: string
  readonly datetime_utc: string
  readonly tz_time: string
  readonly geo_id?: number
  readonly geo_ids?: number[]
}

async function open(options = {}) {
  const emulator = await emulate({ now: NOW, ...options })
  const get = async (target: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${emulator.url}${target}`, { headers: { 'x-api-key': emulator.key, ...headers } })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
  const values = async (target: string): Promise<Value[]> => (await get(target)).body.indicator.values
  return { emulator, get, values }
}
const day = (id: number, from: string, to: string, more = '') =>
  `/indicators/${id}?start_date=${from}T00:00&end_date=${to}T23:59${more}`

describe('the embedded service', () => {
  test.each(ROUTE_NAMES.flatMap((route) => ['es', 'en'].map((locale) => [route, locale] as const)))(
    '%s answers in %s',
    async (route, locale) => {
      const { get } = await open()
      const path = routeOf(route)
        .path.replace('{language}', 'es')
        .replace('{id}', { indicator: '600', offer_indicator: '25', widget: 'potencia' }[route as string] ?? '')
      const { status, headers, body } = await get(`${path}?locale=${locale}`)
      expect(status).toBe(200)
      expect(Object.keys(body)).toContain(routeOf(route).root)
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(headers.get('vary')).toBe('Accept-Encoding')
    },
  )

  test('has about sixty indicators, each with values of its own', async () => {
    const { get, values } = await open()
    const { body } = await get('/indicators')
    expect(body.indicators.length).toBe(body.meta.size)
    expect(INDICATORS.length).toBeGreaterThanOrEqual(58)
    expect(new Set(INDICATORS.map(({ id }) => id)).size).toBe(INDICATORS.length)
    for (const { id } of INDICATORS)
      expect((await values(day(id, '2025-11-02', '2025-11-02'))).length, String(id)).toBeGreaterThan(0)
  })

  test('has the 25-hour day with the fault of datetime_utc', async () => {
    const { values } = await open()
    const rows = await values(day(1001, '2021-10-31', '2021-10-31'))
    expect(rows).toHaveLength(125)
    expect(new Set(rows.map(({ tz_time }) => tz_time)).size).toBe(25)
    expect(new Set(rows.map(({ datetime }) => datetime)).size).toBe(25)
    expect(new Set(rows.map(({ datetime_utc }) => datetime_utc)).size).toBe(24)
  })

  test.each([
    ['2025-10-26', 100],
    ['2026-03-29', 92],
    ['2025-11-01', 96],
    ['2025-09-30', 24],
    ['2025-03-30', 23],
  ])('600 has on %s %i periods', async (date, count) => {
    const { values } = await open({ now: Date.UTC(2026, 5) / 1000 })
    expect(await values(day(600, date, date, '&geo_ids[]=3'))).toHaveLength(count)
  })

  test('sums to hours across a change of resolution, prices too', async () => {
    const { get, values } = await open()
    const { body } = await get(day(600, '2025-09-30', '2025-10-01', '&geo_ids[]=3'))
    expect(body.indicator.tiempo).toEqual([{ name: 'Hora', id: 223 }])
    expect(body.indicator.values).toHaveLength(48)
    const quarters = await values(day(600, '2025-10-01', '2025-10-01', '&geo_ids[]=3'))
    expect(body.indicator.values[24].value).toBeCloseTo(
      quarters.slice(0, 4).reduce((sum, { value }) => sum + value, 0),
      1,
    )
  })

  test('sums by default, averages when asked', async () => {
    const { values } = await open()
    const raw = await values(day(1293, '2025-11-01', '2025-11-01'))
    const sum = await values(day(1293, '2025-11-01', '2025-11-01', '&time_trunc=hour'))
    const average = await values(day(1293, '2025-11-01', '2025-11-01', '&time_trunc=hour&time_agg=avg'))
    expect([raw.length, sum.length, average.length]).toEqual([288, 24, 24])
    expect(sum[0]!.value / average[0]!.value).toBeCloseTo(12, 3)
  })

  test('groups by geo level', async () => {
    const { values } = await open()
    const rows = await values(day(10010, '2025-11-01', '2025-11-01', '&time_trunc=day&geo_agg=sum&geo_trunc=country'))
    expect(rows).toHaveLength(1)
    expect(rows[0]!.geo_ids).toEqual([3])
    expect(rows[0]!.geo_id).toBeUndefined()
  })

  test('includes the end, means today without dates, and one instant with datetime', async () => {
    const { values } = await open()
    expect(await values('/indicators/1739?start_date=2025-11-01T00:00:00Z&end_date=2025-11-01T02:00:00Z')).toHaveLength(
      3,
    )
    expect((await values('/indicators/1739'))[0]!.datetime).toBe('2025-11-04T00:00:00.000+01:00')
    expect(await values('/indicators/1739?datetime=2025-11-01T02:00:00Z')).toHaveLength(1)
  })

  test.each([
    ['/indicators/600?start_date=2025-02-30', 400],
    ['/indicators/600?time_agg=median', 400],
    ['/indicators/600?colour=red', 400],
    ['/indicators/600?geo_ids=3', 400],
    ['/es/glossaries?order=expires', 400],
    ['/indicators/424242', 404],
    ['/widgets/nothing', 404],
    ['/elsewhere', 404],
  ])('%s is %i', async (target, status) => expect((await (await open()).get(target)).status).toBe(status))

  test('a wrong key is 403 as JSON; quotes do not matter', async () => {
    const { emulator, get } = await open()
    expect(await get('/widgets', { 'x-api-key': 'no' })).toMatchObject({
      status: 403,
      body: { Status: 403, message: 'Forbidden' },
    })
    expect((await get('/widgets', { 'x-api-key': `"${emulator.key}"` })).status).toBe(200)
  })

  test('the same seed gives the same bytes, another one does not', async () => {
    const target = day(600, '2025-11-01', '2025-11-02')
    const bodies = await Promise.all(
      [1, 1, 2].map(async (seed) => JSON.stringify((await (await open({ seed })).get(target)).body)),
    )
    expect(bodies[0]).toBe(bodies[1])
    expect(bodies[0]).not.toBe(bodies[2])
  })

  test('values are published, then revised, as its clock moves', async () => {
    const { emulator, values } = await open()
    const tomorrow = day(600, '2025-11-05', '2025-11-05', '&geo_ids[]=3')
    expect(await values(tomorrow)).toHaveLength(0)
    emulator.setNow(NOW + 3 * 3600)
    expect(await values(tomorrow)).toHaveLength(96)
    const before = await values(day(551, '2025-11-04', '2025-11-04'))
    emulator.setNow(NOW + 40 * 3600)
    const after = await values(day(551, '2025-11-04', '2025-11-04'))
    expect(after).toHaveLength(288)
    expect(after.filter(({ value }, i) => before[i] && before[i].value !== value).length).toBeGreaterThan(20)
  })

  test('there is no sun at night, and prices fall below nothing in spring', async () => {
    const { values } = await open()
    const sun = await values(day(1295, '2025-06-01', '2025-06-01'))
    expect(sun[12]!.value).toBe(0)
    expect(Math.max(...sun.map(({ value }) => value))).toBeGreaterThan(8000)
    const spring = await values(day(600, '2025-03-15', '2025-05-31', '&geo_ids[]=3'))
    expect(Math.min(...spring.map(({ value }) => value))).toBeLessThan(0)
  })

  test('news expire as its clock moves', async () => {
    const { emulator, get } = await open()
    const ids = async () => ((await get('/es/news')).body.contents as { id: number }[]).map(({ id }) => id)
    const before = await ids()
    emulator.setNow(NOW + 60 * 86_400)
    const after = await ids()
    expect(before.filter((id) => !after.includes(id)).length).toBeGreaterThan(0)
    expect(after.filter((id) => !before.includes(id)).length).toBeGreaterThan(0)
  })

  test.each(CONTENT_ROUTES)('%s takes every filter', async (route) => {
    const { get } = await open()
    const count = async (query: string) => (await get(`/es/${route}?${query}`)).body.contents.length as number
    const all = await count('')
    expect((await count('sticky=true')) + (await count('sticky=false'))).toBe(all)
    for (const filter of ['taxonomy_terms[]=Mercados y precios', 'taxonomy_ids[]=156']) {
      expect(await count(filter)).toBeGreaterThan(0)
      expect(await count(filter)).toBeLessThan(all)
    }
    expect(await count('vocabulary_ids[]=20')).toBe(all)
    expect(await count('vocabularies[]=nothing')).toBe(0)
  })

  test('archives depend on the day', async () => {
    const { get } = await open()
    const count = async (date: string) =>
      (await get(`/archives?start_date=${date}T00:00:00%2B01:00&end_date=${date}T23:59:59%2B01:00`)).body.archives
        .length as number
    expect(await count('2025-10-20')).toBeGreaterThanOrEqual(40)
    expect(await count('2026-03-01')).toBeLessThan(20)
    expect((await get('/archives_json')).body.archives[0]).toHaveProperty('json_download')
  })

  test('half a million values in one answer', async () => {
    const { values } = await open()
    expect((await values(day(1293, '2020-11-01', '2025-10-31'))).length).toBe(1826 * 288)
  })
})
