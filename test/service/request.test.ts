import { describe, expect, expectTypeOf, test } from 'vitest'
import { buildRequest, formatDate, paramsWithoutWindow, requestFor, sentParams } from '../../src/service/request.ts'
import { type AnyParams, type Params, ROUTE_NAMES, ROUTES, type RouteName, routeOf } from '../../src/service/routes.ts'
import { SERVICES } from '../../src/service/services.ts'
import { InputError } from '../../src/util/errors.ts'
import type { Interval } from '../../src/util/time/interval.ts'

const AT = Date.UTC(2025, 9, 1, 10, 30) / 1000
const LEGAL: Record<string, unknown> = {
  language: 'es',
  id: 600,
  locale: 'en',
  datetime: AT,
  start_date: AT,
  end_date: AT + 60,
  date: AT,
  time_agg: 'average',
  time_trunc: 'fifteen_minutes',
  geo_agg: 'sum',
  geo_ids: [3, 8741],
  geo_trunc: 'electric_system',
  taxonomy_terms: ['Mercados y precios', 'a&b'],
  vocabularies: ['Área'],
  taxonomy_ids: [156],
  vocabulary_ids: ['20'],
  order: 'published',
  sticky: false,
  date_type: 'publicacion',
  widget_type: 'offer',
}
const build = (route: RouteName, params: object) => buildRequest(SERVICES.generic, route, params as Params<RouteName>)
const slots = (route: RouteName) =>
  Object.fromEntries(Object.keys(routeOf(route).slots).map((name) => [name, LEGAL[name]]))

describe('requests built from route declarations', () => {
  test.each(ROUTE_NAMES.flatMap((route) => Object.keys(routeOf(route).query).map((name) => [route, name] as const)))(
    'the route %s accepts the parameter %s',
    (route, name) => {
      const { target } = build(route, { ...slots(route), [name]: LEGAL[name] })
      const search = new URL(target, 'http://x').searchParams
      const value = LEGAL[name]
      if (Array.isArray(value)) expect(search.getAll(`${name}[]`)).toEqual(value.map(String))
      else expect(search.get(name)).toBe(typeof value === 'number' ? dateText(route) : String(value))
      function dateText(of: RouteName): string {
        const at = name === 'end_date' ? AT + 60 : AT
        if (of === 'indicator' || of === 'offer_indicator') return formatDate('utc', at, 'Europe/Madrid')
        return formatDate(of.startsWith('widget') ? 'spaced' : 'offset', at, 'Europe/Madrid')
      }
    },
  )

  test('the specification has eleven routes, one of them in version 2', () => {
    expect(ROUTE_NAMES).toHaveLength(11)
    expect(ROUTE_NAMES.filter((route) => routeOf(route).version === 2)).toEqual(['widget'])
  })

  test.each([
    ['utc', '2025-10-01T10:30:00Z', '2025-10-01T10%3A30%3A00Z', 'indicator', { id: 600 }],
    ['offset', '2025-10-01T12:30:00+02:00', '2025-10-01T12%3A30%3A00%2B02%3A00', 'archives', {}],
    ['spaced', '2025-10-01 12:30:00 +0200', '2025-10-01%2012%3A30%3A00%20%2B0200', 'widgets', {}],
  ] as const)('dates in the form %s are %s, encoded as %s', (form, text, wire, route, rest) => {
    expect(formatDate(form, AT, 'Europe/Madrid')).toBe(text)
    expect(build(route, { ...rest, start_date: AT }).target).toContain(`start_date=${wire}`)
  })

  test('the plus sign of a winter offset is encoded', () => {
    expect(build('archives', { start_date: Date.UTC(2025, 0, 1) / 1000 }).target).toBe(
      '/archives?start_date=2025-01-01T01%3A00%3A00%2B01%3A00',
    )
  })

  test.each([
    ['generic', 'indicators', 'application/json; application/vnd.service-api-v1+json'],
    ['generic', 'widget', 'application/json; application/vnd.service-api-v2+json'],
    ['esios', 'widgets', 'application/json; application/vnd.esios-api-v1+json'],
    ['esios', 'widget', 'application/json; application/vnd.esios-api-v2+json'],
  ] as const)('the profile %s requests %s with the Accept header %s', (service, route, accept) => {
    const { headers } = buildRequest(SERVICES[service], route, slots(route) as Params<RouteName>)
    expect(headers).toEqual({ Accept: accept, 'Content-Type': 'application/json' })
  })

  test('paths contain their language and parameters', () => {
    expect(build('news', { language: 'es' }).target).toBe('/es/news')
    expect(build('widget', { id: 'potencia' }).target).toBe('/widgets/potencia')
    expect(build('widget', { id: 7 }).target).toBe('/widgets/7')
  })

  test('zero is a valid number, and a list may be empty', () => {
    expect(build('indicator', { id: 0, geo_ids: [] }).target).toBe('/indicators/0')
    expect(build('widget', { id: 0 }).target).toBe('/widgets/0')
  })

  test('a route that the service does not have is refused with its name', () => {
    const service = { ...SERVICES.generic, routes: {} }
    expect(() => buildRequest(service, 'widgets', {})).toThrow('The service generic has no route widgets.')
    expect(() => buildRequest(service, 'widgets', {})).toThrow(expect.objectContaining({ code: 'unknown-route' }))
  })

  test('a window is sent up to the last second before its end', () => {
    const window = { from: AT, to: AT + 60 }
    expect(sentParams({ params: { id: 1 }, window })).toEqual({ id: 1, start_date: AT, end_date: AT + 59 })
    const call = { service: SERVICES.generic, route: 'indicator', params: { id: 1 }, window }
    expect(requestFor(call)).toEqual(build('indicator', { id: 1, start_date: AT, end_date: AT + 59 }))
  })

  test.each<[string, AnyParams, Interval | null]>([
    ['a window', { id: 1 }, { from: AT, to: AT + 60 }],
    ['a day by its date', { date: AT }, { from: AT, to: AT + 1 }],
    ['a range without a window, as widgets have', { id: 1, start_date: AT, end_date: AT + 59 }, null],
    ['neither', { id: 1 }, null],
  ])('sent parameters are converted back for %s', (_of, params, window) => {
    expect(paramsWithoutWindow(sentParams({ params, window }), window)).toEqual(params)
    if (window === null || params.date !== undefined) expect(sentParams({ params, window })).toEqual(params)
  })

  test('a refused request has an error code and names the route', () => {
    const refused = () => build('indicator', { id: 1, time_agg: 'median' })
    expect(refused).toThrow(expect.objectContaining({ code: 'illegal-parameter' }))
    expect(refused).toThrow(/^"median" is not a valid time_agg of route indicator; expected sum, average\.$/)
    const misspelt = () => build('widget', { id: 1, locales: 'es' } as never)
    expect(misspelt).toThrow(expect.objectContaining({ code: 'illegal-parameter' }))
    expect(misspelt).toThrow(
      /^"locales" is not a parameter of route widget; expected one of: id, locale, .*Did you mean "locale"\?$/,
    )
  })

  test('avg is sent as average', () => {
    expect(build('indicator', { id: 1, time_trunc: 'hour', time_agg: 'avg' }).target).toContain('time_agg=average')
  })

  test.each([
    ['indicator', { id: 1, time_agg: 'median' }, /expected sum, average/],
    ['indicator', { id: 1, time_trunc: 'hours' }, /Did you mean "hour"/],
    ['indicator', { id: 1, geoids: [3] }, /expected one of: id, locale, datetime.*Did you mean "geo_ids"/],
    ['indicator', { id: 1.5 }, /a whole number/],
    ['indicator', {}, /a whole number/],
    ['documentations', { language: 'es', order: 'expires' }, /expected published, updated, created\./],
    ['documentations', { language: 'en' }, /expected es/],
    ['archives', { start_date: 'today' }, /whole epoch seconds/],
    ['widget', { id: '../news' }, /a whole number or a name/],
    ['news', { language: 'es', sticky: 'yes' }, /true, false/],
    ['indicator', { id: 1, geo_ids: 3 }, /a list/],
    ['indicator', { id: -1 }, /a whole number/],
    ['indicator', { id: '600' }, /a whole number/],
    ['indicator', { id: 1, geo_ids: [3, ''] }, /a list/],
    ['indicator', { id: 1, geo_ids: [3, 1.5] }, /a list/],
    ['indicator', { id: 1, geo_ids: [3, true] }, /a list/],
    ['indicator', { id: 1, time_agg: 7 }, /expected sum, average/],
    ['indicator', { id: 1, locale: 'toString' }, /expected es, en/],
    ['widget', { id: -1 }, /a whole number or a name/],
    ['widget', { id: true }, /a whole number or a name/],
    ['widget', { id: 'a?b' }, /a whole number or a name/],
  ] as const)('the route %s refuses %o', (route, params, message) => {
    expect(() => build(route, params)).toThrow(InputError)
    expect(() => build(route, params)).toThrow(message)
  })
})

test('the types of request parameters follow from the route declarations', () => {
  expectTypeOf<Params<'indicator'>['id']>().toEqualTypeOf<number>()
  expectTypeOf<Params<'widget'>['id']>().toEqualTypeOf<number | string>()
  expectTypeOf<Params<'indicator'>['time_agg']>().toEqualTypeOf<'sum' | 'average' | undefined>()
  expectTypeOf<Params<'news'>['order']>().toEqualTypeOf<'published' | 'updated' | 'created' | 'expires' | undefined>()
  expectTypeOf<Params<'glossaries'>['order']>().toEqualTypeOf<'published' | 'updated' | 'created' | undefined>()
  expectTypeOf<Params<'archives'>['start_date']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Params<'news'>['sticky']>().toEqualTypeOf<boolean | undefined>()
  // @ts-expect-error a number is needed in the path
  const missing: Params<'indicator'> = {}
  // @ts-expect-error not a parameter of this route
  const foreign: Params<'archives'> = { date: 1 }
  expect([missing, foreign]).toHaveLength(2)
  expect(ROUTES.widget.version).toBe(2)
})
