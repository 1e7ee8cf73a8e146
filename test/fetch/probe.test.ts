import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/startEmulator.ts'
import { fetchProbe } from '../../src/fetch/probe.ts'
import { judgeAssumption } from '../../src/service/assumptions/assumption.ts'
import { ASSUMPTIONS } from '../../src/service/assumptions/assumptions.ts'
import { REQUEST_NAMES, type RequestName } from '../../src/service/assumptions/probeRequests.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { Recorded } from '../../src/util/files/recording.ts'
import { emulate, serve } from '../support/kit.ts'
import { type Changeable, type Deviation, deviatingService } from './probeService.ts'
import { testClient } from './testClient.ts'

const KEY = '0123456789abcdef'.repeat(4)
const NOW = Date.parse('2025-11-04T12:00:00Z') / 1000

/** Sends all requests without a pace, and judges all assumptions. */
async function probe(url: string, recorded: readonly Recorded[] = []) {
  const written: Recorded[] = []
  const result = await fetchProbe({
    client: testClient(url, { key: KEY, perSecond: 1e6 }),
    service: SERVICES.generic,
    names: REQUEST_NAMES,
    recorded,
    onResponse: (response) => written.push(response),
  })
  const verdicts = ASSUMPTIONS.map((assumption) => ({
    id: assumption.id,
    ...judgeAssumption(assumption, result.responses),
  }))
  const others = verdicts.filter(({ verdict }) => verdict !== 'holds')
  return { ...result, written, verdicts, others }
}

describe('the assumptions about the service', () => {
  test('the emulator fulfils every assumption within 25 calls', async () => {
    const emulator = await emulate({ now: NOW })
    const { others, failed, written } = await probe(emulator.url)
    expect(others).toEqual([])
    expect(failed).toEqual([])
    expect(emulator.requests).toHaveLength(25)
    expect(written.map(({ name }) => name)).toEqual(REQUEST_NAMES)
  })

  test('every assumption has an id, its requests in order, and a consequence in short sentences', () => {
    expect(new Set(ASSUMPTIONS.map(({ id }) => id)).size).toBe(ASSUMPTIONS.length)
    for (const { id, expected, consequence, requests } of ASSUMPTIONS) {
      expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/)
      for (const text of [expected, consequence]) expect(text).toMatch(/^[`A-Z].*\.$/)
      expect(requests.length).toBeGreaterThan(0)
    }
  })
})

/** Changes the fields of a series. */
// biome-ignore lint/suspicious/noExplicitAny: a deviation changes any field.
const series = (change: (indicator: any) => void) => (response: Changeable) => change(response.body.indicator)
// biome-ignore lint/suspicious/noExplicitAny: a deviation changes any field.
const items = (root: string, change: (item: any) => void) => (response: Changeable) =>
  response.body[root].forEach(change)
const replacing = (from: string | RegExp, to: string) => (target: string) => target.replace(from, to)
const without = (parameter: string) =>
  replacing(new RegExp(`[?&]${parameter.replace(/[[\]]/g, '\\$&')}=[^&]*`, 'g'), '')
const status = (code: number) => (response: Changeable) => {
  response.status = code
  response.body = { message: 'no' }
}
const header = (name: string, value: string) => (response: Changeable) => {
  response.headers[name] = value
}
const nothing = { indicator: { id: 999_999_999, geos: [], values: [], values_updated_at: null } }

/** For each assumption a deviation of the service. */
const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  'end-included': { request: 'day', change: series(({ values }) => values.pop()) },
  'zoned-dates': { request: 'zoned', target: replacing('T01%3A00%3A00%2B02', 'T00%3A00%3A00%2B02') },
  'naive-dates': { request: 'naive', target: replacing(/(date=2025-10-01)(T00%3A55%3A00)?/g, '$1T12:55:00Z') },
  'clock-change': {
    request: 'zoned',
    change: series(({ values }) => {
      for (const value of values) if (value.datetime.endsWith('+01:00')) value.tz_time = value.datetime_utc
    }),
  },
  'datetime-alone': {
    request: 'instant',
    target: replacing(/datetime=[^&]*/, 'start_date=2025-09-30T22:00:00Z&end_date=2025-09-30T22:59:59Z'),
  },
  'datetime-in-range': { request: 'both', target: without('datetime') },
  'sum-by-default': { request: 'sums', target: (target) => `${target}&time_agg=average` },
  average: { request: 'average', target: without('time_agg') },
  avg: { request: 'avg', target: without('time_agg') },
  'period-start': {
    request: 'sums',
    change: series(({ values }) => {
      values[0].datetime = '2025-10-01T00:00:00.000+00:00'
    }),
  },
  'mixed-resolutions': {
    request: 'change',
    change: series(({ tiempo }) => {
      tiempo[0].id = 4
    }),
  },
  'resolution-ids': {
    request: 'day',
    change: series(({ tiempo }) => {
      tiempo[0].id = 77
    }),
  },
  'magnitude-ids': {
    request: 'naive',
    change: series(({ magnitud }) => {
      magnitud[0].id = 99
    }),
  },
  'geo-ids': { request: 'zoned', target: without('geo_ids[]') },
  'geo-agg': {
    request: 'grouped',
    change: series(({ values }) => {
      for (const value of values) delete value.geo_ids
    }),
  },
  'geo-trunc': { request: 'country', target: without('geo_trunc') },
  'unknown-indicator': {
    request: 'missing',
    change: (response) => Object.assign(response, { status: 200, body: nothing }),
  },
  'unknown-geo': {
    request: 'nowhere',
    target: without('geo_ids[]'),
    change: series((indicator) => {
      indicator.values_updated_at = null
    }),
  },
  'null-values': {
    request: 'naive',
    change: series(({ values }) => {
      values[1].value = null
    }),
  },
  'updated-at': {
    request: 'day',
    change: series((indicator) => {
      indicator.values_updated_at = null
    }),
  },
  'list-of-geos': { request: 'retail', change: series(({ geos }) => geos.pop()) },
  languages: { request: 'grouped', target: replacing('locale=en', 'locale=es') },
  catalogue: { request: 'catalogue', change: ({ body }) => body.meta.size++ },
  'content-order': { request: 'news', change: ({ body }) => body.contents.reverse() },
  sticky: { request: 'sticky', target: without('sticky') },
  'archives-by-data': {
    request: 'archives',
    change: items('archives', ({ date }) => {
      date.date = '2025-10-02T23:59:59.000+00:00'
    }),
  },
  'archives-by-publication': {
    request: 'published',
    change: items('archives', (item) => {
      item.publication_date = ['2025-10-02']
    }),
  },
  'archives-as-json': { request: 'jsonArchives', change: items('archives', (item) => delete item.json_download.url) },
  'download-redirect': {
    request: 'download',
    change: (response) => Object.assign(response, { status: 200, headers: {}, body: 'a file' }),
  },
  'widget-by-number': { request: 'widget', change: status(404) },
  'widget-by-name': { request: 'namedWidget', change: status(406) },
  compression: { request: 'news', change: ({ headers }) => delete headers['content-encoding'] },
  'rate-limit-headers': { request: 'catalogue', change: header('x-ratelimit-remaining', '5') },
  'no-validators': { request: 'archives', change: header('etag', '"1"') },
}

describe('a service that differs from one assumption', () => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ now: NOW })
    return () => emulator.close()
  })

  test('every assumption has a deviation', () =>
    expect(Object.keys(DEVIATIONS).sort()).toEqual(ASSUMPTIONS.map(({ id }) => id).sort()))

  test.each(Object.entries(DEVIATIONS))('only %s deviates', async (id, deviation) => {
    const { url } = await deviatingService(emulator, [deviation])
    expect((await probe(url)).others).toMatchObject([{ id, verdict: 'deviates' }])
  })

  test.each<[string, Deviation]>([
    ['download-redirect', { request: 'download', change: header('location', 'http://127.0.0.1:{port}/forbidden') }],
    ['unknown-indicator', { request: 'missing', change: status(403) }],
    ['unknown-indicator', { request: 'missing', change: status(400) }],
    ['catalogue', { request: 'catalogue', change: ({ body }) => delete body.meta }],
    ['languages', { request: 'grouped', change: series((indicator) => indicator.id++) }],
  ])('%s deviates in another way', async (id, deviation) => {
    const storage = await serve((_request, response) => response.writeHead(403).end('no'))
    const change: Deviation['change'] = (response) => {
      deviation.change?.(response)
      const { location } = response.headers
      if (location?.includes('{port}')) response.headers.location = `${storage.url}/file`
    }
    const { url } = await deviatingService(emulator, [{ ...deviation, change }])
    const { others, failed, earlyEnd } = await probe(url)
    expect(others).toMatchObject([{ id, verdict: 'deviates' }])
    expect({ failed, earlyEnd }).toEqual({ failed: [], earlyEnd: null })
  })

  test('history in the new resolution says nothing about changes of resolution, unless another series has one', async () => {
    const rewritten = await emulate({ now: NOW, historyRewrittenAt: NOW - 1 })
    expect((await probe(rewritten.url)).others).toEqual([])
    const { url } = await deviatingService(rewritten, [
      {
        request: 'energy',
        change: series((i) => i.values.push({ ...i.values[0], datetime: '2022-05-23T23:15:00.000+02:00' })),
      },
    ])
    expect((await probe(url)).others).toMatchObject([{ id: 'mixed-resolutions', verdict: 'unknown' }])
  })

  test('a busy service leaves assumptions unknown, and only its requests are sent again', async () => {
    const busy = (request: RequestName): Deviation => ({ request, change: status(503) })
    const first = await deviatingService(emulator, [busy('news'), { ...busy('average'), change: status(504) }])
    const { others, failed, written } = await probe(first.url)
    expect(others.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'average unknown',
      'null-values unknown',
      'content-order unknown',
    ])
    expect(failed.map(({ name }) => name)).toEqual(['average', 'news'])
    const second = await deviatingService(emulator, [])
    const moved = written.map((recorded) => ({ ...recorded, url: recorded.url.replace(first.url, second.url) }))
    const again = await probe(second.url, moved)
    expect(again.others).toEqual([])
    expect(second.names).toEqual(['average', 'news'])
  })

  test('missing quarter-hours leave the assumptions about sums unknown', async () => {
    const { url } = await deviatingService(emulator, [
      { request: 'day', change: series(({ values }) => values.splice(1, 1)) },
    ])
    expect((await probe(url)).others.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(
      ['sum-by-default', 'average', 'avg', 'mixed-resolutions'].map((id) => `${id} unknown`),
    )
  })

  test('hourly values over a change of resolution that are not sums deviate', async () => {
    const change = series(({ values }) => {
      for (const value of values) value.value /= 4
    })
    const { url } = await deviatingService(emulator, [{ request: 'change', change }])
    expect((await probe(url)).others).toMatchObject([{ id: 'mixed-resolutions', verdict: 'deviates' }])
  })

  test('responses of another address are not used', async () => {
    const { written } = await probe((await deviatingService(emulator, [])).url)
    const other = await deviatingService(emulator, [])
    await probe(other.url, written)
    expect(other.names).toHaveLength(24)
  })
})

test('a recorded response contains neither the key, nor cookies, nor the signature of a download', async () => {
  const emulator = await emulate({ now: NOW })
  const storage = await serve((_request, response) => response.end('a file'))
  const { url } = await deviatingService(emulator, [
    { request: 'download', change: header('location', `${storage.url}/file?signature=secret-signature`) },
    {
      request: 'day',
      change: (response) => {
        Object.assign(response.headers, { 'set-cookie': 'session=secret-cookie', 'x-echo': KEY })
        response.body.echo = `${KEY} ${encodeURIComponent(KEY)}`
      },
    },
  ])
  const { written, responses } = await probe(url)
  expect(responses.download).toMatchObject({ status: 307, redirected: { isOtherHost: true, status: 200 } })
  expect(storage.calls[0]!.url).toContain('secret-signature')
  expect(JSON.stringify(storage.calls[0]!.rawHeaders)).not.toContain(KEY)
  const text = written.map(({ body, ...head }) => JSON.stringify(head) + body.toString()).join('\n')
  for (const secret of [KEY, 'secret-signature', 'secret-cookie']) expect(text).not.toContain(secret)
  expect(text).toContain('[secret]')
})

test('a recorded redirect has no body and no query of an address', async () => {
  const emulator = await emulate({ now: NOW })
  const storage = await serve((_request, response) => response.end('a file'))
  const location = `${storage.url}/file?Expires=1&Signature=secret-signature`
  const { url } = await deviatingService(emulator, [
    {
      request: 'download',
      change: (response) => {
        Object.assign(response, { status: 302, body: `<a href="${location}">redirected</a>` })
        Object.assign(response.headers, {
          location,
          refresh: `0; url=${location}`,
          link: `<${location}>; rel=canonical`,
        })
        delete response.headers['content-encoding']
      },
    },
  ])
  const { written, responses } = await probe(url)
  expect(responses.download).toMatchObject({ status: 302, redirected: { isOtherHost: true, status: 200 } })
  const { body, headers } = written.find(({ name }) => name === 'download')!
  expect(body).toHaveLength(0)
  expect(headers).toMatchObject({
    location: `${storage.url}/file`,
    refresh: `0; url=${storage.url}/file`,
    link: `<${storage.url}/file>; rel=canonical`,
  })
})

test('no part of the key is left at the end of the recorded part of a file', async () => {
  const emulator = await emulate({ now: NOW })
  const { url } = await deviatingService(emulator, [
    {
      request: 'download',
      change: (response) => {
        Object.assign(response, { status: 200, body: 'x'.repeat(2048 - 60) + KEY + 'y'.repeat(100) })
        delete response.headers['content-encoding']
      },
    },
  ])
  const { written } = await probe(url)
  const { body } = written.find(({ name }) => name === 'download')!
  expect(body).toHaveLength(2048)
  expect(body.toString()).not.toContain('0123')
})

test('no part of the key is left of a file that arrives in pieces', async () => {
  const emulator = await emulate({ now: NOW })
  const server = await serve(async (request, response) => {
    if (request.url!.includes('/download')) {
      response.write(`echo ${KEY.slice(0, 60)}`)
      return void setTimeout(() => response.end(KEY.slice(60)), 50)
    }
    const { accept } = request.headers
    const answer = await fetch(`${emulator.url}${request.url}`, {
      headers: { accept: accept!, 'x-api-key': emulator.key },
    })
    response.writeHead(answer.status).end(await answer.text())
  })
  const { written } = await probe(server.url)
  expect(written.find(({ name }) => name === 'download')!.body.toString()).toMatch(/^echo \[secret\]\*+$/)
})

test('a refused key ends the probe after one call, and its response is not recorded', async () => {
  const server = await serve((_request, response) => response.writeHead(403).end('{"message":"Forbidden"}'))
  const { earlyEnd, written } = await probe(server.url)
  expect(earlyEnd).toMatchObject({ code: 'key-refused' })
  expect(written).toEqual([])
  expect(server.calls).toHaveLength(1)
})

test('a signal stops the probe before the next call', async () => {
  const emulator = await emulate({ now: NOW })
  const controller = new AbortController()
  const server = await deviatingService(emulator, [{ request: 'average', change: () => controller.abort() }])
  const written: Recorded[] = []
  const client = testClient(server.url, { key: KEY, perSecond: 1e6, signal: controller.signal })
  onTestFinished(() => client.close())
  const { earlyEnd } = await fetchProbe({
    client,
    service: SERVICES.generic,
    names: REQUEST_NAMES,
    recorded: [],
    onResponse: (response) => written.push(response),
  })
  expect(earlyEnd).toMatchObject({ code: 'signal' })
  expect(written.map(({ name }) => name)).toEqual(['day', 'sums', 'average'])
})

describe('hostile responses', () => {
  const hostile = { toString: 1, valueOf: 1, length: 1e9 }
  const many = Array.from({ length: 130_000 }, (_, i) => ({
    datetime: new Date(i * 1000).toISOString(),
    value: hostile,
    geo_id: i,
    geo_ids: [hostile],
  }))
  const lists = { tiempo: [hostile], magnitud: 1, geos: [null, hostile], values_updated_at: hostile, name: hostile }
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'text'],
    ['a list', [hostile]],
    ['objects without fields', { indicator: {}, indicators: {}, contents: {}, archives: {}, widget: {}, meta: [] }],
    [
      'objects in place of texts',
      {
        indicator: { ...lists, id: hostile, values: many },
        meta: { size: hostile },
        ...Object.fromEntries(['indicators', 'contents', 'archives'].map((root) => [root, [hostile, null, [hostile]]])),
        widget: { id: hostile, id_widget: hostile },
      },
    ],
  ])('every assumption has a short verdict for a body of %s', (_name, body) => {
    const response = { status: 200, headers: {}, body, bytes: 1, ms: 1, redirected: null }
    const responses = Object.fromEntries(REQUEST_NAMES.map((name) => [name, response]))
    for (const assumption of ASSUMPTIONS)
      expect(judgeAssumption(assumption, responses).seen.length, assumption.id).toBeLessThan(400)
  })
})
