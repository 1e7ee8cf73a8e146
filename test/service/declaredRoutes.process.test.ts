import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jobSchema } from '../../src/job/file/jobFile.ts'
import { findMistakes, readJob } from '../../src/job/read.ts'
import { ROUTES, type Route } from '../../src/service/routes.ts'
import type { Service } from '../../src/service/service.ts'
import { SERVICES } from '../../src/service/services.ts'
import { json, runCommand, runJob, serve, tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'

/** Declares two additional routes: flow values and bulletins. */
const { locale, start_date, end_date, time_trunc } = ROUTES.indicator.query
const flows: Route = {
  ...ROUTES.indicator,
  path: '/flows/{id}',
  root: 'flow',
  query: { locale, start_date, end_date, time_trunc: { ...time_trunc, values: ['hour', 'month'] } },
  window: { unit: 'day', count: 1 },
}
/** Indicators are grouped by other steps than flows. */
const indicator = {
  ...ROUTES.indicator,
  query: { ...ROUTES.indicator.query, time_trunc: { ...time_trunc, values: ['hour', 'day'] } },
}
const bulletins = { ...ROUTES.archives, path: '/bulletins', root: 'bulletins', item: 'bulletin' }
const service: Service = {
  ...SERVICES.generic,
  name: 'more',
  vendor: 'more-api',
  timeZone: 'Europe/Lisbon',
  steps: { ...SERVICES.generic.steps, byNumber: {}, coarse: null, native: [] },
  routes: { ...ROUTES, indicator, flows, bulletins },
}

const job = (series: string) => `name: one\npace: { perSecond: 50 }\n${series}\n`
const WINDOW = 'window: { from: 2025-03-01, to: 2025-03-03 }'
const JOB = job(`series:
  - { route: flows, indicators: [7], ${WINDOW} }
  - { indicators: [7], ${WINDOW} }
archives:
  - { route: bulletins, ${WINDOW} }
  - { ${WINDOW} }`)

/** Returns the hours of a local day in winter, when Lisbon uses UTC. */
const valuesOf = (day: string, first: number) =>
  Array.from({ length: 24 }, (_, hour) => ({
    value: first + hour,
    datetime: `${day}T${String(hour).padStart(2, '0')}:00:00.000+00:00`,
    datetime_utc: `${day}T${String(hour).padStart(2, '0')}:00:00Z`,
    tz_time: `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`,
    geo_id: 1,
    geo_name: 'Here',
  }))
const DAYS = ['2025-03-01', '2025-03-02']

/** Starts the service: a flow and an indicator with the same id have different values. */
const more = () =>
  serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    const [from, to] = ['start_date', 'end_date'].map((name) => searchParams.get(name)!.slice(0, 10))
    const days = DAYS.filter((day) => day >= from! && day <= to!)
    const series = (first: number, name: string) => ({
      id: 7,
      name,
      short_name: name,
      tiempo: [{ id: 9, name: 'Hora' }],
      magnitud: [],
      geos: [{ geo_id: 1, geo_name: 'Here' }],
      values: days.flatMap((day) => valuesOf(day, first)),
    })
    const listed = [{ id: 3, name: pathname, date: from, download: { name: 'a', type: 'file', url: `${pathname}/3` } }]
    if (pathname === '/flows/7') return json(response, { flow: series(1000, 'The flow') })
    if (pathname === '/indicators/7') return json(response, { indicator: series(0, 'The indicator') })
    return json(response, { [pathname.slice(1)]: listed })
  })

describe('a route that only one service declares', () => {
  test('a declared route is planned, fetched, loaded and shown by read commands', async () => {
    const server = await more()
    const folder = tempFolder()
    const file = join(folder, 'more.db')
    const syncOnce = async () => {
      const store = await openStore(file)
      const { outcome } = await runJob(store, server, JOB, { service })
      await store.close()
      return outcome
    }
    expect(await syncOnce()).toBe('done')
    // Different windows: two days are two requests for flows, and one for indicators.
    expect(server.calls.map(({ url }) => url!.replace(/\?.*/, '')).sort()).toEqual([
      ...['/archives', '/archives', '/bulletins', '/bulletins', '/flows/7', '/flows/7', '/indicators/7'],
    ])

    const run = async (...args: string[]) => {
      const { code, out, err } = await runCommand(folder, args, { INDICATOR_SYNC_DATABASE: file })
      expect(err, args.join(' ')).not.toMatch(/Internal error/)
      return { code, out, err }
    }
    const rows = async (sql: string) => JSON.parse((await run('query', sql, '--json')).out) as unknown[]
    expect(await rows('select kind, count(*) as n, min(value) as least from observations group by kind')).toEqual([
      { kind: 'flows', n: 48, least: 1000 },
      { kind: 'indicator', n: 48, least: 0 },
    ])
    expect(await rows('select distinct kind, id, name from archive_publications order by kind')).toEqual([
      { kind: 'archive', id: 3, name: '/archives' },
      { kind: 'bulletin', id: 3, name: '/bulletins' },
    ])
    expect((await run('status')).out).toMatch(/The flow/)
    expect((await run('gaps', '--json')).out).not.toMatch(/"kind": "(?!indicator|flows)/)
    expect((await run('show', '7', '--kind', 'flows')).out).toMatch(/The flow/)
    expect((await run('show', '7')).out).toMatch(/The indicator/)
    expect((await run('export', '--indicator', '7', '--kind', 'flows', '--wide')).out).toMatch(/^.*flows_7_1\n/)
    expect((await run('export', '--indicator', '8', '--kind', 'flows')).err).toMatch(
      /No values of flows 8 are stored.*discover/s,
    )
    expect((await run('archives', 'list', '--kind', 'bulletin')).out).toMatch(/bulletin/)
    expect((await run('archives', 'list', '--kind', 'buletin')).err).toMatch(
      /expected one of: all, archive, archive_json, bulletin\. Did you mean "bulletin"/,
    )
    expect((await run('discover', 'flow')).out).toMatch(/7 .*The flow/)

    // A second run requests no final data.
    const before = server.calls.length
    expect(await syncOnce()).toBe('done')
    expect(server.calls.length).toBe(before)
  })

  test('the JSON schema of jobs contains the declared routes', () => {
    const { series, archives } = JSON.parse(JSON.stringify(jobSchema(service))).properties
    expect(series.items.properties.route.enum).toEqual(['indicator', 'offer_indicator', 'flows'])
    expect(archives.items.properties.route.enum).toEqual(['archives', 'archives_json', 'bulletins'])
    expect(series.items.properties.timeTrunc.enum).toContain('month')
  })

  test.each([
    [
      'a route of another service',
      `series:\n  - { route: flow, indicators: [7], ${WINDOW} }`,
      '"flow" is not valid; expected one of: indicator, offer_indicator, flows. Did you mean "flows"?',
    ],
    [
      'a route of another kind',
      `archives:\n  - { route: flows, ${WINDOW} }`,
      '"flows" is not valid; expected one of: archives, archives_json, bulletins.',
    ],
    [
      'an unsupported setting',
      `series:\n  - { route: flows, indicators: [7], geoIds: [1], ${WINDOW} }`,
      'is not supported by route flows; supported: timeTrunc',
    ],
    [
      'an unsupported value',
      `series:\n  - { route: flows, indicators: [7], timeTrunc: day, ${WINDOW} }`,
      '"day" is not supported by route flows; expected one of: hour, month',
    ],
    [
      'a value that only another route supports',
      `series:\n  - { indicators: [7], timeTrunc: month, timeAgg: sum, ${WINDOW} }`,
      '"month" is not supported by route indicator; expected one of: hour, day',
    ],
    [
      'a selection from the catalogue',
      `series:\n  - { route: flows, indicators: all, ${WINDOW} }`,
      'cannot select from the catalogue, which does not list route flows; expected a list of ids',
    ],
  ])('%s is refused', (_name, text, message) => {
    const mistakes = findMistakes(job(text), 'job.yaml', service)
    expect(mistakes.map((one) => one.message).join('\n')).toContain(message)
  })

  test('settings that a service does not support are refused, and its own default route is used', () => {
    const { indicator: _1, indicators: _2, offer_indicator: _3, widgets: _4, ...rest } = ROUTES
    const less: Service = { ...service, probe: null, routes: { ...rest, flows } }
    const refused = (text: string, why: RegExp) => expect(() => readJob(job(text), 'job.yaml', less)).toThrow(why)
    refused(
      `series:\n  - { indicators: [7], ${WINDOW} }`,
      /the service more has no route indicator; expected route: flows/,
    )
    refused(`offers:\n  - { indicators: [7], ${WINDOW} }`, /the service more has no route offer_indicator/)
    refused('catalogue: true', /catalogue {2}the service more has no route indicators/)
    refused('widgets: { list: true }', /widgets.list {2}the service more has no route widgets/)
    expect(
      readJob(job(`series:\n  - { route: flows, indicators: [7], ${WINDOW} }`), 'job.yaml', less).series,
    ).toMatchObject([{ route: 'flows' }])
  })
})

test('a job accepts the words and languages of its service', () => {
  const { indicator, news } = ROUTES
  const time_trunc = { ...indicator.query.time_trunc, values: ['month', 'hour'], aliases: { monthly: 'month' } }
  const geo_agg = { ...indicator.query.geo_agg, values: ['median'], aliases: {} }
  const routes: Record<string, Route> = {
    ...ROUTES,
    indicator: { ...indicator, query: { ...indicator.query, time_trunc, geo_agg } },
    news: { ...news, query: { ...news.query, order: { ...news.query.order, values: ['published', 'read'] } } },
  }
  const other: Service = { ...SERVICES.generic, routes, locales: ['en'] }
  const series = (more: string) =>
    `name: one\nseries:\n  - { indicators: [600], window: { last: 7d }, timeAgg: avg, ${more} }\n`
  const { series: entries } = readJob(series('timeTrunc: monthly'), 'job.yaml', other)
  expect(entries).toMatchObject([{ timeTrunc: 'month', timeAgg: 'average', locale: 'en' }])
  const refused = (text: string, why: RegExp) => expect(() => readJob(text, 'job.yaml', other)).toThrow(why)
  refused(series('timeTrunc: day'), /"day" is not valid; expected one of: month, hour, monthly/)
  refused(series('timeTrunc: hour, locale: es'), /"es" is not valid; expected one of: en/)
  refused(series('timeTrunc: hour, geoTrunc: town'), /geoTrunc needs geoAgg; expected one of: median$/)
  const content = (kind: string, order: string) => `name: one\ncontent:\n  - { kinds: [${kind}], order: ${order} }\n`
  expect(readJob(content('news', 'read'), 'job.yaml', other).content).toMatchObject([{ order: 'read' }])
  refused(content('glossaries', 'read'), /read is supported only by news; expected one of: published, updated, created/)
})
