import { get as httpGet, type IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { EMULATOR_KEY, type EmulatorOptions } from '../../src/emulator/startEmulator.ts'
import { emulate } from '../support/kit.ts'

const NOW = Date.UTC(2025, 10, 4, 12) / 1000

/** Sends a request without decoding the body or following redirects. */
const raw = (url: string, headers: Record<string, string>) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) => {
    httpGet(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    }).on('error', reject)
  })

async function open(options: EmulatorOptions = {}) {
  const emulator = await emulate({ now: NOW, ...options })
  const planned = (target: string, headers: Record<string, string> = {}) =>
    raw(`${emulator.url}${target}`, { 'x-api-key': emulator.key, ...headers })
  return { emulator, ask: planned }
}

test('the emulator listens only on the loopback address', async () => {
  const { emulator } = await open()
  expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(emulator.key).toBe(EMULATOR_KEY)
  expect(EMULATOR_KEY).toMatch(/^[0-9a-f]{64}$/)
})

test.each([
  ['br', true],
  ['gzip, deflate, br', true],
  ['gzip, br;q=0.5', true],
  ['gzip, br;q=0', false],
  ['gzip', false],
  ['', false],
])('responses are compressed with brotli if the client accepts it: %j', async (encoding, packed) => {
  const { ask: planned } = await open()
  const { headers, bytes } = await planned('/es/glossaries', encoding === '' ? {} : { 'accept-encoding': encoding })
  expect(headers['content-encoding']).toBe(packed ? 'br' : undefined)
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    vary: 'Accept-Encoding',
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET,POST,PUT,DELETE,HEAD',
  })
  expect(JSON.parse((packed ? brotliDecompressSync(bytes) : bytes).toString()).contents.length).toBeGreaterThan(20)
})

test.each([
  ['bare', (key: string) => key, 200],
  ['in double quotes', (key: string) => `"${key}"`, 200],
  ['wrong', () => 'f'.repeat(64), 403],
  ['with half its quotes', (key: string) => `"${key}`, 403],
])('a key %s is accepted or refused like by the real service', async (_how, write, status) => {
  const { emulator, ask: planned } = await open({ key: 'a'.repeat(64) })
  const answer = await planned('/widgets', { 'x-api-key': write(emulator.key) })
  expect(answer.status).toBe(status)
  if (status === 403) expect(answer.bytes.toString()).toBe('{"Status":403,"message":"Forbidden"}')
})

test('a request without a key is refused', async () => {
  const { emulator } = await open()
  expect((await raw(`${emulator.url}/widgets`, {})).status).toBe(403)
})

test.each([
  ['/widgets/1', 'application/json; application/vnd.service-api-v2+json', 200],
  ['/widgets', 'application/json; application/vnd.service-api-v1+json', 200],
  ['/widgets', 'application/json; application/vnd.esios-api-v2+json', 200],
  ['/widgets', 'application/json', 200],
  ['/widgets', '*/*', 200],
  ['/widgets', 'application/json; application/vnd.service-api-v9+json', 406],
])('%s with the Accept header %s returns %i', async (target, accept, status) => {
  expect((await (await open()).ask(target, { accept })).status).toBe(status)
})

test.each([
  ['/indicators/600?end_date=2025-13-01', 400],
  ['/indicators/600?start_date=2025-02-30', 400],
  ['/indicators/600?time_agg=median', 400],
  ['/indicators/600?colour=red', 400],
  ['/indicators/600?geo_ids=3', 400],
  ['/es/glossaries?order=expires', 400],
  ['/indicators/424242', 404],
  ['/widgets/nothing', 404],
  ['/elsewhere', 404],
  ['/indicators/600?start_date=yesterday', 400],
  ['/indicators/600?start_date=2025-11-01T25:00', 400],
  ['/indicators/600?locale=fr', 400],
  ['/indicators/600?time_trunc=week', 400],
  ['/indicators/600?toString=1', 400],
  ['/indicators?geo_ids[]=3', 400],
  ['/offer_indicators/25?time_trunc=hour', 400],
  ['/es/news?sticky=maybe', 400],
  ['/es/news?order=expires', 200],
  ['/archives?date_type=all', 400],
  ['/archives?date=2025-11-01', 400],
  ['/archives_json?date=2025-11-01', 200],
  ['/widgets?widget_type=offer', 200],
  ['/widgets?widget_type=other', 400],
  ['/indicators/600?time_agg=avg&time_trunc=hour', 200],
  ['/indicators/600?geo_ids%5B%5D=3&geo_ids%5B%5D=1', 200],
  ['/indicators/six', 404],
  ['/en/news', 404],
  ['/indicators/600/values', 404],
  ['/widgets/%E0%A4%A', 400],
])('%s returns %i with a JSON body', async (target, status) => {
  const answer = await (await open()).ask(target)
  expect(answer.status).toBe(status)
  expect(() => JSON.parse(answer.bytes.toString())).not.toThrow()
})

test('the log contains every request and its outcome', async () => {
  const entries: unknown[] = []
  const { emulator, ask: planned } = await open({ log: (entry) => entries.push(entry) })
  const { bytes } = await planned('/widgets?locale=en')
  await planned('/nowhere')
  await planned('/indicators/600?colour=red', { 'x-api-key': 'no' })
  expect(emulator.requests).toMatchObject([
    { at: NOW, method: 'GET', url: '/widgets?locale=en', route: 'widgets', status: 200, bytes: bytes.length },
    { at: NOW, method: 'GET', url: '/nowhere', route: null, status: 404, bytes: expect.any(Number) },
    {
      at: NOW,
      method: 'GET',
      url: '/indicators/600?colour=red',
      route: 'indicator',
      status: 403,
      bytes: expect.any(Number),
    },
  ])
  expect(entries).toEqual(emulator.requests)
})

test('HEAD returns the headers without a body', async () => {
  const { emulator } = await open()
  const response = await fetch(`${emulator.url}/widgets`, { method: 'HEAD', headers: { 'x-api-key': emulator.key } })
  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(emulator.requests.at(-1)).toMatchObject({ method: 'HEAD', route: 'widgets', status: 200 })
})

test('responses are delayed by the configured time', async () => {
  const { ask: planned } = await open({ latencyMs: 60 })
  const start = performance.now()
  await planned('/widgets')
  expect(performance.now() - start).toBeGreaterThanOrEqual(55)
})

test('the clock can be a function, a fixed instant, or set later', async () => {
  let now = NOW
  const { emulator, ask: planned } = await open({ now: () => now })
  const today = async () =>
    (JSON.parse((await planned('/indicators/1739')).bytes.toString()).indicator.values[0].datetime as string).slice(
      0,
      10,
    )
  expect(await today()).toBe('2025-11-04')
  now += 86_400
  expect(await today()).toBe('2025-11-05')
  emulator.setNow(NOW - 86_400)
  expect(await today()).toBe('2025-11-03')
})

test('a download redirects to storage under another name, which refuses the key', async () => {
  const { emulator, ask: planned } = await open()
  const { status, headers } = await planned('/archives/8/download?date=2025-10-01')
  expect(status).toBe(307)
  expect(headers.location).toMatch(/^http:\/\/localhost:\d+\/storage\/8$/)
  expect(await raw(headers.location!, {})).toMatchObject({ status: 200, bytes: Buffer.from('A file of archive 8\n') })
  expect((await raw(headers.location!, { 'x-api-key': emulator.key })).status).toBe(400)
  expect((await planned('/archives/18/download_json')).status).toBe(307)
  expect((await planned('/archives/7/download')).status).toBe(404)
  expect((await planned('/archives/8/download', { 'x-api-key': 'f'.repeat(64) })).status).toBe(403)
})
