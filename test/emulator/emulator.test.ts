import { describe, expect, test } from 'vitest'
import { INDICATORS } from '../../src/emulator/world/indicators.ts'
import { CONTENT_ROUTES, ROUTE_NAMES, routeOf } from '../../src/service/routes.ts'
import { emulate } from '../support/kit.ts'

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
    'the route %s returns a response in %s',
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

  test('the emulator has about sixty indicators, each with its own values', async () => {
    const { get, values } = await open()
    const { body } = await get('/indicators')
    expect(body.indicators.length).toBe(body.meta.size)
    expect(INDICATORS.length).toBeGreaterThanOrEqual(58)
    expect(new Set(INDICATORS.map(({ id }) => id)).size).toBe(INDICATORS.length)
    for (const { id } of INDICATORS)
      expect((await values(day(id, '2025-11-02', '2025-11-02'))).length, String(id)).toBeGreaterThan(0)
  })

  test('values are summed by default and averaged on request', async () => {
    const { values } = await open()
    const raw = await values(day(1293, '2025-11-01', '2025-11-01'))
    const sum = await values(day(1293, '2025-11-01', '2025-11-01', '&time_trunc=hour'))
    const average = await values(day(1293, '2025-11-01', '2025-11-01', '&time_trunc=hour&time_agg=avg'))
    expect([raw.length, sum.length, average.length]).toEqual([288, 24, 24])
    expect(sum[0]!.value / average[0]!.value).toBeCloseTo(12, 3)
  })

  test('equal seeds give equal bytes, and different seeds different ones', async () => {
    const target = day(600, '2025-11-01', '2025-11-02')
    const bodies = await Promise.all(
      [1, 1, 2].map(async (seed) => JSON.stringify((await (await open({ seed })).get(target)).body)),
    )
    expect(bodies[0]).toBe(bodies[1])
    expect(bodies[0]).not.toBe(bodies[2])
  })

  test.each(CONTENT_ROUTES)('%s supports every filter', async (route) => {
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
})
