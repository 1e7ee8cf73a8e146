import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EMPTY_STATE } from '../../src/job/plannerState.ts'
import { readJob } from '../../src/job/read.ts'
import { readTextPage } from '../../src/page/queries/texts/text.ts'
import { readTexts } from '../../src/page/queries/texts/texts.ts'
import { plan } from '../../src/plan/plan.ts'
import { recipesOf } from '../../src/products/recipes/recipes.ts'
import { searchItems } from '../../src/products/search.ts'
import { checkService } from '../../src/services/declared.ts'
import { buildRequest } from '../../src/services/request.ts'
import { ROUTES } from '../../src/services/routes.ts'
import { SERVICES, type Service } from '../../src/services/services.ts'
import { sync } from '../../src/sync.ts'
import { json, runCommand, serve, tempFolder, tempStore } from '../kit.ts'

/** A route that the specification does not have, of a shape that it has: one row. */
const events = { ...ROUTES.news, path: '/{language}/events', item: 'event', about: 'Events.' }
/** The route of indicators with other steps to group by. */
const groupedBy = (words: {
  readonly values: readonly string[]
  readonly aliases: Readonly<Record<string, string>>
}) => ({
  ...ROUTES.indicator,
  query: { ...ROUTES.indicator.query, time_trunc: { kind: 'choice', ...words } },
})
const DECLARED = {
  name: 'more',
  vendor: 'more-api',
  baseUrl: null,
  timeZone: 'Europe/Lisbon',
  routes: { events },
}
const service: Service = checkService(DECLARED, 'test')
const JOB = 'name: one\npace: { perSecond: 50 }\ncontent:\n  - { kinds: [events], locales: [es] }\n'
const ANSWER = { contents: [{ id: 7, title: 'A meeting', published_status: 'published' }], meta: { size: 1 } }

describe('a route of a known shape is one row of a service', () => {
  test('its request is built, and its parameters are checked', () => {
    const route = 'events'
    const params = { language: 'es', order: 'expires' }
    expect(buildRequest(service, route, params)).toMatchObject({
      target: '/es/events?order=expires',
      headers: { Accept: 'application/json; application/vnd.more-api-v1+json' },
    })
    expect(() => buildRequest(service, route, { language: 'es', order: 'x' })).toThrow(/legal: published/)
    expect(() => buildRequest(SERVICES.generic, route, params)).toThrow(/no route events/)
  })

  test('a job names it, the plan asks it, and what comes is loaded', async () => {
    const job = readJob(JOB, 'job.yaml', undefined, service)
    expect(() => readJob(JOB, 'job.yaml')).toThrow(/"events" is not legal; legal: documentations/)
    const now = Date.parse('2025-11-04T12:00:00Z')
    const planned = [...plan({ job, service, plannerState: EMPTY_STATE, now: now / 1000, options: {} })]
    expect(planned.map(({ request }) => request.target)).toEqual(['/es/events?locale=es'])
    const server = await serve((_request, response) => json(response, ANSWER))
    const store = await tempStore()
    const signal = new AbortController().signal
    const context = {
      store,
      service,
      baseUrl: server.url,
      key: 'k'.repeat(64),
      version: 'test',
      now: () => now,
      signal,
    }
    expect((await sync(context, job)).outcome).toBe('done')
    expect(store.all('select kind, id, locale, title from content_text')).toEqual([
      { kind: 'event', id: 7, locale: 'es', title: 'A meeting' },
    ])
    // Readers find it without another word.
    expect(await searchItems(store, 'meeting', ['content'])).toMatchObject([
      { kind: 'event', id: 7, name: 'A meeting' },
    ])
    const languages = ['es']
    expect(await readTexts({ store, service, languages }, 'event', 1)).toMatchObject({
      kind: 'event',
      texts: [{ id: 7 }],
    })
    const current = { languages, version: null, against: null }
    expect(await readTextPage(store, 'event', 7, current)).toMatchObject({ kind: 'event', title: 'A meeting' })
    // A job means the days and the language of its service.
    expect(job).toMatchObject({ timeZone: 'Europe/Lisbon', locales: ['es'] })
  })

  test('a job has the words and languages of its service', () => {
    const { indicator, news } = ROUTES
    const time_trunc = { ...indicator.query.time_trunc, values: ['month', 'hour'], aliases: { monthly: 'month' } }
    const geo_agg = { ...indicator.query.geo_agg, values: ['median'], aliases: {} }
    const routes = {
      indicator: { ...indicator, query: { ...indicator.query, time_trunc, geo_agg } },
      news: { ...news, query: { ...news.query, order: { ...news.query.order, values: ['published', 'read'] } } },
    }
    const other = checkService({ ...DECLARED, routes, locales: ['en'] }, 'test')
    const series = (more: string) =>
      `name: one\nseries:\n  - { indicators: [600], window: { last: 7d }, timeAgg: avg, ${more} }\n`
    const { series: entries } = readJob(series('timeTrunc: monthly'), 'job.yaml', undefined, other)
    expect(entries).toMatchObject([{ timeTrunc: 'month', timeAgg: 'average', locale: 'en' }])
    const refused = (text: string, why: RegExp) =>
      expect(() => readJob(text, 'job.yaml', undefined, other)).toThrow(why)
    refused(series('timeTrunc: day'), /"day" is not legal; legal: month, hour, monthly/)
    refused(series('timeTrunc: hour, locale: es'), /"es" is not legal; legal: en/)
    refused(series('timeTrunc: hour, geoTrunc: town'), /geoTrunc needs geoAgg; legal: median$/)
    const content = (kind: string, order: string) => `name: one\ncontent:\n  - { kinds: [${kind}], order: ${order} }\n`
    expect(readJob(content('news', 'read'), 'job.yaml', undefined, other).content).toMatchObject([{ order: 'read' }])
    refused(content('glossaries', 'read'), /read is an order of news only; legal: published, updated, created/)
  })

  test('recipes are about its indicators, in its language', () => {
    const other = checkService(
      { ...DECLARED, locales: ['en'], wellKnown: { demand: { indicator: 7, geo: 1 } } },
      'test',
    )
    const parametersOf = (name: string) => recipesOf(other).find((recipe) => recipe.name === name)!.parameters
    expect(parametersOf('forecast-error')).toMatchObject({ real: 7, geo: 1 })
    expect(parametersOf('latest-news')).toMatchObject({ locale: 'en' })
  })

  test('the command line takes it from a file', async () => {
    const server = await serve((_request, response) => json(response, ANSWER))
    const folder = tempFolder()
    writeFileSync(
      join(folder, 'my.json'),
      JSON.stringify({ ...DECLARED, wellKnown: { spotPrice: { indicator: 7, geo: 1 } } }),
    )
    writeFileSync(join(folder, 'job.yaml'), JOB)
    const args = ['--service', './my.json', '--base-url', server.url, '--allow-http']
    const { code, err } = await runCommand(folder, ['sync', 'job.yaml', ...args], {
      INDICATOR_SYNC_API_KEY: 'k'.repeat(64),
    })
    expect(err).not.toMatch(/A bug of/)
    expect(code).toBe(0)
    expect(server.calls[0]!.url).toBe('/es/events?locale=es')
    expect(await runCommand(folder, ['validate', 'job.yaml', '--service', './my.json'])).toMatchObject({ code: 0 })
    expect((await runCommand(folder, ['validate', 'job.yaml'])).out).toMatch(/"events" is not legal/)
    const recipes = await runCommand(folder, ['query', '--recipes', '--json'], { INDICATOR_SYNC_SERVICE: './my.json' })
    expect(recipes.out).toContain('"indicator": 7')
    expect((await runCommand(folder, ['discover', 'meeting', '--in', 'content'])).out).toMatch(/7 +event +A meeting/)
  })

  test.each<[string, object, string]>([
    [
      'a step with other borders than windows have',
      { routes: { indicator: groupedBy({ values: ['week', 'hour'], aliases: {} }) } },
      'routes.indicator.query.time_trunc.values has "week"; legal: five_minutes, ten_minutes, fifteen_minutes, hour, day, month, year, because a window would begin or end inside of any other step',
    ],
    [
      'such a step behind an alias',
      { routes: { indicator: groupedBy({ values: ['hour'], aliases: { weekly: 'week' } }) } },
      'routes.indicator.query.time_trunc.values has "week"; legal: five_minutes, ten_minutes, fifteen_minutes, hour, day, month, year, because a window would begin or end inside of any other step',
    ],
    [
      'a path without its slash',
      { routes: { events: { ...events, path: 'events' }, more: { ...events, item: 'more' } } },
      'routes.events.path is "events"; legal: a path such as "/news/{id}"',
    ],
    [
      'a misspelt kind',
      { routes: { events: { ...events, query: { a: { kind: 'lst' } } } } },
      'routes.events.query.a.kind is "lst"; legal: choice, instant, list, flag, id, idOrName',
    ],
    [
      'a form that no date has',
      { routes: { events: { ...events, query: { a: { kind: 'instant', form: 'iso' } } } } },
      'routes.events.query.a.form is "iso"; legal: "utc", "offset", "spaced"',
    ],
    [
      'a slot without its kind',
      { routes: { events: { ...events, path: '/{language}/events/{id}' } } },
      'routes.events.slots.id is missing; legal: the kind of the parameter id, which is in the path',
    ],
    [
      'a slot beside the path',
      { routes: { events: { ...events, path: '/events' } } },
      'routes.events.path is "/events"; legal: a path with {language}, or no such slot',
    ],
    [
      'a misspelt key of a route',
      { routes: { events: { ...events, byday: true } } },
      'routes.events.byday is unknown; legal: path, version, shape, root, slots, query, item, byDay, window, about. Did you mean "byDay"?',
    ],
    [
      'a series route without its number',
      { routes: { flows: { ...ROUTES.indicators, shape: 'series' } } },
      'routes.flows.slots.id is missing; legal: { kind: "id", … }, as every route of shape series has it',
    ],
    [
      'a kind of content that is not a word',
      { routes: { events: { ...events, item: "an 'event" } } },
      `routes.events.item is "an 'event"; legal: a word of letters, digits and underscores`,
    ],
    [
      'items that another route has',
      { routes: { bulletins: { ...ROUTES.archives, path: '/bulletins' } } },
      'routes.bulletins.item is "archive"; legal: a word that no other route has, and routes.archives has this one',
    ],
    [
      'a route of an unknown shape',
      { routes: { events: { ...events, shape: 'table' } } },
      'routes.events.shape is "table"; legal: "catalogue", "series", "content", "archives", "widgets"',
    ],
    [
      'a known route of another shape',
      { routes: { indicators: { ...events } } },
      'routes.indicators.shape is "content"; legal: "catalogue", because the specification has this route',
    ],
    [
      'a probe that is no listing',
      { probe: 'widget' },
      'probe is "widget"; legal: null, or a route without numbers in its path: indicators, ',
    ],
    [
      'a probe that it does not have',
      { routes: { widgets: null } },
      'probe is "widgets"; legal: null, or a route without',
    ],
    [
      'a step that is a word',
      { steps: { byNumber: { 4: 'hour' }, byWord: {}, coarse: null, native: [] } },
      'steps.byNumber.4 is "hour"; legal: seconds, or { unit: "day", "month" or "year", count }',
    ],
    [
      'sums in a step of no number',
      { steps: { byNumber: { 4: 3600 }, byWord: {}, coarse: 5, native: [] } },
      'steps.coarse is 5; legal: null, or a number whose seconds are in byNumber',
    ],
    [
      'windows without a size',
      { windows: { byGeos: [{ upTo: null }], unknownGeos: { unit: 'day', count: 0 }, grouped: {} } },
      'windows.byGeos[0].size is missing; legal: { unit, count }\n  windows.unknownGeos.count is 0; legal: a number from 1 on',
    ],
    [
      'a change without a day',
      { changes: [{ from: 'soon', indicators: [1] }] },
      'changes[0].from is "soon"; legal: a day such as "2025-10-01"',
    ],
    [
      'a header that says something else',
      { apiKey: { header: 'Accept', issued: null } },
      'apiKey.header is "Accept"; legal: the name of a header that holds nothing else, such as "x-api-key"',
    ],
    [
      'a form of keys that is not a pattern',
      { apiKey: { header: 'x-key', issued: { pattern: '[0-9', words: 'digits' } } },
      'apiKey.issued.pattern is "[0-9"; legal: a regular expression for all of a key',
    ],
    ['a geo that is a name', { mainGeos: ['Spain'] }, 'mainGeos[0] is "Spain"; legal: the number of a geo'],
    [
      'a subject without its geo',
      { wellKnown: { demand: { indicator: 7 } } },
      'wellKnown.demand.geo is missing; legal: a number',
    ],
    [
      'a subject that no question is about',
      { wellKnown: { demnd: { indicator: 7, geo: 1 } } },
      'wellKnown.demnd is unknown; legal: spotPrice, sessionPrice, tradedEnergy, demand, demandForecast, wind, solar, hydro, nuclear, combinedCycle. Did you mean "demand"?',
    ],
    [
      'a language that a declared route does not know',
      { locales: ['pt', 'en'] },
      'routes.events.query.locale.values lacks "pt"; legal: a list with all of locales, pt, en',
    ],
    [
      'a language that is not a tag',
      { locales: ['Português'] },
      'locales[0] is "Português"; legal: the tag of a language, such as "pt" or "pt-BR"',
    ],
    ['no language', { locales: [] }, 'locales is an empty list; legal: at least one: the tag of a language'],
  ])('%s is refused with what is legal', (_name, part, message) => {
    const refused = () => checkService({ ...DECLARED, ...part }, 'test')
    expect(refused).toThrow(`test is not the declaration of a service:\n  ${message}`)
    // One mistake is one line: what is right beside it is not named.
    expect(refused).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/is a value of type|more/) }))
  })

  test('one that declares only its name has nothing of the data of another', () => {
    const { name, vendor, baseUrl, timeZone } = DECLARED
    const bare = checkService({ name, vendor, baseUrl, timeZone }, 'test')
    expect(bare).toMatchObject({ routes: ROUTES, changes: [], mainGeos: [] })
    expect(bare.steps).toMatchObject({ byNumber: {}, coarse: null, native: [] })
    const numbers = Object.values(bare.wellKnown).flatMap(({ indicator, geo }) => [indicator, geo])
    expect(new Set(numbers)).toEqual(new Set([null]))
    for (const { name: recipe, parameters } of recipesOf(bare))
      for (const text of Object.values(parameters))
        expect(String(text), recipe).not.toMatch(/\b(600|612|602|1293|544|551|1295|546|549|550|8741)\b/)
  })

  test('a route that is declared null is not there', () => {
    const less = checkService(
      { ...DECLARED, routes: { widgets: null, offer_indicator: null }, probe: 'indicators' },
      'test',
    )
    expect(Object.keys(less.routes)).not.toContain('widgets')
    expect(Object.keys(less.routes)).toContain('widget')
    expect(() => buildRequest(less, 'widgets', {})).toThrow(/no route widgets/)
  })
})
