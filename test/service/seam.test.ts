import { describe, expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { ROUTES, type Route } from '../../src/service/routes.ts'
import { SERVICES, type Service } from '../../src/service/services.ts'

/** A route that the specification does not have, of a shape that it has: one row. */
const events = { ...ROUTES.news, path: '/{language}/events', item: 'event', about: 'Events.' }
const service: Service = {
  ...SERVICES.generic,
  name: 'more',
  vendor: 'more-api',
  timeZone: 'Europe/Lisbon',
  routes: { ...ROUTES, events },
}

describe('a route of a known shape is one row of a service', () => {
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
})
