import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkService } from '../../src/services/declared.ts'
import { ROUTES } from '../../src/services/routes.ts'
import { json, runCommand, serve, tempFolder } from '../kit.ts'
import { servePage } from '../page/site.ts'

/** A service that has little in common with that of the specification: other languages, paths, geos, indicators and key. */
const locale = { ...ROUTES.indicator.query.locale, values: ['pt', 'fr'] }
const DECLARED = {
  name: 'other',
  vendor: 'other-api',
  baseUrl: null,
  apiKey: { header: 'X-Other-Token', issued: { pattern: '[0-9]{20}', words: '20 digits' } },
  timeZone: 'Europe/Lisbon',
  locales: ['pt', 'fr'],
  probe: null,
  mainGeos: [21],
  wellKnown: { spotPrice: { indicator: 70, geo: 21 } },
  exampleTexts: { word: 'vento', term: 'Energia' },
  steps: { byNumber: { 9: 3600 }, byWord: {}, coarse: null, native: [9] },
  routes: {
    indicator: {
      ...ROUTES.indicator,
      path: '/measures/{id}',
      root: 'measure',
      query: { ...ROUTES.indicator.query, locale },
    },
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

/** Answers as that service would. A key in another header is none. */
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

let folder: string
let server: Awaited<ReturnType<typeof other>>
/** Runs a command; the service is named where a flag does it. */
const run = (args: readonly string[]) =>
  runCommand(folder, args, {
    INDICATOR_SYNC_BASE_URL: server.url,
    INDICATOR_SYNC_ALLOW_HTTP: '1',
    INDICATOR_SYNC_API_KEY: KEY,
    INDICATOR_SYNC_DATABASE: 'other.db',
  })
const OTHER = ['--service', './other.json']
/** What only the specification's service has. */
const FOREIGN = /\b(600|612|602|1293|544|551|1295|546|549|550|8741|precio)\b/

beforeEach(async () => {
  folder = tempFolder()
  server = await other()
  writeFileSync(join(folder, 'other.json'), JSON.stringify(DECLARED))
  writeFileSync(join(folder, 'job.yaml'), JOB)
  const { code, out, err } = await run(['sync', 'job.yaml', ...OTHER])
  expect({ code, out, err }).toMatchObject({ code: 0 })
})

describe('a second service is only its declaration', () => {
  test('it is called in its header, its languages and by its paths', () => {
    expect(server.calls.map(({ url }) => url!.replace(/start_date.*/, '…')).sort()).toEqual([
      ...['/indicators?locale=fr', '/indicators?locale=pt', '/measures/70?locale=pt&…'],
      ...['/pt/events?locale=pt', '/pt/news?locale=pt'],
    ])
    for (const { headers } of server.calls) {
      expect(headers).not.toHaveProperty('x-api-key')
      expect(headers.accept).toContain('vnd.other-api-v1')
    }
  })

  test('show, recipes and doctor speak of what it has', async () => {
    expect((await run(['show', '70', ...OTHER])).out).toMatch(/Norte/)
    // Without the service, the first geo is as good as another.
    expect((await run(['show', '70'])).out).toMatch(/Sul/)
    const answer = await run(['query', '--recipe', 'daily-average', ...OTHER, '--json'])
    expect(JSON.parse(answer.out)).toMatchObject([{ local_date: '2025-03-01', periods: 24, lowest: 21, highest: 23.3 }])
    expect(await run(['query', '--recipe', 'daily-average'])).toMatchObject({ code: 2 })
    const listed = await run(['query', '--recipes', ...OTHER])
    expect(listed.out).toMatch(/indicator=70 geo=21[\s\S]*demand=…[\s\S]*text=vento\*\s+locale=pt/)
    expect(listed.out).not.toMatch(FOREIGN)
    expect(listed.out).toMatch(/Run one: .* --indicator 70 /)
    expect((await run(['query', '--recipe', 'forecast-error', ...OTHER])).err).toMatch(/has no default for forecast/)
    expect((await run(['show', ...OTHER])).err).toMatch(/show 70 --last 7d/)
    expect((await run(['doctor', ...OTHER])).out).toMatch(/key +set \(from variable \S+\); never shown/)
    expect((await run(['doctor'])).out).toMatch(/not the 64 lowercase hexadecimal characters/)
    writeFileSync(join(folder, 'bad.yaml'), 'name: bad\nseries: [{ indicators: al, window: { last: 1d } }]\n')
    const refused = await run(['validate', 'bad.yaml', ...OTHER])
    expect(refused.out).toMatch(/legal: \[70, 2\], all, \{ match: vento, terms: \[Energia\], exclude: \[70\] \}/)
  })

  test('the page shows its geos, its texts in its languages, and its recipes', async () => {
    const service = checkService(DECLARED, 'test')
    const { url } = await servePage(join(folder, 'other.db'), { service })
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
        { name: 'indicator', value: '70' },
        { name: 'geo', value: '21' },
      ]),
    })
    // Where the service declares nothing, the reader is asked.
    const form = await (await fetch(`${url}/sql?recipe=forecast-error`)).text()
    expect(form.match(/name="p\.(\w+)"[^>]* required>/g)).toHaveLength(3)
    expect(await read('/sql.json?recipe=search')).toMatchObject({
      parameters: [
        { name: 'text', value: 'vento*' },
        { name: 'locale', value: 'pt' },
      ],
    })
  })

  test('what is published describes it: the page as files, and the metadata', async () => {
    const { code, err } = await run(['publish', 'copy.db', '--page', 'page', ...OTHER])
    expect(code, err).toBe(0)
    const series = readFileSync(join(folder, 'page/series/70.html'), 'utf8')
    expect(series).toMatch(/<h1>.*Preço do vento.*<\/h1>/s)
    expect(series).toContain('Norte')
    const { queries } = parse(readFileSync(join(folder, 'metadata.yaml'), 'utf8')).databases.copy
    expect(queries['daily-average'].description).toMatch(/indicator: 70 when empty; geo: 21 when empty/)
    expect(queries['daily-average'].sql).toContain("coalesce(nullif(:indicator, ''), 70)")
    expect(queries['forecast-error'].description).toMatch(/forecast: needed; real: needed; geo: needed; from: no limit/)
    expect(queries.search.description).toBe('text: vento* when empty; locale: pt when empty')
    for (const [name, { description }] of Object.entries<{ description: string }>(queries))
      expect(description, name).not.toMatch(FOREIGN)
  })
})
