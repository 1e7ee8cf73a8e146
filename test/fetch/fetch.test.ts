import { brotliCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type FailedFetch, isTooLarge } from '../../src/fetch/client.ts'
import type { Pacer } from '../../src/fetch/pacer.ts'
import { retryAfterMs } from '../../src/fetch/waits.ts'
import type { Reply } from '../../src/service/request.ts'
import { SERVICES } from '../../src/service/services.ts'
import { StoppedError } from '../../src/util/errors.ts'
import { json, type Script, serve } from '../support/kit.ts'
import { type TestOptions, testClient } from './testClient.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: { Accept: 'application/json' } } as const
const GOOD = { indicators: [] }

async function request(script: Script, { baseUrl, ...over }: TestOptions = {}) {
  const server = await serve(script)
  const client = testClient(baseUrl ?? server.url, { key: 'secret-key', concurrency: 4, ...over })
  return { ...server, result: await client.get(REQUEST) }
}
const codeOf = (result: Reply | FailedFetch): string => ('error' in result ? result.error.code : 'ok')
/** A pacer that records the pauses, and lets no call start during one until `resume` is called. */
function manualPacer() {
  const pauses: number[] = []
  let waiting = 0
  let pause = Promise.withResolvers<void>()
  pause.resolve()
  const pacer: Pacer = {
    async take() {
      waiting++
      await pause.promise
      waiting--
    },
    async pause(_host, ms) {
      pauses.push(ms)
      pause.resolve()
      pause = Promise.withResolvers()
    },
  }
  return { pacer, pauses, countWaiting: () => waiting, resume: () => pause.resolve() }
}
/** Fails a number of times, then succeeds. */
const failing =
  (times: number, bad: Script): Script =>
  (request, response, call) =>
    call <= times ? bad(request, response, call) : json(response, GOOD)

describe('responses and their retries', () => {
  test.each<[string, Script, string, number]>([
    ['200', (_q, s) => json(s, GOOD), 'ok', 1],
    ['JSON with a wrong content type', (_q, s) => json(s, GOOD, 200, { 'Content-Type': 'json' }), 'ok', 1],
    ['three 429, then 200', failing(3, (_q, s) => json(s, {}, 429, { 'Retry-After': '0' })), 'ok', 4],
    [
      '429 with Retry-After as a date',
      failing(1, (_q, s) => json(s, {}, 429, { 'Retry-After': new Date().toUTCString() })),
      'ok',
      2,
    ],
    ['a dropped connection, then 200', failing(1, (q) => q.socket.destroy()), 'ok', 2],
    ['always 429', (_q, s) => json(s, {}, 429, { 'Retry-After': '0' }), 'too-many', 6],
    ['503, then 200', failing(2, (_q, s) => json(s, {}, 503)), 'ok', 3],
    ['always 500', (_q, s) => json(s, {}, 500), 'server-error', 4],
    ['always 504', (_q, s) => json(s, {}, 504), 'timeout', 3],
    ['always 408', (_q, s) => json(s, {}, 408), 'timeout', 3],
    ['413', (_q, s) => json(s, {}, 413), 'too-large', 3],
    ['400', (_q, s) => json(s, {}, 400), 'bad-request', 1],
    ['404', (_q, s) => json(s, {}, 404), 'not-found', 1],
    ['401 as text', (_q, s) => s.writeHead(401).end('Unauthorized'), 'key-refused', 1],
    ['403 as JSON', (_q, s) => json(s, { Status: 403, message: 'Forbidden' }, 403), 'key-refused', 1],
    ['a redirect', (_q, s) => s.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end(), 'redirect', 1],
    ['an HTML page with 200', (_q, s) => s.end('\n <HTML>maintenance'), 'page', 2],
    ['an empty body with 200', (_q, s) => s.end(), 'empty-body', 2],
    ['418', (_q, s) => s.writeHead(418).end('{}'), 'unexpected-status', 1],
    [
      'a truncated brotli body',
      (_q, s) => s.writeHead(200, { 'Content-Encoding': 'br' }).end(brotliCompressSync('x'.repeat(999)).subarray(0, 5)),
      'body-damaged',
      3,
    ],
    [
      'a body truncated by the network',
      (q, s) => {
        s.writeHead(200, { 'Content-Length': '1000' }).write('{')
        setTimeout(() => q.socket.destroy(), 5)
      },
      'network',
      4,
    ],
  ])('the response "%s" has its error code and number of attempts', async (_name, script, code, calls) => {
    const { result, calls: sent } = await request(script)
    expect(codeOf(result)).toBe(code)
    expect(sent).toHaveLength(calls)
  })

  test('a body above the size limit is refused, compressed or not', async () => {
    const limits = { maxBytes: 1000 }
    expect(codeOf((await request((_q, s) => json(s, 'x'.repeat(100_000)), { limits })).result)).toBe('body-too-large')
    expect(codeOf((await request((_q, s) => s.end('x'.repeat(100_000)), { limits })).result)).toBe('body-too-large')
  })

  test('a service that does not respond in time causes a timeout after three attempts', async () => {
    const { result } = await request(() => undefined, { limits: { timeoutMs: 60, maxBytes: 1000 } })
    expect(codeOf(result)).toBe('timeout')
    expect(result).toMatchObject({ last: { attempts: 3 } })
  })

  test.each([
    ['a host without an address', 'http://no-such-host.invalid', 'dns'],
    ['a host that does not speak TLS', 'https', 'tls'],
    ['a closed port', 'http://127.0.0.1:9', 'network'],
  ])('%s has a specific error code', async (_name, address, code) => {
    const server = await serve((_q, s) => json(s, GOOD))
    const baseUrl = address === 'https' ? server.url.replace('http:', 'https:') : address
    expect(codeOf((await request(() => undefined, { baseUrl })).result)).toBe(code)
    expect(server.calls).toHaveLength(0)
  })

  test('a 429 pauses all calls for a second, not only the one that received it', async () => {
    const server = await serve((_q, s, call) => json(s, GOOD, call === 2 ? 429 : 200))
    const { pacer, pauses, countWaiting, resume } = manualPacer()
    const client = testClient(server.url, { pacer })
    await client.get(REQUEST)
    const results = Promise.all([1, 2, 3].map(() => client.get(REQUEST)))
    await expect.poll(countWaiting).toBe(1)
    expect(server.calls).toHaveLength(2)
    resume()
    expect((await results).map(codeOf)).toEqual(['ok', 'ok', 'ok'])
    expect(server.calls).toHaveLength(5)
    expect(pauses).toEqual([1_000])
  })

  test('a service that always returns 429 ends the run after 11 calls and 45 seconds of pauses', async () => {
    const server = await serve((_q, s) => json(s, {}, 429))
    const { pacer, pauses, resume } = manualPacer()
    const client = testClient(server.url, { pacer, retryMs: 1, onPause: resume })
    const message = "The service's rate limit was reached (status 429)."
    expect(await client.get(REQUEST)).toMatchObject({
      error: { code: 'too-many', message, hint: expect.stringContaining('Lower pace.perSecond') },
      last: { attempts: 6 },
      endsRun: false,
    })
    expect(await client.get({ ...REQUEST, target: '/archives' })).toMatchObject({
      error: {
        code: 'unavailable',
        message: `The service keeps refusing calls. Last error: ${message}`,
        hint: expect.stringMatching(/^Lower pace\.perSecond .* it continues where this one stopped\.$/),
      },
      last: { attempts: 5 },
      endsRun: true,
    })
    expect(server.calls).toHaveLength(11)
    const coolDown = 1_000
    expect(pauses).toEqual([
      ...Array.from({ length: 7 }, () => coolDown),
      ...[5_000, 10_000, 20_000].flatMap((breakerPause) => [breakerPause, coolDown]),
    ])
  })

  test('a failure that mayRetry rejects is not retried', async () => {
    const server = await serve((_q, s) => json(s, {}, 504))
    await testClient(server.url).get(REQUEST, { mayRetry: ({ error }) => !isTooLarge(error) })
    expect(server.calls).toHaveLength(1)
  })

  test('a Retry-After of hours ends the run, which can be resumed', async () => {
    const { result } = await request((_q, s) => json(s, {}, 429, { 'Retry-After': '86400' }))
    expect(result).toMatchObject({ error: expect.any(StoppedError), endsRun: true })
  })

  test('the key is sent only in the header that the service declares', async () => {
    const service = { ...SERVICES.generic, apiKey: { header: 'X-Other-Token', issued: null } }
    const { calls } = await request((_q, s) => json(s, GOOD), { service })
    expect(calls[0]!.headers).toMatchObject({ 'x-other-token': 'secret-key' })
    expect(calls[0]!.headers).not.toHaveProperty('x-api-key')
  })

  test('the key is sent in its header, and redirects are not followed', async () => {
    const other = await serve((_q, s) => s.end('{}'))
    const { calls } = await request((_q, s) => s.writeHead(302, { Location: other.url }).end())
    expect(calls[0]!.headers['x-api-key']).toBe('secret-key')
    expect(other.calls).toHaveLength(0)
  })

  test('no part of the key is left at the end of an error that is read only to its limit', async () => {
    const key = '0123456789abcdef'.repeat(4)
    const { result } = await request(
      (_q, s) => s.writeHead(400).end('x'.repeat(65_536 - 60) + key + 'y'.repeat(50_000)),
      {
        key,
      },
    )
    const { body } = (result as FailedFetch).last
    expect(body).toHaveLength(65_536)
    expect(body.toString()).not.toContain('0123')
    expect(body.subarray(-61).toString()).toMatch(/^x\[secret\]/)
  })

  test.each([
    ['120', 120_000],
    ['Tue, 04 Nov 2025 12:01:00 GMT', 60_000],
    ['Tue, 04 Nov 2025 11:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('Retry-After %s is %s ms', (header, wait) => expect(retryAfterMs(header, Date.UTC(2025, 10, 4, 12))).toBe(wait))
})
