import { describe, expect, test } from 'vitest'
import { EMPTY_STATE } from '../../src/job/plannerState.ts'
import { readJob } from '../../src/job/read.ts'
import { readTextPage } from '../../src/page/queries/texts/text.ts'
import { readTexts } from '../../src/page/queries/texts/texts.ts'
import { plan } from '../../src/plan/plan.ts'
import { recipesOf } from '../../src/reports/recipes/recipes.ts'
import { searchItems } from '../../src/reports/search.ts'
import { buildRequest } from '../../src/service/request.ts'
import { ROUTES, type Route } from '../../src/service/routes.ts'
import { SERVICES, type Service } from '../../src/service/services.ts'
import { sync } from '../../src/sync/sync.ts'
import { json, serve, tempStore } from '../kit.ts'

/** A route that the specification does not have, of a shape that it has: one row. */
const events = { ...ROUTES.news, path: '/{language}/events', item: 'event', about: 'Events.' }
const service: Service = {
  ...SERVICES.generic,
  name: 'more',
  vendor: 'more-api',
  timeZone: 'Europe/Lisbon',
  routes: { ...ROUTES, events },
}
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
    const routes: Record<string, Route> = {
      ...ROUTES,
      indicator: { ...indicator, query: { ...indicator.query, time_trunc, geo_agg } },
      news: { ...news, query: { ...news.query, order: { ...news.query.order, values: ['published', 'read'] } } },
    }
    const other: Service = { ...service, routes, locales: ['en'] }
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
    const wellKnown = { ...service.wellKnown, demand: { indicator: 7, geo: 1 } }
    const other: Service = { ...service, locales: ['en'], wellKnown }
    const parametersOf = (name: string) => recipesOf(other).find((recipe) => recipe.name === name)!.parameters
    expect(parametersOf('forecast-error')).toMatchObject({ real: 7, geo: 1 })
    expect(parametersOf('latest-news')).toMatchObject({ locale: 'en' })
  })
})
