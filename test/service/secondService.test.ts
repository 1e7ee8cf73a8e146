import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { prepareRecipe } from '../../src/cli/statements/prepareRecipe.ts'
import { findMistakes } from '../../src/job/read.ts'
import { recipesFor } from '../../src/reports/recipes/recipes.ts'
import { ROUTES } from '../../src/service/routes.ts'
import type { Service } from '../../src/service/service.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { WellKnown } from '../../src/service/wellKnown.ts'
import { servePage } from '../page/site.ts'
import { json, runJob, serve, tempFolder } from '../support/kit.ts'
import { openReader, openStore } from '../support/testStore.ts'

/** No topic has an indicator. */
const NOTHING_KNOWN = Object.fromEntries(
  Object.keys(SERVICES.generic.wellKnown).map((name) => [name, { indicator: null, geo: null }]),
) as unknown as WellKnown

/** A service that differs from the specification in languages, paths, geos, indicators and key. */
const locale = { ...ROUTES.indicator.query.locale, values: ['pt', 'fr'] }
const service: Service = {
  ...SERVICES.generic,
  name: 'other',
  vendor: 'other-api',
  apiKey: { header: 'X-Other-Token', issued: { pattern: '[0-9]{20}', words: '20 digits' } },
  timeZone: 'Europe/Lisbon',
  locales: ['pt', 'fr'],
  probe: null,
  mainGeos: [21],
  wellKnown: { ...NOTHING_KNOWN, spotPrice: { indicator: 70, geo: 21 } },
  exampleTexts: { word: 'vento', term: 'Energia' },
  steps: { byNumber: { 9: 3600 }, byWord: {}, coarse: null, native: [9] },
  routes: {
    indicators: { ...ROUTES.indicators, query: { ...ROUTES.indicators.query, locale } },
    indicator: {
      ...ROUTES.indicator,
      path: '/measures/{id}',
      root: 'measure',
      query: { ...ROUTES.indicator.query, locale },
    },
    news: { ...ROUTES.news, slots: { language: locale }, query: { ...ROUTES.news.query, locale } },
    events: {
      ...ROUTES.news,
      path: '/{language}/events',
      item: 'event',
      slots: { language: locale },
      query: { ...ROUTES.news.query, locale },
    },
  },
}
const KEY = '12345678901234567890'
const JOB = `name: other
pace: { perSecond: 50 }
locales: [pt, fr]
catalogue: true
series:
  - { indicators: [70], window: { from: 2025-03-01, to: 2025-03-02 } }
content:
  - { kinds: [events, news], locales: [pt] }
`
const NAMES: Readonly<Record<string, string>> = { pt: 'Preço do vento', fr: 'Le prix du vent' }
const GEOS = [
  { geo_id: 20, geo_name: 'Sul' },
  { geo_id: 21, geo_name: 'Norte' },
]

/** Starts that service, which requires the key in its own header. */
const other = () =>
  serve((request, response) => {
    if (request.headers['x-other-token'] !== KEY) return json(response, { message: 'Forbidden' }, 403)
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    const name = NAMES[searchParams.get('locale')!]
    const indicator = { id: 70, name, short_name: name }
    const times = Array.from({ length: 24 }, (_, hour) => `2025-03-01T${String(hour).padStart(2, '0')}:00:00`)
    const values = GEOS.flatMap((geo) =>
      times.map((time, hour) => ({
        value: geo.geo_id + hour / 10,
        datetime: `${time}.000+00:00`,
        datetime_utc: `${time}Z`,
        tz_time: `${time}.000Z`,
        ...geo,
      })),
    )
    const tiempo = [{ id: 9, name: 'Rato' }]
    const event = { id: 5, title: 'Uma reunião', published_status: 'published' }
    if (pathname === '/indicators') return json(response, { indicators: [{ ...indicator, description: '' }] })
    if (pathname === '/measures/70')
      return json(response, { measure: { ...indicator, tiempo, magnitud: [], geos: GEOS, values } })
    const isEvents = pathname === '/pt/events'
    return json(response, { contents: isEvents ? [event] : [], meta: { size: isEvents ? 1 : 0 } })
  })

let file: string
let server: Awaited<ReturnType<typeof other>>

beforeEach(async () => {
  file = join(tempFolder(), 'other.db')
  server = await other()
  const store = await openStore(file)
  expect((await runJob(store, { url: server.url, key: KEY }, JOB, { service })).outcome).toBe('done')
  await store.close()
})

describe('a service defined by a library user', () => {
  test('requests use the header, languages and paths of the service', () => {
    expect(server.calls.map(({ url }) => url!.replace(/start_date.*/, '…')).sort()).toEqual([
      ...['/indicators?locale=fr', '/indicators?locale=pt', '/measures/70?locale=pt&…'],
      ...['/pt/events?locale=pt', '/pt/news?locale=pt'],
    ])
    for (const { headers } of server.calls) {
      expect(headers).not.toHaveProperty('x-api-key')
      expect(headers.accept).toContain('vnd.other-api-v1')
    }
  })

  test('recipes and messages use indicators and words of the service', async () => {
    const reader = openReader(file)
    const recipes = recipesFor(service)
    const find = (name: string) => recipes.find((one) => one.name === name)!
    const prepared = (name: string) => prepareRecipe(reader, find(name), {}, service, Date.now() / 1000)
    const { parameters } = await prepared('daily-average')
    expect([...reader.rows(find('daily-average').sql, parameters)][0]).toEqual(
      expect.arrayContaining(['2025-03-01', 24, 21, 23.3]),
    )
    await expect(prepared('forecast-error')).rejects.toThrow(/has no default for parameter forecast/)
    await reader.close()
    expect(findMistakes('name: bad\nseries: [{ indicators: al, window: { last: 1d } }]\n', 'x', service)).toEqual([
      expect.objectContaining({
        message: expect.stringContaining('expected [70, 2], all, { match: vento, terms: [Energia], exclude: [70] }'),
      }),
    ])
  })

  test('the page shows geos, texts and recipes of the service', async () => {
    const { url } = await servePage(file, { service })
    const read = async (path: string) => (await fetch(`${url}${path}`)).json()
    expect(await read('/series/70.json')).toMatchObject({
      dataset: { name: 'Preço do vento', geo: { id: 21, name: 'Norte' } },
    })
    expect(await read('/indicators.json')).toMatchObject({ indicators: [{ id: 70, name: 'Preço do vento' }] })
    expect(await read('/texts.json')).toMatchObject({
      kind: 'event',
      route: 'events',
      texts: [{ title: 'Uma reunião' }],
    })
    expect(await read('/sql.json?recipe=daily-average')).toMatchObject({
      parameters: expect.arrayContaining([
        { name: 'indicator', value: '70', type: 'indicator' },
        { name: 'geo', value: '21', type: 'geo' },
      ]),
    })
    // Without a declaration of the service, the user enters it.
    const form = await (await fetch(`${url}/sql?recipe=forecast-error`)).text()
    expect(form.match(/name="p\.(\w+)"[^>]* required>/g)).toHaveLength(3)
  })
})
