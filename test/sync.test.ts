import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { KeyError } from '../src/util/errors.ts'
import type { SyncEvent } from '../src/util/events.ts'
import { emulate, json, ms, runJob, serve, tempStore } from './support/kit.ts'
import { serveTruth } from './support/resolutionService.ts'

const NOW = '2025-11-04T12:00:00Z'
const SECONDS = ms(NOW) / 1000

describe('a job', () => {
  test('the stored windows of a job follow a sync, and stay after a backfill or restate', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const job = 'series: [{ indicators: [1739], geoIds: [3], window: { last: 3d } }]'
    const windows = () => store.all('select from_at, to_at from _duty')
    await runJob(store, emulator, job, { now: ms(NOW) })
    const before = windows()
    const interval = { from: SECONDS - 400 * 86_400, to: SECONDS - 399 * 86_400 }
    const later = ms(NOW) + 2 * 86_400_000
    await runJob(store, emulator, job, { now: later, options: { range: { interval, how: 'replace' } } })
    await runJob(store, emulator, job, { now: later, options: { range: { interval, how: 'narrow' }, restate: true } })
    expect(windows()).toEqual(before)
    await runJob(store, emulator, job, { now: later })
    expect(windows()).not.toEqual(before)
  })

  test('the demo job fills every table, and the second run requests nothing', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const yaml = readFileSync('jobs/demo.yaml', 'utf8').replace(/^name: .*$/m, '')
    const first = await runJob(store, emulator, yaml, { now: ms(NOW) })
    expect(first).toMatchObject({ outcome: 'done', failures: [] })
    const count = (table: string) => store.get(`select count(*) from ${table}`) as number
    expect(count('observation')).toBeGreaterThan(50_000)
    const filled =
      'indicator indicator_text series geo geo_text vocabulary taxonomy_term taxonomy_term_text content content_text content_term content_media content_vocabulary archive' +
      ' archive_text archive_edition archive_term widget widget_text _fetch _reply _coverage time_zone_offset'
    for (const table of filled.split(' ')) expect(count(table), table).toBeGreaterThan(0)
    expect(count('_fetch where started_at > finished_at'), 'all times are of one clock').toBe(0)
    expect(new Set(emulator.requests.map(({ route }) => route)).size).toBe(11)
    const before = emulator.requests.length
    const second = await runJob(store, emulator, yaml, { now: ms(NOW) + 60_000 })
    expect(second.counts.requests).toBe(0)
    expect(emulator.requests).toHaveLength(before)
    expect(await store.engine.findDanglingRows()).toEqual([])
  })

  test('a missing listing of one day does not affect other days', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS, faults: [{ route: 'archives', calls: [2], status: 404 }] })
    const yaml = 'archives: [{ window: { from: 2025-10-01, to: 2025-10-08 } }]'
    const { outcome, counts } = await runJob(store, emulator, yaml, { now: ms(NOW) })
    expect({ outcome, requests: counts.requests, failed: counts.failed }).toEqual({
      outcome: 'partial',
      requests: 7,
      failed: 1,
    })
  })

  describe('an empty catalogue', () => {
    const ALL = 'series: [{ indicators: all, window: { last: 2d } }]'
    /** Serves a catalogue that can be replaced, and series without values. */
    const serveCatalogue = async (items: () => unknown[]) =>
      serve(({ url }, response) => {
        const [path, query] = url!.split('?')
        if (path === '/indicators') return json(response, { indicators: query!.includes('taxonomy') ? [] : items() })
        json(response, { indicator: { id: Number(path!.split('/').at(-1)), name: 'x', values: [] } })
      })
    const TWO = [
      { id: 1, name: 'one' },
      { id: 2, name: 'two' },
    ]

    test.each([
      ['no items', []],
      ['no item with an id', [{ name: 'one' }]],
    ])('a catalogue with %s is a failure, and the next run requests it again', async (_name, items) => {
      const store = await tempStore()
      let sent: unknown[] = items
      const server = await serveCatalogue(() => sent)
      const first = await runJob(store, server, ALL, { now: ms(NOW) })
      expect(first).toMatchObject({
        outcome: 'partial',
        counts: { requests: 1, failed: 1 },
        failures: [{ error: { code: 'empty-catalogue' } }],
      })
      expect(store.all('select outcome, code from _fetch')).toEqual([{ outcome: 'shape', code: 'empty-catalogue' }])
      sent = TWO
      const second = await runJob(store, server, ALL, { now: ms(NOW) + 60_000 })
      expect(second).toMatchObject({ outcome: 'done', counts: { requests: 3, failed: 0 } })
      expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(0)
    })

    test('an empty catalogue withdraws nothing, and the job continues with the stored one', async () => {
      const store = await tempStore()
      let sent: unknown[] = TWO
      const server = await serveCatalogue(() => sent)
      await runJob(store, server, ALL, { now: ms(NOW) })
      sent = []
      const again = await runJob(store, server, ALL, { now: ms(NOW) + 2 * 86_400_000 })
      expect(again).toMatchObject({ outcome: 'partial', counts: { requests: 3, failed: 1, rows_withdrawn: 0 } })
      expect(store.get('select count(*) from indicator where withdrawn_at is null')).toBe(2)
    })

    test('an empty catalogue is a valid reply to a listing with a filter', async () => {
      const store = await tempStore()
      const server = await serveCatalogue(() => TWO)
      const yaml = 'catalogue: { taxonomyTerms: [prices] }'
      expect(await runJob(store, server, yaml, { now: ms(NOW) })).toMatchObject({ outcome: 'done', failures: [] })
    })

    test('an empty catalogue with the terms of a selector fails the job that selects by them', async () => {
      const store = await tempStore()
      const server = await serveCatalogue(() => TWO)
      const yaml = ALL.replace('all', '{ terms: [prices] }')
      const run = runJob(store, server, yaml, { now: ms(NOW) })
      await expect(run).rejects.toThrow(/matches none of 2 indicators/)
      expect(store.all('select distinct outcome from _run')).toEqual([{ outcome: 'failed' }])
    })
  })

  test('empty lists of texts and widgets withdraw nothing', async () => {
    const store = await tempStore()
    let isEmpty = false
    const widget = { id: 'demand', id_widget: 1, name: 'Demand', type: 'Widget' }
    const news = { id: 5, title: 'News', type: 'news' }
    const server = await serve(({ url }, response) =>
      json(
        response,
        url!.startsWith('/widgets') ? { widgets: isEmpty ? [] : [widget] } : { contents: isEmpty ? [] : [news] },
      ),
    )
    const yaml = 'content: [{ kinds: [news] }]\nwidgets: { list: true }'
    expect(await runJob(store, server, yaml, { now: ms(NOW) })).toMatchObject({ outcome: 'done' })
    isEmpty = true
    const later = await runJob(store, server, yaml, { now: ms(NOW) + 40 * 86_400_000 })
    expect(later).toMatchObject({ outcome: 'done', counts: { requests: 2, rows_withdrawn: 0 } })
    for (const table of ['content', 'widget'])
      expect(store.get(`select count(*) from ${table} where withdrawn_at is null`), table).toBe(1)
  })

  test('a value missing in a complete reply is withdrawn, but an empty reply withdraws nothing', async () => {
    const store = await tempStore()
    let rows = [0, 1, 2]
    const server = await serve((_request, response) =>
      json(response, {
        indicator: {
          id: 5,
          name: 'x',
          tiempo: [{ id: 4, name: 'Hora' }],
          geos: [],
          values: rows.map((hour) => ({
            value: hour,
            datetime: `2025-01-01T0${hour}:00:00.000+01:00`,
            geo_id: 3,
            geo_name: 'España',
          })),
        },
      }),
    )
    const yaml = 'series:\n  - { indicators: [5], window: { from: 2025-01-01, to: 2025-01-02 } }'
    const again = { options: { restate: true } }
    await runJob(store, server, yaml)
    rows = [0, 2]
    // A restate that loses values is not a success.
    expect(await runJob(store, server, yaml, again)).toMatchObject({
      outcome: 'partial',
      counts: { rows_withdrawn: 1, rows_new: 0 },
    })
    rows = []
    expect((await runJob(store, server, yaml, again)).counts).toMatchObject({ rows_withdrawn: 0 })
    expect(store.all('select value from observation')).toEqual([{ value: 0 }, { value: 2 }])
    expect(store.all('select value from observation_revision')).toEqual([{ value: 1 }])
    expect(store.get('select state from _coverage')).toBe('unverified')
  })

  test('an item that leaves a listing is marked as withdrawn until it returns', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const yaml = 'locales: [es, en]\ncontent:\n  - { kinds: [news], refresh: 1h }'
    await runJob(store, emulator, yaml, { now: ms(NOW) })
    const first = store.get('select count(*) from content') as number
    emulator.setNow(SECONDS + 40 * 86_400)
    const later = await runJob(store, emulator, yaml, { now: ms(NOW) + 40 * 86_400_000 })
    expect(later.counts.rows_withdrawn).toBeGreaterThan(2)
    expect(store.get('select count(*) from content where withdrawn_at is not null')).toBe(later.counts.rows_withdrawn)
    expect(store.get('select count(*) from content')).toBeGreaterThan(first)
    expect(store.get(`select count(*) from content_revision where body not like '%orrect%'`)).toBeGreaterThan(0)
    emulator.setNow(SECONDS)
    await runJob(store, emulator, yaml, { now: ms(NOW) + 41 * 86_400_000 })
    expect(
      store.get(
        'select count(*) from content where id in (select id from content_text where withdrawn_at is null) and withdrawn_at is not null',
      ),
    ).toBe(0)
  })

  test.each([
    ['all', 2],
    ['latest', 1],
    ['none', 0],
  ])('keep: %s keeps %i bodies of two responses to one request', async (keep, bodies) => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const yaml = `keep: ${keep}\nseries:\n  - { indicators: [551], window: { from: 2025-11-04, to: 2025-11-05 } }`
    await runJob(store, emulator, yaml, { now: ms(NOW) })
    emulator.setNow(SECONDS + 8 * 3600)
    await runJob(store, emulator, yaml, { now: ms(NOW) + 8 * 3_600_000 })
    expect(store.get('select count(*) from _reply')).toBe(bodies)
  })

  test.each([
    ['all', 1],
    ['none', 0],
  ])('keep: %s keeps %i bodies of a reply with mixed resolutions whose parts are readable', async (keep, bodies) => {
    const store = await tempStore()
    const days = [3600, 900].map((step) => ({ step, id: step === 900 ? 218 : 4 }))
    const service = await serveTruth(() => ({ truth: { id: 777, first: '2025-06-03', days } }))
    const yaml = `keep: ${keep}\nseries: [{ indicators: [777], window: { from: 2025-06-03, to: 2025-06-05 } }]`
    await runJob(store, service, yaml, { now: ms(NOW) })
    expect(store.get(`select count(*) from _fetch where outcome = 'coarse'`)).toBe(1)
    expect(store.get(`select count(reply_hash) from _fetch where outcome = 'coarse'`)).toBe(bodies)
  })

  test('a reply with a hundred thousand values is loaded', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const { counts } = await runJob(
      store,
      emulator,
      'series:\n  - { indicators: [1293], window: { from: 2024-11-01, to: 2025-11-01 }, chunk: 1y }',
      { now: ms(NOW) },
    )
    expect(counts.requests).toBe(2)
    expect(store.get('select count(*) from observation')).toBe(365 * 288)
  })

  test('a different chunk causes no requests, and only a hole is requested', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: SECONDS })
    const yaml = (chunk: string) =>
      `series:\n  - { indicators: [1739], window: { from: 2015-01-01, to: 2025-01-01 }, chunk: ${chunk} }`
    await runJob(store, emulator, yaml('1y'), { now: ms(NOW) })
    expect(emulator.requests).toHaveLength(10)
    expect(store.get('select count(*) from _coverage')).toBe(1)
    await runJob(store, emulator, yaml('1mo'), { now: ms(NOW) })
    expect(emulator.requests).toHaveLength(10)
    const [{ from_at, to_at }] = store.all('select from_at, to_at from _coverage') as [
      { from_at: number; to_at: number },
    ]
    const hole = [Date.UTC(2018, 2, 31, 22) / 1000, Date.UTC(2018, 3, 3, 22) / 1000]
    store.run('update _coverage set to_at = ?', [hole[0]])
    store.run(`insert into _coverage values (1, 0, ?, ?, 'values', ?, ?, null)`, [
      ...[hole[1], to_at, SECONDS, SECONDS - to_at],
    ])
    expect(from_at).toBeLessThan(hole[0]!)
    await runJob(store, emulator, yaml('1y'), { now: ms(NOW) })
    expect(emulator.requests.slice(10).map(({ url }) => decodeURIComponent(url))).toEqual([
      '/indicators/1739?locale=es&start_date=2018-03-31T22:00:00Z&end_date=2018-04-03T21:59:59Z',
    ])
    expect(store.get('select count(*) from _coverage')).toBe(1)
  })
})

describe('isolated failures', () => {
  const FOUR = 'series:\n  - { indicators: [1, 2, 3, 4], window: { from: 2025-01-01, to: 2025-01-02 } }'
  const good = (id: number) => ({
    indicator: {
      id,
      name: `n${id}`,
      tiempo: [{ id: 4 }],
      geos: [],
      values: [{ value: id, datetime: '2025-01-01T00:00:00.000+01:00', geo_id: 3 }],
    },
  })
  test.each([
    ['status 404', 404, { message: 'not found' }, 'refused', 1],
    ['status 400', 400, { message: 'bad' }, 'refused', 1],
    ['a page with status 200', 200, '<!doctype html><html>maintenance</html>', 'transient', 2],
    ['values that are not a list', 200, { indicator: { id: 2, values: 7 } }, 'shape', 1],
    ['a message in place of data', 200, { message: 'No values' }, 'shape', 1],
    ['an empty body', 200, '', 'transient', 2],
    ['status 500', 500, { message: 'oops' }, 'transient', 4],
  ])(
    'one request with %s fails and is recorded, and the others are loaded',
    async (_name, status, body, outcome, tries) => {
      const store = await tempStore()
      const server = await serve((request, response) => {
        const id = Number(/indicators\/(\d+)/.exec(request.url!)![1])
        json(response, id === 2 ? body : good(id), id === 2 ? status : 200)
      })
      const summary = await runJob(store, server, FOUR)
      expect(summary.outcome).toBe('partial')
      expect(summary.failures).toHaveLength(1)
      expect(store.all('select value from observation order by value')).toEqual([
        { value: 1 },
        { value: 3 },
        { value: 4 },
      ])
      expect(store.all(`select outcome, attempts from _fetch where target like '/indicators/2?%'`)).toEqual([
        { outcome, attempts: tries },
      ])
      expect(server.calls.filter(({ url }) => url!.startsWith('/indicators/2'))).toHaveLength(tries)
    },
  )

  test('a text in place of a value is quarantined, its window is unverified, and other rows are stored', async () => {
    const store = await tempStore()
    const server = await serve((_request, response) => {
      const { indicator } = good(1)
      json(response, {
        indicator: { ...indicator, values: [...indicator.values, { ...indicator.values[0]!, value: '9', geo_id: 4 }] },
      })
    })
    const summary = await runJob(store, server, FOUR.replace('1, 2, 3, 4', '1'))
    expect(summary).toMatchObject({ outcome: 'partial', counts: { rows_rejected: 1 } })
    expect(store.get('select count(*) from observation')).toBe(1)
    expect(store.all('select path, reason from _quarantine')).toEqual([
      { path: '$.indicator.values[1]', reason: 'value "9" is not a number' },
    ])
    expect(store.get('select state from _coverage')).toBe('unverified')
    expect(store.get('select count(*) from _reply')).toBe(1)
  })

  test('a wrong key ends the run after one request', async () => {
    const store = await tempStore()
    const emulator = await emulate()
    const events: SyncEvent[] = []
    const onEvent = (event: SyncEvent) => events.push(event)
    const summary = await runJob(store, { url: emulator.url, key: 'f'.repeat(64) }, FOUR, { onEvent })
    expect(summary).toMatchObject({ outcome: 'failed', counts: { requests: 1, failed: 1 } })
    expect(summary.earlyEnd).toBeInstanceOf(KeyError)
    expect(summary.failures).toMatchObject([{ error: { code: 'key-refused' } }])
    expect(emulator.requests).toHaveLength(1)
    // The refused request is recorded and reported before the run ends.
    expect(store.get('select count(*) from _fetch')).toBe(1)
    expect(store.get("select status from _fetch where outcome = 'key'")).toBe(403)
    expect(store.get("select evidence from _fetch where outcome = 'key'")).not.toBe('')
    const code = 'key-refused'
    expect(events.slice(1)).toMatchObject([
      { event: 'request.failed', status: 403, attempt: 1, code },
      { event: 'run.ended', outcome: 'failed', failed: 1, code },
    ])
  })

  test.each([1, 2, 3])(
    'a request whose retry exceeds a budget of %i calls is listed as failed',
    async (callsPerDay) => {
      const server = await serve((_request, response) => json(response, { message: 'oops' }, 500))
      const pace = `pace: { perSecond: 50, concurrency: 2, callsPerDay: ${callsPerDay} }`
      const { earlyEnd, counts, failures } = await runJob(await tempStore(), server, `${pace}\n${FOUR}`)
      expect(earlyEnd?.code).toBe('budget')
      expect(failures.map(({ error }) => error.code)).toEqual(Array(counts.failed).fill('server-error'))
      expect(counts.failed).toBeGreaterThan(0)
    },
  )

  test('a firewall page does not count as a refused key and is requested only a few times', async () => {
    const store = await tempStore()
    const controller = new AbortController()
    const server = await serve((_request, response) => {
      // The response pauses all calls for half a minute, so the run is aborted.
      response.on('close', () => controller.abort())
      json(response, '<html>Request unsuccessful</html>', 403, { Connection: 'close' })
    })
    const summary = await runJob(store, server, FOUR.replace('1, 2, 3, 4', '1'), { signal: controller.signal })
    expect(summary.earlyEnd).not.toBeInstanceOf(KeyError)
    expect(server.calls.length).toBeLessThanOrEqual(2)
  })

  test('a series of 190,000 windows is requested without planning all of them first', async () => {
    const job = `pace: { perSecond: 50, callsPerDay: 3 }
series: [{ indicators: [600], geoIds: [3], chunk: 1d, window: { from: 1500-01-01, to: +2d } }]`
    const { earlyEnd, counts } = await runJob(await tempStore(), await emulate({ now: SECONDS }), job)
    expect(earlyEnd?.code).toBe('budget')
    expect(counts).toMatchObject({ requests: 3, failed: 0 })
  })

  test('an unreachable host fails each request without crashing the program', async () => {
    const store = await tempStore()
    const summary = await runJob(store, { url: 'http://127.0.0.1:9' }, FOUR.replace('1, 2, 3, 4', '1'))
    expect(summary.failures.map(({ error }) => error.code)).toEqual(['network'])
  })
})
