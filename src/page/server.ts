import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { watchChanges } from '../db/open.ts'
import { type Asked, answerOf } from './answer.ts'
import { assets } from './assets.ts'
import { LANGUAGE_COOKIE } from './languages.ts'
import { createLive } from './live.ts'
import { ENDPOINTS, PAGES } from './pages.ts'
import { cookieOf, type Door, foreignRefusal, HEADERS, type Refusal, refusal, TOKEN_COOKIE } from './security.ts'
import type { Site } from './site.ts'
import { isLocale } from './words/locale.ts'

/** How long a request may take to come, and how often that is looked at. */
const RECEIVE_MS = { headers: 10_000, check: 2_000 }
/** Bytes of an address with its headers: a long statement fits. */
const LONGEST = 64 * 1024

/** Says why something is not answered, in a line. */
function refuse(response: ServerResponse, { status, reason }: Refusal): void {
  if (status === 405) response.setHeader('Allow', 'GET, HEAD')
  // What else comes with it is not waited for.
  response.setHeader('Connection', 'close')
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
  response.end(`${reason}\n`)
}

/** The server of Node below: who may not ask is sent away before anything else looks at what was asked. */
function guardedServer(handler: (request: IncomingMessage, response: ServerResponse) => void, site: Site): Server {
  const { headers, check } = site.receiveTimeoutMs ?? RECEIVE_MS
  const options = { maxHeaderSize: LONGEST, connectionsCheckingInterval: check, keepAliveTimeout: 5_000 }
  return createServer({ ...options, headersTimeout: headers, requestTimeout: 2 * headers }, (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const refused = refusal(request, site.door)
    if (refused) refuse(response, refused)
    else handler(request, response)
  })
}

const takesGzip = ({ headers }: FastifyRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(headers['accept-encoding'] ?? ''))

/** Less than this is not worth packing. */
const SMALL = 1_000

/** Sends an answer: packed where that is wanted, as a stream where it is one. */
function send(request: FastifyRequest, reply: FastifyReply, body: string | Buffer | Readable): FastifyReply {
  if (body instanceof Readable) return reply.send(body)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (bytes.length < SMALL || !takesGzip(request)) return reply.send(bytes)
  return reply.header('Content-Encoding', 'gzip').send(gzipSync(bytes, { level: 1 }))
}

const addressOf = (request: FastifyRequest): URL => new URL(request.url, 'http://here')

/** A cookie that only we read, and that no other site makes the browser send. */
const cookie = (name: string, value: string): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`

/** What is remembered of an address: the token, which goes out of it at once, and the language. */
function remember(request: FastifyRequest, reply: FastifyReply, { token }: Door): FastifyReply | undefined {
  const address = addressOf(request)
  const language = address.searchParams.get('lang')
  if (isLocale(language) && cookieOf(request.headers, LANGUAGE_COOKIE) !== language)
    reply.header('Set-Cookie', cookie(LANGUAGE_COOKIE, language))
  if (token === null || !address.searchParams.has('token')) return undefined
  address.searchParams.delete('token')
  return reply
    .header('Set-Cookie', cookie(TOKEN_COOKIE, token))
    .status(303)
    .header('Location', `${address.pathname}${address.search}`)
    .send('')
}

/** A server of all pages that does not listen yet. */
export function buildServer(site: Site): FastifyInstance {
  const app = fastify({
    serverFactory: (handler) => guardedServer(handler, site),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
    // An address that cannot be decoded names nothing.
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      reply.status(400).type('text/plain; charset=utf-8').send('That is no address.\n')
    },
  })

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: Omit<Asked, 'headers' | 'address' | 'params'>,
  ) => {
    if (asked.own) {
      const refused = foreignRefusal(request.headers)
      if (refused) return reply.status(refused.status).type('text/plain; charset=utf-8').send(`${refused.reason}\n`)
    }
    const moved = remember(request, reply, site.door)
    if (moved) return moved
    const { status, headers, body } = await answerOf(site, {
      ...asked,
      headers: request.headers,
      address: addressOf(request),
      params: (request.params ?? {}) as Record<string, string>,
    })
    return send(request, reply.status(status).headers(headers), body)
  }

  for (const page of PAGES) {
    const own = page.own ? ({ own: true } as const) : {}
    app.get(page.path, (request, reply) => answer(request, reply, { page, form: 'html', ...own }))
    app.get(page.path === '/' ? '/index.json' : `${page.path}.json`, (request, reply) =>
      answer(request, reply, { page, form: 'json', ...own }),
    )
  }
  // The list of all series is the first page.
  for (const [from, to] of [
    ['/series', '/'],
    ['/series.json', '/index.json'],
  ] as const)
    app.get(from, (request, reply) => remember(request, reply, site.door) ?? reply.redirect(to))
  for (const endpoint of ENDPOINTS)
    app.get(endpoint.path, (request, reply) =>
      answer(request, reply, { endpoint, ...(endpoint.own ? { own: true } : {}) }),
    )
  app.setNotFoundHandler((request, reply) => answer(request, reply, {}))

  app.get('/-/:folder/:name', (request, reply) => {
    const { folder, name } = request.params as { folder: string; name: string }
    const known = assets()
    const asset = known.files.get(name)
    if (!asset || folder !== known.folder) return reply.callNotFound()
    reply.header('Cache-Control', 'public, max-age=31536000, immutable').type(asset.type)
    return takesGzip(request) ? reply.header('Content-Encoding', 'gzip').send(asset.gzip) : reply.send(asset.body)
  })

  const live = createLive(() => watchChanges(site.file))
  app.get('/api/live', ({ raw: request }, reply) => {
    reply.hijack()
    const { raw: response } = reply
    live.follow(request, response)
  })
  app.addHook('preClose', async () => live.close())
  return app
}
