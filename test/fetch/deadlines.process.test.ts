import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAgent } from '../../src/fetch/agent.ts'
import { classifyError } from '../../src/fetch/classify.ts'
import { HTTP_LIMITS, type Limits, readResponse, send } from '../../src/fetch/http.ts'
import { createPacer } from '../../src/fetch/pacer.ts'
import { StoppedError } from '../../src/util/errors.ts'
import { createRedactor } from '../../src/util/redact.ts'
import { runCli, runJob, serve, tempFolder, tempStore } from '../support/kit.ts'
import { testSignals } from '../support/systems.ts'
import { openReader } from '../support/testStore.ts'
import { type TestOptions, testClient } from './testClient.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: {} } as const
/** Deadlines that no slow machine reaches. */
const PATIENT = { timeoutMs: 600_000, totalMs: 600_000, minRate: { bytes: 1, ms: 600_000 }, graceMs: 600_000 }
/** A body must deliver a kilobyte in this time. */
const SLOW = { minRate: { bytes: 1000, ms: 400 } }

/** Starts a server that sends raw bytes. */
async function raw(talk: (socket: Socket) => void): Promise<{ url: string; calls: () => number }> {
  let calls = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      calls++
      talk(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls }
}

/** Repeats a text until the connection closes. */
const drip =
  (before: string, again: string, everyMs: number) =>
  (socket: Socket): void => {
    socket.write(before)
    const timer = setInterval(() => socket.write(again), everyMs)
    socket.on('close', () => clearInterval(timer))
  }

const clientOf = (baseUrl: string, over: TestOptions = {}) => testClient(baseUrl, { limits: PATIENT, ...over })

/** Endless responses, the deadline that ends each, its error code and the number of attempts. */
const ENDLESS: Readonly<Record<string, readonly [(socket: Socket) => void, Partial<Limits>, string, number]>> = {
  'no head': [() => undefined, { timeoutMs: 500 }, 'timeout', 3],
  'a head, letter by letter': [drip('HTTP/1.1 200 OK\r\nX: ', 'x', 20), { timeoutMs: 500 }, 'timeout', 3],
  'headers without an end': [drip('HTTP/1.1 200 OK\r\n', `X: ${'x'.repeat(20_000)}\r\n`, 5), {}, 'bad-http', 2],
  'a body, byte by byte': [drip('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', '1', 20), SLOW, 'too-slow', 2],
  'chunks, one by one': [
    drip('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n', 20),
    SLOW,
    'too-slow',
    2,
  ],
  'a head and nothing else': [
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'),
    { ...SLOW, timeoutMs: 500 },
    'timeout',
    3,
  ],
  'a body that stalls': [drip('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', '', 1000), SLOW, 'too-slow', 2],
  'a body at a good rate, for ever': [
    drip('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `800\r\n${'x'.repeat(2048)}\r\n`, 20),
    { totalMs: 1_000 },
    'timeout',
    3,
  ],
  '103, again and again': [
    drip('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(50), 5),
    { timeoutMs: 500 },
    'timeout',
    3,
  ],
  'an unrequested 100 Continue': [drip('', 'HTTP/1.1 100 Continue\r\n\r\n', 60), {}, 'network', 4],
  'a failure, byte by byte': [drip('HTTP/1.1 500 No\r\nContent-Length: 99999\r\n\r\n', '1', 20), SLOW, 'too-slow', 2],
}

describe('endless and broken responses', () => {
  test('an endless response is aborted by its specific deadline', async () => {
    const given = await Promise.all(
      Object.entries(ENDLESS).map(async ([name, [talk, limits]]) => {
        const client = clientOf((await raw(talk)).url, { limits: { ...PATIENT, ...limits } })
        const result = await client.get(REQUEST)
        return 'error' in result ? [name, result.error.code, result.last.attempts] : [name, 'ok', result.attempts]
      }),
    )
    expect(given).toEqual(Object.entries(ENDLESS).map(([name, [, , code, tries]]) => [name, code, tries]))
  })

  test.each<[string, string, string, number]>([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'bad-http', 2],
    ['a body below its Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}', 'network', 4],
    ['invalid chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n', 'bad-http', 2],
    [
      'two Content-Length headers',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      'bad-http',
      2,
    ],
    ['a NUL in a header', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\n{}', 'bad-http', 2],
    [
      'a switch of the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      'network',
      4,
    ],
    ['a flood of headers', `HTTP/1.1 200 OK\r\n${'Header: value\r\n'.repeat(20_000)}\r\n{}`, 'bad-http', 2],
  ])('a response with %s gets its specific error', async (_name, text, code, calls) => {
    const server = await raw((socket) => socket.end(text))
    expect(await clientOf(server.url).get(REQUEST)).toMatchObject({ error: { code } })
    expect(server.calls()).toBe(calls)
  })
})

describe('a connection timeout', () => {
  /** Starts a server that accepts connections but never responds to the TLS handshake. */
  const silent = async () => (await raw(() => undefined)).url.replace('http:', 'https:')

  test('an unreachable host fails after the connection timeout', async () => {
    const url = await silent()
    const signal = new AbortController().signal
    const dispatcher = createAgent({ timeoutMs: 200, connections: 1, signal })
    onTestFinished(() => dispatcher.destroy())
    const redactor = createRedactor('k'.repeat(64))
    const limits = { ...HTTP_LIMITS, ...PATIENT }
    const sending = { dispatcher, url, headers: {}, limits, redactor, signal }
    const thrown = await send(sending, readResponse).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
    const { error } = classifyError(thrown, { route: 'indicators', url }, redactor)
    expect(error).toMatchObject({ name: 'TransientError', code: 'network' })
  })

  test('a connection timeout does not reduce the window of a series', async () => {
    const store = await tempStore()
    const job = 'series: [{ indicators: [600], geoIds: [3], window: { from: 2025-01-01, to: 2025-06-30 } }]'
    // The response deadline would pass first.
    const { failures } = await runJob(store, { url: await silent() }, job, { limits: { timeoutMs: 200 } })
    expect(failures).toMatchObject([{ error: { name: 'TransientError', code: 'network' } }])
    expect(store.all('select outcome, attempts from _fetch')).toEqual([{ outcome: 'transient', attempts: 4 }])
    expect(store.get('select count(*) from series where window_s is not null')).toBe(0)
  })
})

describe('a stop signal during a request', () => {
  const answered = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  test.each<[string, (socket: Socket) => void]>([
    ['a request without a response', () => undefined],
    ['a response that drips', drip('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', '1', 20)],
    ['a pause after 429', (socket) => socket.end('HTTP/1.1 429 No\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n')],
    ['the wait before a retry', (socket) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n')],
  ])('a signal ends %s', async (_name, talk) => {
    const controller = new AbortController()
    const server = await raw((socket) => {
      talk(socket)
      setTimeout(() => controller.abort(), 60)
    })
    const client = clientOf(server.url, {
      signal: controller.signal,
      retryMs: 600_000,
      limits: { ...PATIENT, graceMs: 50 },
    })
    expect(await client.get(REQUEST)).toMatchObject({ error: expect.any(StoppedError), endsRun: true })
    expect(server.calls()).toBe(1)
  })

  test('a signal ends a TLS handshake that never completes', async () => {
    const controller = new AbortController()
    let ended = false
    // The server receives the first bytes of the handshake and never replies.
    const server = await raw((socket) => {
      socket.on('close', () => {
        ended = true
      })
      controller.abort()
    })
    const client = clientOf(server.url.replace('http:', 'https:'), { signal: controller.signal })
    expect(await client.get(REQUEST)).toMatchObject({ error: expect.any(StoppedError), endsRun: true })
    await client.close()
    await vi.waitUntil(() => ended, { timeout: 600_000 })
    expect(server.calls()).toBe(1)
  })

  test('a response that is being received is completed within the grace period', async () => {
    const controller = new AbortController()
    const server = await raw((socket) => {
      const text = answered('{"indicators":[]}')
      socket.write(text.slice(0, -5))
      controller.abort()
      setTimeout(() => socket.end(text.slice(-5)), 30)
    })
    const client = clientOf(server.url, { signal: controller.signal, limits: { graceMs: 60_000 } })
    expect(await client.get(REQUEST)).toMatchObject({ status: 200 })
  })

  test('a signal ends the wait for a slow pace', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const pacer = createPacer({ perSecond: 0.001 })
    await pacer.take('any', signal)
    const second = pacer.take('any', signal)
    controller.abort()
    await expect(second).rejects.toThrow(StoppedError)
    await expect(pacer.take('any', signal)).rejects.toThrow(StoppedError)
  })

  testSignals.each(['SIGINT', 'SIGTERM'] as const)(
    '%s during a slow response ends the process and releases the write lock',
    async (name) => {
      const folder = tempFolder()
      const job = join(folder, 'job.yaml')
      writeFileSync(job, 'name: x\npace: { perSecond: 0.01 }\ncatalogue: true\ncontent: [{ kinds: [news] }]\n')
      const server = await raw(drip('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', '1', 20))
      const env = { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_API_KEY: 'k'.repeat(64) }
      const done = await runCli(folder, ['sync', job], env, (child) => {
        const timer = setInterval(() => {
          if (server.calls() === 0) return
          clearInterval(timer)
          child.kill(name)
        }, 10)
      })
      expect(done.code).toBe(name === 'SIGINT' ? 130 : 143)
      // Ended by the signal, not by the deadline for slow responses.
      const reader = openReader(join(folder, 'data/indicator-sync.db'))
      expect(reader.all('select outcome from _fetch')).toEqual([{ outcome: 'stopped' }])
      await reader.close()
      const prompt = await serve((_request, response) =>
        response.end('{"indicators":[{"id":1,"name":"One","short_name":"One","description":""}]}'),
      )
      writeFileSync(job, 'name: x\ncatalogue: true\n')
      expect(await runCli(folder, ['sync', job], { ...env, INDICATOR_SYNC_BASE_URL: prompt.url })).toMatchObject({
        code: 0,
      })
    },
  )
})
