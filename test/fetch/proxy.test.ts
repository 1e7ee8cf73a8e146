import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FailedFetch } from '../../src/fetch/client.ts'
import { deliver } from '../../src/fetch/deliver.ts'
import { download, prepareFolder } from '../../src/fetch/files/download.ts'
import { findProxy, proxySecrets } from '../../src/fetch/proxies.ts'
import { readJob } from '../../src/job/read.ts'
import { openDatabase, sync } from '../../src/library.ts'
import { SERVICES } from '../../src/service/services.ts'
import { InputError, SignalError } from '../../src/util/errors.ts'
import { serve, tempFolder } from '../support/kit.ts'
import { proxiesOf, serveProxy } from './proxyServer.ts'
import { testClient } from './testClient.ts'

const REQUEST = { route: 'indicators', target: '/indicators', headers: { Accept: 'application/json' } } as const
const KEY = '0123456789abcdef'.repeat(4)

const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port)

describe('the proxy of a request', () => {
  const BOTH = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128' }
  const originFor = (target: string, variables: Record<string, string>) =>
    findProxy(target, proxiesOf(variables))?.origin ?? null

  test.each<[string, Record<string, string>, string | null]>([
    ['https://api.example', BOTH, 'http://secure:3128'],
    ['http://api.example', BOTH, 'http://plain:3128'],
    ['https://api.example', { HTTP_PROXY: 'http://plain:3128' }, null],
    ['https://api.example', { ...BOTH, https_proxy: 'http://lower:1' }, 'http://lower:1'],
    ['http://api.example', { ...BOTH, http_proxy: 'http://lower:1' }, 'http://lower:1'],
    ['https://api.example', { ...BOTH, https_proxy: 'http://lower:1', INDICATOR_SYNC_PROXY: 'own:2' }, 'http://own:2'],
    ['http://api.example', { INDICATOR_SYNC_PROXY: ' https://own/ ' }, 'https://own'],
    ['https://localhost:8443', BOTH, null],
    ['http://127.0.0.2', { INDICATOR_SYNC_PROXY: 'http://own:2' }, null],
    ['http://[::1]:80', BOTH, null],
    ['http://api.example', {}, null],
  ])('%s with %j is %s', (target, variables, origin) => expect(originFor(target, variables)).toBe(origin))

  test.each([
    ['https://api.example', '*', true],
    ['https://api.example', 'other.example, api.example', true],
    ['https://api.example', 'other.example api.example', true],
    ['https://api.example', 'API.example.', true],
    ['https://v1.api.example', 'api.example', true],
    ['https://v1.api.example', '.api.example', true],
    ['https://v1.api.example', '*.api.example', true],
    ['https://myapi.example', 'api.example', false],
    ['https://api.example', 'api.example:443', true],
    ['https://api.example:8443', 'api.example:443', false],
    ['http://api.example', 'api.example:80', true],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8', false],
    ['https://11.1.2.3', '10.0.0.0/99', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://[2001:db8::1]:8443', '[2001:db8:0::1]:8443', true],
    ['https://[2001:db8::1]', '2001:DB8::1', true],
    ['https://[2001:db8::1]', '2001:db8::/32', true],
    ['https://[2001:db8::1]', 'fd00::/8', false],
    ['https://api.example', ' , ', false],
  ])('%s is excepted by NO_PROXY=%j: %s', (target, NO_PROXY, excepted) => {
    const own = { INDICATOR_SYNC_PROXY: 'http://own:2' }
    for (const variables of [BOTH, own])
      for (const name of ['NO_PROXY', 'no_proxy'])
        expect(originFor(target, { ...variables, [name]: NO_PROXY }) === null).toBe(excepted)
  })

  test.each([
    'socks5://host:1080',
    'http://',
    'http://host:99999',
    'http://host/proxy.pac',
    'http://us#er:hunter22@host:3128',
    'http://user:hunter22%zz@host:3128',
    'http://user:hunter22@ho st:3128',
    'ftp://user:hunter22@host',
  ])('the address %s is refused with its variable and what is valid', (value) => {
    const find = () => findProxy('https://api.example', proxiesOf({ https_proxy: value }))
    expect(find).toThrow(InputError)
    try {
      find()
    } catch (error) {
      const { message, hint, code } = error as InputError
      expect(`${message} ${hint}`).toMatch(/variable https_proxy.*http:\/\/HOST:PORT/)
      expect(`${message} ${hint}`).not.toMatch(/hunter/)
      expect(code).toBe('bad-proxy')
    }
    // Targets without a proxy are reached.
    expect(findProxy('http://127.0.0.1', proxiesOf({ https_proxy: value, http_proxy: value }))).toBeNull()
  })

  test.each(['http://user:hunter%2322@host:3128', 'user:hunter%2322@host:3128', 'socks5://user:hunter%2322@host'])(
    'the password of %s is a secret in every form',
    (value) => {
      const secrets = proxySecrets(proxiesOf({ HTTP_PROXY: value }))
      expect(proxySecrets(proxiesOf({ HTTP_PROXY: 'http://indicator-sync@host' }))).not.toContain('indicator-sync')
      for (const text of ['hunter%2322', 'hunter#22', Buffer.from('user:hunter#22').toString('base64')])
        expect(secrets).toContain(text)
    },
  )
})

describe('a request through a proxy', () => {
  test('a request in plain HTTP is forwarded with its path, host and headers', async () => {
    const server = await serve((_q, s) => s.end('{"indicators":[]}'))
    const proxy = await serveProxy({ hosts: { 'api.example:8080': portOf(server) }, login: 'user:p@ss:word' })
    const HTTP_PROXY = proxy.url.replace('//', '//user:p%40ss:word@')
    const client = testClient('http://api.example:8080/v1', { key: KEY, proxies: proxiesOf({ HTTP_PROXY }) })
    for (let i = 0; i < 2; i++) expect(await client.get(REQUEST)).toMatchObject({ status: 200 })
    expect(proxy.seen).toEqual(Array(2).fill('GET http://api.example:8080/v1/indicators'))
    const { url, headers } = server.calls[0]!
    expect(url).toBe('/v1/indicators')
    expect(headers).toMatchObject({ host: 'api.example:8080', 'x-api-key': KEY, accept: 'application/json' })
  })

  test('a login that an error page of the proxy repeats is removed', async () => {
    const page = await serve((q, s) =>
      s.writeHead(500, { 'X-Sent': q.headers['proxy-authorization'] }).end(JSON.stringify(q.headers)),
    )
    const HTTP_PROXY = page.url.replace('//', '//user:p%40ss:word@')
    const client = testClient('http://api.example/v1', {
      key: KEY,
      proxies: proxiesOf({ HTTP_PROXY }),
      breaker: { failures: 99, pauseMs: 1, openings: 1, giveUpMs: 60_000 },
    })
    const result = await client.get(REQUEST)
    expect(result).toMatchObject({ error: { code: 'server-error' }, last: { status: 500 } })
    const { last } = result as FailedFetch
    const text = JSON.stringify(last.headers) + last.body.toString()
    expect(text).toContain('"proxy-authorization":"Basic [secret]')
    expect(text).toContain('"x-sent":"Basic [secret]"')
    expect(text).not.toContain(Buffer.from('user:p@ss:word').toString('base64').slice(9))
  })

  test('a host on this machine or in NO_PROXY is called without the proxy', async () => {
    const server = await serve((_q, s) => s.end('{"indicators":[]}'))
    const proxy = await serveProxy()
    const proxies = proxiesOf({ INDICATOR_SYNC_PROXY: proxy.url, NO_PROXY: 'excepted.invalid' })
    expect(await testClient(server.url, { proxies }).get(REQUEST)).toMatchObject({ status: 200 })
    const excepted = await testClient('https://excepted.invalid', { proxies }).get(REQUEST)
    expect(excepted).toMatchObject({ error: { code: 'dns' } })
    expect(proxy.seen).toEqual([])
  })

  test.each(['https', 'http'])('a proxy for %s that needs a login is named, and called once', async (scheme) => {
    const proxy = await serveProxy({ login: 'user:hunter22' })
    for (const login of ['', 'user:wrong-one@']) {
      const proxies = proxiesOf({ INDICATOR_SYNC_PROXY: proxy.url.replace('//', `//${login}`) })
      const reply = await testClient(`${scheme}://api.example`, { proxies }).get(REQUEST)
      expect(reply).toMatchObject({ endsRun: false, error: { name: 'TransientError', code: 'proxy' } })
      const { message, hint } = (reply as { error: { message: string; hint: string } }).error
      expect(message).toMatch(/^The proxy requires a user and a password, or refused them \(.*status 407\)\.$/)
      expect(hint).toMatch(/USER:PASSWORD@HOST:PORT/)
      expect(message).not.toMatch(/wrong-one/)
    }
    expect(proxy.seen).toHaveLength(2)
  })

  test.each<[string, (socket: Socket) => unknown, RegExp, number]>([
    ['cannot reach the service', (socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'), /could not.*502/, 4],
    ['does not allow the host', (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'), /refused.*403/, 1],
    ['closes the connection', (socket) => socket.end(), /cannot be reached.*ECONNRESET/, 4],
    ['does not speak HTTP', (socket) => socket.end('220 mail\r\n'), /cannot be reached.*HPE_/, 4],
  ])('a proxy that %s is named in the error', async (_name, onConnect, message, attempts) => {
    const proxy = await serveProxy({ onConnect })
    const proxies = proxiesOf({ https_proxy: proxy.url })
    const reply = await testClient('https://api.example', { proxies }).get(REQUEST)
    expect(reply).toMatchObject({ last: { attempts }, error: { code: 'proxy' } })
    const { error } = reply as { error: Error }
    expect(error.message).toMatch(message)
    expect(error.message).toContain(`https://api.example, proxy ${proxy.url} from variable https_proxy: `)
    expect(proxy.seen).toEqual(Array(attempts).fill('CONNECT api.example:443'))
  })

  test.each([
    ['https', 'http://127.0.0.1:9', /ECONNREFUSED/],
    ['http', 'http://127.0.0.1:9', /ECONNREFUSED/],
    ['https', 'http://no-such-proxy.invalid:3128', /ENOTFOUND/],
  ])('for %s, the unreachable proxy %s is named, and tried as often as a service', async (scheme, url, reason) => {
    const proxies = proxiesOf({ INDICATOR_SYNC_PROXY: url })
    const reply = await testClient(`${scheme}://api.example`, { proxies }).get(REQUEST)
    expect(reply).toMatchObject({ last: { attempts: 4 }, error: { code: 'proxy' } })
    expect((reply as { error: Error }).error.message).toMatch(reason)
    expect((reply as { error: Error }).error.message).toContain(`proxy ${url} from variable INDICATOR_SYNC_PROXY`)
  })

  test('a proxy that never responds is not taken for a slow service', async () => {
    const proxy = await serveProxy({ onConnect: () => undefined })
    const client = testClient('https://api.example', {
      proxies: proxiesOf({ HTTPS_PROXY: proxy.url }),
      limits: { timeoutMs: 2_000 },
    })
    const reply = await client.get(REQUEST, { mayRetry: () => false })
    expect(reply).toMatchObject({ error: { code: 'proxy', message: expect.stringMatching(/no response within 1 s/) } })
  })

  test('a server behind the proxy that does not speak TLS is an error of the service', async () => {
    const server = await serve((_q, s) => s.end())
    const proxy = await serveProxy({ hosts: { 'api.example:443': portOf(server) } })
    const reply = await testClient('https://api.example', { proxies: proxiesOf({ HTTPS_PROXY: proxy.url }) }).get(
      REQUEST,
    )
    expect(reply).toMatchObject({ error: { code: 'tls' } })
    expect(proxy.received()).not.toContain('k'.repeat(64))
  })

  test('a tunnel in the making ends with the run', async () => {
    const ending = new AbortController()
    const proxy = await serveProxy({ onConnect: () => ending.abort() })
    // Waiting for the deadlines would take longer than the test may.
    const never = 10 * 60_000
    const client = testClient('https://api.example', {
      proxies: proxiesOf({ HTTPS_PROXY: proxy.url }),
      limits: { timeoutMs: never, totalMs: never, graceMs: never },
      signal: ending.signal,
    })
    expect(await client.get(REQUEST)).toMatchObject({ endsRun: true, error: expect.any(SignalError) })
  })

  test('a handshake within a tunnel ends with the run', async () => {
    const ending = new AbortController()
    const silent = createTcpServer(
      (socket) => void socket.once('data', () => ending.abort()).on('error', () => undefined),
    )
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const proxy = await serveProxy({ hosts: { 'api.example:443': port } })
    const never = 10 * 60_000
    const client = testClient('https://api.example', {
      proxies: proxiesOf({ HTTPS_PROXY: proxy.url }),
      limits: { timeoutMs: never, totalMs: never, graceMs: never },
      signal: ending.signal,
    })
    expect(await client.get(REQUEST)).toMatchObject({ endsRun: true, error: expect.any(SignalError) })
  })
})

describe('a download through a proxy', () => {
  /** Downloads from a service that redirects to a storage; both are known to the proxy only. */
  async function follow(location: string, allowHosts: readonly string[] = []) {
    const storage = await serve((_q, s) => s.end('An edition.\n'))
    const service = await serve((_q, s) => s.writeHead(302, { Location: location }).end())
    const { host } = new URL(location)
    const proxy = await serveProxy({
      hosts: { 'service.example:80': portOf(service), [`${host}:80`]: portOf(storage) },
    })
    const proxies = proxiesOf({ HTTP_PROXY: proxy.url })
    const client = testClient('http://service.example', { key: KEY, proxies })
    const options = { client, folder: join(tempFolder(), 'archives'), maxBytes: 1e6, allowHosts }
    await prepareFolder(options.folder)
    const result = await download('/archives/1/download', options)
    return { result, proxy, storage, folder: options.folder }
  }

  test('a redirect to a public name goes through the proxy, without the key', async () => {
    const { result, proxy, storage, folder } = await follow('http://storage.example/file')
    expect(result).toMatchObject({ bytes: 12 })
    expect(readFileSync(join(folder, (result as { path: string }).path), 'utf8')).toBe('An edition.\n')
    expect(proxy.seen).toEqual(['GET http://service.example/archives/1/download', 'GET http://storage.example/file'])
    expect(storage.calls[0]!.headers).not.toHaveProperty('x-api-key')
  })

  test.each(['10.0.0.7', '169.254.169.254', '[fd00::1]', 'intranet', 'db.internal', 'files.home.arpa', 'nas.local.'])(
    'a redirect to the private host %s is refused, unless the user allows it',
    async (host) => {
      const { result, proxy, storage } = await follow(`http://${host}/admin`)
      expect(result).toMatchObject({
        code: 'download-refused',
        message: `it redirects to a private network; to follow it, pass --allow-host ${host}`,
      })
      expect(proxy.seen).toHaveLength(1)
      expect(storage.calls).toHaveLength(0)
      expect((await follow(`http://${host}/admin`, [host])).result).toMatchObject({ bytes: 12 })
    },
  )

  test('a redirect to this machine is refused, and never sent to the proxy', async () => {
    const { result, proxy } = await follow('http://localhost/admin')
    expect(result).toMatchObject({ code: 'download-refused' })
    expect(proxy.seen).toHaveLength(1)
  })
})

describe('a notification through a proxy', () => {
  const message = {
    url: 'http://hooks.example/x',
    type: 'application/json',
    body: '{"ok":true}',
  } as const

  test('a notification reaches its target through the proxy', async () => {
    let body = ''
    const hook = await serve((request, response) => {
      request.on('data', (data) => {
        body += data
      })
      request.on('end', () => response.end())
    })
    const proxy = await serveProxy({ hosts: { 'hooks.example:80': portOf(hook) } })
    expect(await deliver({ ...message, proxies: proxiesOf({ HTTP_PROXY: proxy.url }) })).toBeNull()
    expect(body).toBe('{"ok":true}')
  })

  test('the reason of an undelivered notification names the proxy', async () => {
    const proxies = proxiesOf({ HTTPS_PROXY: 'http://user:hunter22@127.0.0.1:9' })
    const reason = await deliver({ ...message, url: 'https://hooks.example/x', proxies }, { waitMs: 1 })
    expect(reason).toBe('proxy http://127.0.0.1:9 from variable HTTPS_PROXY: ECONNREFUSED')
  })
})

test('a library caller passes the address of a proxy', async () => {
  const server = await serve((_q, s) => s.end('{"indicators":[{"id":1,"name":"a","short_name":"a","description":""}]}'))
  const proxy = await serveProxy({ hosts: { 'api.example:80': portOf(server) } })
  const store = await openDatabase(join(tempFolder(), 'library.db'))
  onTestFinished(() => store.close())
  const job = readJob('name: x\ncatalogue: true\n', 'x.yaml', SERVICES.generic)
  const options = { store, key: KEY, service: SERVICES.generic, baseUrl: 'http://api.example', allowHttp: true }
  expect(await sync(job, { ...options, proxy: proxy.url })).toMatchObject({ outcome: 'done' })
  expect(proxy.seen.length).toBeGreaterThan(0)
  await expect(sync(job, { ...options, proxy: 'socks5://x' })).rejects.toThrow(/\(from the option proxy\) is not valid/)
})
