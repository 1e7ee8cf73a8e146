import { brotliCompressSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { KeyError, StoppedError } from '../../src/base/errors.ts'
import { BREAKER } from '../../src/fetch/breaker.ts'
import { createFetcher, type FailedFetch, type FetchOptions } from '../../src/fetch/fetch.ts'
import { createGate } from '../../src/fetch/pace.ts'
import { createTurns, LapsedError, NotNowError, type Turns } from '../../src/fetch/turns.ts'
import { retryAfterMs } from '../../src/fetch/waits.ts'
import type { Reply } from '../../src/services/reply.ts'
import { SERVICES } from '../../src/services/services.ts'
import { json, type Script, serve } from '../kit.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: { Accept: 'application/json' } } as const
const GOOD = { indicators: [] }

function fetcherOf(baseUrl: string, over: Partial<FetchOptions> = {}) {
  const fetcher = createFetcher({
    baseUrl,
    key: 'secret-key',
    version: 'test',
    service: SERVICES.generic,
    pace: { perSecond: 50, concurrency: 4 },
    signal: new AbortController().signal,
    retryMs: 5,
    ...over,
  })
  onTestFinished(() => fetcher.close())
  return fetcher
}

async function request(script: Script, over: Partial<FetchOptions> = {}) {
  const server = await serve(script)
  const fetcher = fetcherOf(server.url, over)
  // A refused key ends the run: it is thrown.
  const result = await fetcher.fetch(REQUEST).catch((error: unknown) => {
    if (error instanceof KeyError) return error
    throw error
  })
  return { ...server, result }
}
const codeOf = (result: Reply | FailedFetch | KeyError): string =>
  result instanceof KeyError ? result.code : 'error' in result ? result.error.code : 'ok'
/** Answers badly so many times, then well. */
const failing =
  (times: number, bad: Script): Script =>
  (request, response, call) =>
    call <= times ? bad(request, response, call) : json(response, GOOD)

describe('every kind of answer has its next step', () => {
  test('what was too late for its turn was not sent: it goes over the connection that is there by then, and counts once', async () => {
    const turns: Turns = {
      ...createTurns({ perSecond: 50, concurrency: 4 }, new AbortController().signal, BREAKER),
      async pass(_host, call) {
        const late = (): never => {
          throw new NotNowError()
        }
        for (let attempts = 0; attempts < 3; attempts++) await expect(call(late)).rejects.toThrow(NotNowError)
        return call(() => undefined)
      },
    }
    const { result, calls, connections } = await request((_q, s) => json(s, GOOD), { turns })
    expect([result, calls.length, connections.size]).toMatchObject([{ status: 200, attempts: 1 }, 1, 1])
  })

  test.each([
    ['before its turn', 1],
    ['right before it would be sent', 2],
  ])('what others may have by then is not sent: told %s, in the turns of one process', async (_when, at) => {
    const server = await serve((_q, s) => json(s, GOOD))
    const fetcher = fetcherOf(server.url)
    let checks = 0
    const checkLease = (): void => {
      if (++checks === at) throw new LapsedError()
    }
    await expect(fetcher.fetch(REQUEST, false, undefined, undefined, checkLease)).rejects.toThrow(LapsedError)
    expect(server.calls).toHaveLength(0)
    expect(await fetcher.fetch(REQUEST, false, undefined, undefined, checkLease)).toMatchObject({ status: 200 })
  })

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
    ['503, then 200', failing(2, (_q, s) => json(s, {}, 503)), 'ok', 3],
    ['500 for ever', (_q, s) => json(s, {}, 500), 'server-error', 4],
    ['504 for ever', (_q, s) => json(s, {}, 504), 'timeout', 3],
    ['408 for ever', (_q, s) => json(s, {}, 408), 'timeout', 3],
    ['413', (_q, s) => json(s, {}, 413), 'too-large', 3],
    ['400', (_q, s) => json(s, {}, 400), 'bad-request', 1],
    ['404', (_q, s) => json(s, {}, 404), 'not-found', 1],
    ['401 as text', (_q, s) => s.writeHead(401).end('Unauthorized'), 'key-refused', 1],
    ['403 as JSON', (_q, s) => json(s, { Status: 403, message: 'Forbidden' }, 403), 'key-refused', 1],
    ['a redirect', (_q, s) => s.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end(), 'redirect', 1],
    ['a page with 200', (_q, s) => s.end('\n <HTML>maintenance'), 'page', 2],
    ['nothing with 200', (_q, s) => s.end(), 'empty-body', 2],
    ['a teapot', (_q, s) => s.writeHead(418).end('{}'), 'unexpected-status', 1],
    [
      'a truncated brotli body',
      (_q, s) => s.writeHead(200, { 'Content-Encoding': 'br' }).end(brotliCompressSync('x'.repeat(999)).subarray(0, 5)),
      'body-damaged',
      3,
    ],
    [
      'a body cut by the network',
      (q, s) => {
        s.writeHead(200, { 'Content-Length': '1000' }).write('{')
        setTimeout(() => q.socket.destroy(), 5)
      },
      'network',
      4,
    ],
  ])('%s', async (_name, script, code, calls) => {
    const { result, calls: sent } = await request(script)
    expect(codeOf(result)).toBe(code)
    expect(sent).toHaveLength(calls)
  })

  test('a body beyond the limit is refused, packed or not', async () => {
    const limits = { maxBytes: 1000 }
    expect(codeOf((await request((_q, s) => json(s, 'x'.repeat(100_000)), { limits })).result)).toBe('body-too-large')
    expect(codeOf((await request((_q, s) => s.end('x'.repeat(100_000)), { limits })).result)).toBe('body-too-large')
  })

  test('a service that does not answer in time', async () => {
    let attempts = 0
    const onFailure = () => attempts++
    const { result } = await request(() => undefined, { limits: { timeoutMs: 60, maxBytes: 1000 }, onFailure })
    expect(codeOf(result)).toBe('timeout')
    expect(attempts).toBe(3)
  })

  test.each([
    ['a host without an address', 'http://no-such-host.invalid', 'dns'],
    ['a host that does not speak TLS', 'https', 'tls'],
    ['a port that nobody listens on', 'http://127.0.0.1:9', 'network'],
  ])('%s', async (_name, address, code) => {
    const server = await serve((_q, s) => json(s, GOOD))
    const baseUrl = address === 'https' ? server.url.replace('http:', 'https:') : address
    expect(codeOf((await request(() => undefined, { baseUrl })).result)).toBe(code)
    expect(server.calls).toHaveLength(0)
  })

  test('a 429 holds every call, not only the one that it answered', async () => {
    const times: number[] = []
    const server = await serve((_q, s, call) => {
      times.push(performance.now())
      json(s, GOOD, call === 2 ? 429 : 200)
    })
    const fetcher = createFetcher({
      baseUrl: server.url,
      key: 'k',
      version: 'test',
      service: SERVICES.generic,
      pace: { perSecond: 50, concurrency: 1 },
      signal: new AbortController().signal,
      retryMs: 5,
    })
    onTestFinished(() => fetcher.close())
    await fetcher.fetch(REQUEST)
    await Promise.all([1, 2, 3].map(() => fetcher.fetch(REQUEST)))
    expect(times).toHaveLength(5)
    expect(times[2]! - times[1]!).toBeGreaterThan(950)
  })

  test('what is too large is not repeated where it can be divided', async () => {
    const server = await serve((_q, s) => json(s, {}, 504))
    const fetcher = createFetcher({
      baseUrl: server.url,
      key: 'k',
      version: 'test',
      service: SERVICES.generic,
      pace: { perSecond: 50, concurrency: 1 },
      signal: new AbortController().signal,
    })
    onTestFinished(() => fetcher.close())
    await fetcher.fetch(REQUEST, true)
    expect(server.calls).toHaveLength(1)
  })

  test('a Retry-After of hours ends the run, resumably', async () => {
    await expect(request((_q, s) => json(s, {}, 429, { 'Retry-After': '86400' }))).rejects.toThrow(StoppedError)
  })

  test('the key goes in the header that the service declares, and in no other', async () => {
    const service = { apiKey: { header: 'X-Other-Token', issued: null } }
    const { calls } = await request((_q, s) => json(s, GOOD), { service })
    expect(calls[0]!.headers).toMatchObject({ 'x-other-token': 'secret-key' })
    expect(calls[0]!.headers).not.toHaveProperty('x-api-key')
  })

  test('the key goes in its header, and with no redirect', async () => {
    const other = await serve((_q, s) => s.end('{}'))
    const { calls } = await request((_q, s) => s.writeHead(302, { Location: other.url }).end())
    expect(calls[0]!.headers['x-api-key']).toBe('secret-key')
    expect(other.calls).toHaveLength(0)
  })

  test.each([
    ['120', 120_000],
    ['Tue, 04 Nov 2025 12:01:00 GMT', 60_000],
    ['Tue, 04 Nov 2025 11:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('Retry-After %s is %s ms', (header, wait) => expect(retryAfterMs(header, Date.UTC(2025, 10, 4, 12))).toBe(wait))
})

describe('pace', () => {
  test('never more than so many calls begin within any second', async () => {
    // The clock is turned by hand: what is measured is the pace, not the machine.
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const gate = createGate({ perSecond: 5, concurrency: 4 }, new AbortController().signal)
    const times: number[] = []
    const calls = Array.from({ length: 11 }, () =>
      gate.pass(async () => {
        times.push(Date.now())
        gate.faster()
      }),
    )
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all(calls)
    gate.close()
    for (let i = 5; i < times.length; i++) expect(times[i]! - times[i - 5]!).toBeGreaterThanOrEqual(1000)
  })

  test('a clock that jumps back does not stand in the way of the next call', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const gate = createGate({ perSecond: 5, concurrency: 4 }, new AbortController().signal)
    let begun = 0
    const calls = Array.from({ length: 12 }, () => gate.pass(async () => void begun++))
    await vi.advanceTimersByTimeAsync(100)
    vi.setSystemTime(Date.now() - 3_600_000)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(begun).toBe(12)
    await Promise.all(calls)
    gate.close()
  })
})
