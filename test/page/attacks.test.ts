import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ENDPOINTS } from '../../src/page/pages.ts'
import { tokenCookie } from '../../src/page/security.ts'
import { HOSTILE, servePage, sharedFile } from './site.ts'

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request with any headers, which no client library permits. */
function send(
  address: string,
  headers: Record<string, string | string[]> = {},
  method = 'GET',
  path?: string,
): Promise<Got> {
  const { hostname, port, pathname, search } = new URL(address)
  return new Promise((done, fail) => {
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path: path ?? `${pathname}${search}`,
        headers,
        agent: false,
        setHost: !('Host' in headers),
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          body += text
        })
        response.on('end', () => done({ status: response.statusCode!, headers: response.headers, body }))
      },
    )
    outgoing.on('error', fail)
    outgoing.end()
  })
}

/** Sends raw bytes and returns the response up to the end of the connection. */
async function say(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let got = ''
  socket.on('data', (data) => {
    got += data
  })
  socket.on('error', () => undefined)
  socket.end(text)
  await once(socket, 'close')
  return got
}

/** Matches stored data, which no refused response may contain. */
const STORED_TEXT = /Precio|indicator_id|mercado|Demanda/

describe('a request to the page', () => {
  test.each([
    'evil.example',
    'evil.example:8420',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example#127.0.0.1',
    '127.0.0.1@evil.example',
    '127.0.0.2',
    '10.0.0.1:80',
    '[::2]',
    '',
    'localhost:99999999',
    'localhost/../evil',
  ])('a request with the foreign host name %j (DNS rebinding) is refused before any page is read', async (host) => {
    const { url } = await servePage(await sharedFile())
    for (const path of ['/', '/index.json', '/nothing', '/api/live', '/-/x/page.css']) {
      const { status, body } = await send(`${url}${path}`, { Host: host })
      expect([400, 403], path).toContain(status)
      expect(body).not.toMatch(STORED_TEXT)
    }
  })

  test('a request with a local host name is accepted, with any port', async () => {
    const { url } = await servePage(await sharedFile())
    for (const host of ['localhost', 'LOCALHOST:9999', '127.0.0.1', '[::1]:80', 'localhost.'])
      expect((await send(`${url}/`, { Host: host })).status, host).toBe(200)
  })

  test('a request with two Host headers or an absolute URL is refused', async () => {
    const { url } = await servePage(await sharedFile())
    for (const head of [
      'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n',
      'GET / HTTP/1.0\r\n',
      'GET /\\ HTTP/1.1\r\nHost: localhost\r\n',
      'GET /\\evil.example/ HTTP/1.1\r\nHost: localhost\r\n',
      'GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n',
      'GET /\r\nHost: evil.example HTTP/1.1\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    ]) {
      const got = await say(url, `${head}Connection: close\r\n\r\n`)
      expect(got, head).toMatch(/^HTTP\/1\.1 4\d\d/)
      expect(got).not.toMatch(STORED_TEXT)
    }
  })

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    'a %s request is refused, because only GET and HEAD are supported',
    async (method) => {
      const { url } = await servePage(await sharedFile())
      for (const path of ['/', '/index.json', '/nothing']) {
        const { status, headers, body } = await send(`${url}${path}`, {}, method)
        expect([status, headers.allow, headers['access-control-allow-origin']]).toEqual([405, 'GET, HEAD', undefined])
        expect(body).not.toMatch(STORED_TEXT)
      }
    },
  )

  test('a request from another site gets no data, frame or image, but may open a page', async () => {
    const { url } = await servePage(await sharedFile())
    const site = (from: string, mode: string, dest: string) => ({
      'Sec-Fetch-Site': from,
      'Sec-Fetch-Mode': mode,
      'Sec-Fetch-Dest': dest,
      Origin: 'http://evil.example',
    })
    for (const from of ['cross-site', 'same-site'])
      for (const [mode, dest] of [
        ['cors', 'empty'],
        ['no-cors', 'image'],
        ['no-cors', 'script'],
        ['navigate', 'iframe'],
        ['navigate', 'object'],
        ['websocket', 'empty'],
      ] as const)
        for (const path of ['/', '/index.json', '/api/live', '/coverage/600'])
          expect((await send(`${url}${path}`, site(from, mode, dest))).status, `${from} ${mode} ${dest}`).toBe(403)
    const { status, headers } = await send(`${url}/`, site('cross-site', 'navigate', 'document'))
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined])
    for (const { path } of ENDPOINTS.filter(({ isCostly }) => isCostly))
      expect((await send(`${url}${path}`, site('cross-site', 'navigate', 'document'))).status).toBe(403)
    const sql = await send(`${url}/sql?sql=select+40%2B2`, site('cross-site', 'navigate', 'document'))
    expect([sql.status, sql.body.includes('<td')]).toEqual([200, false])
    const data = await send(`${url}/sql.json?sql=select+42`, site('cross-site', 'navigate', 'document'))
    expect(data.status).toBe(403)
  })

  test('every response has headers against scripts, frames and reads by other sites', async () => {
    const { url } = await servePage(await sharedFile())
    const { body } = await send(`${url}/`)
    const asset = /\/-\/[\w-]+\/basics\.js/.exec(body)![0]
    for (const path of ['/', '/index.json', '/nothing', asset, '/%ff', '/api/nothing']) {
      const { headers } = await send(`${url}${path}`)
      expect(headers['content-security-policy'], path).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/,
      )
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
      })
    }
  })

  test('a path in the form of a host name does not cause a redirect to another host', async () => {
    const { url } = await servePage(await sharedFile())
    for (const path of [
      '//evil.example/',
      '/.//evil.example/',
      '/x/..//evil.example',
      '/%2e//evil.example',
      '///evil.example',
    ]) {
      const { status, headers, body } = await send(url, {}, 'GET', `${path}?lang=es`)
      expect([400, 404], path).toContain(status)
      expect(headers.location).toBeUndefined()
      expect(body).not.toMatch(/(?:href|src|action)="(?:\/\/|[a-z]+:)/)
    }
    const token = 'a-token-that-nobody-guesses'
    const locked = await servePage(await sharedFile(), { door: { names: [], token } })
    const { headers } = await send(locked.url, {}, 'GET', `/.//evil.example?token=${token}`)
    expect(headers.location ?? '/').toMatch(/^\/(?!\/)/)
  })

  test('a request for an unknown file name does not read the file system', async () => {
    const { url } = await servePage(await sharedFile())
    const [, folder] = /\/-\/([\w-]+)\/basics\.js/.exec((await send(`${url}/`)).body)!
    for (const name of [
      '..%2f..%2fpackage.json',
      '%2e%2e/%2e%2e/package.json',
      '../../package.json',
      'basics.js%00',
      '__proto__',
      'constructor',
      '..%5c..%5cpackage.json',
    ])
      expect((await send(url, {}, 'GET', `/-/${folder}/${name}`)).status, name).toBe(404)
    expect((await send(`${url}/-/other/basics.js`)).status).toBe(404)
  })
})

describe('a server for other hosts', () => {
  const token = 'a-token-that-nobody-guesses'
  const cookie = tokenCookie(token)
  const serveAll = async () => servePage(await sharedFile(), { door: { names: ['box.example'], token } })

  test('every request without the token is refused', async () => {
    const { url } = await serveAll()
    const wrong: Record<string, string>[] = [
      {},
      { Cookie: `${cookie}=` },
      { Cookie: `${cookie}=${token}x` },
      { Cookie: `x=${token}` },
      { Authorization: 'Bearer a' },
      { Authorization: token },
    ]
    for (const headers of wrong)
      for (const path of [
        '/',
        '/index.json',
        '/api/live',
        '/-/x/page.css',
        '/?token=',
        `/?token=${token.slice(0, -1)}`,
        '/?token=a&token=b',
      ]) {
        const { status, body } = await send(`${url}${path}`, headers)
        expect([status, STORED_TEXT.test(body)], `${path} ${JSON.stringify(headers)}`).toEqual([401, false])
      }
  })

  test('the token moves from the URL into an HttpOnly cookie', async () => {
    const { url } = await serveAll()
    const address = `${url}/coverage?page=1&token=${token}`
    const { status, headers } = await send(address, { Host: 'box.example', Accept: 'text/html,*/*' })
    expect([status, headers.location]).toEqual([303, '/coverage?page=1'])
    // Other programs may have no cookies.
    expect((await send(address, { Host: 'box.example', Accept: '*/*' })).status).toBe(200)
    const [set] = headers['set-cookie']!
    expect(set).toMatch(/; HttpOnly; SameSite=Lax/)
    expect((await send(`${url}/coverage`, { Cookie: set!.split(';')[0]! })).status).toBe(200)
    expect((await send(`${url}/coverage`, { Authorization: `Bearer ${token}` })).status).toBe(200)
  })

  test('any host name is accepted with the token, and none without it', async () => {
    const { url } = await serveAll()
    for (const Host of ['box.local:8420', '192.168.1.7:8420', '[fe80::1]', 'evil.example']) {
      expect((await send(`${url}/`, { Host, Cookie: `${cookie}=${token}` })).status, Host).toBe(200)
      expect((await send(`${url}/`, { Host })).status, Host).toBe(401)
    }
    expect((await send(`${url}/`, { Host: 'a b', Cookie: `${cookie}=${token}` })).status).toBe(403)
  })
})

describe('a database from a hostile service', () => {
  test('an invalid path returns an error page without injected HTML', async () => {
    const { url } = await servePage(await sharedFile())
    for (const part of [
      encodeURIComponent(HOSTILE),
      '600%00',
      '-1',
      '1e9',
      '9'.repeat(400),
      "600'--",
      '__proto__',
      's',
      's-1',
    ])
      for (const path of [
        `/coverage/${part}`,
        `/coverage/600?geo=${part}&year=${part}`,
        `/?page=${part}&lang=${part}`,
        `/coverage/${part}.json`,
      ]) {
        const { status, body } = await send(`${url}${path}`)
        expect([200, 400, 404, 414], `${path} ${status}`).toContain(status)
        expect(body).not.toMatch(/<script>|<img/)
      }
  })
})

describe('many connections', () => {
  test('five hundred idle connections are closed and do not block others', async () => {
    const { url } = await servePage(await sharedFile(), { receiveTimeoutMs: { headers: 2_000, check: 200 } })
    const { port } = new URL(url)
    const ended = Array.from({ length: 500 }, async () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.resume()
      await once(socket, 'connect')
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
      await once(socket, 'close')
      return socket.bytesRead
    })
    expect((await send(`${url}/`)).status).toBe(200)
    await Promise.all(ended)
    expect((await send(`${url}/`)).status).toBe(200)
  })

  test('connections that read nothing do not block others', async () => {
    const { url } = await servePage(await sharedFile())
    const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (const socket of sockets) {
      socket.pause()
      socket.write('GET /coverage/600 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    }
    expect((await send(`${url}/`)).status).toBe(200)
  })

  test('a URL above the length limit is refused', async () => {
    const { url } = await servePage(await sharedFile())
    expect((await send(`${url}/?x=${'x'.repeat(100_000)}`)).status).toBe(431)
  })
})
