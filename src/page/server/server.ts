import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { compress } from 'hono/compress'
import type { StatusCode } from 'hono/utils/http-status'
import { isDecodable } from '../../util/listen.ts'
import { assets } from '../assets.ts'
import { ENDPOINTS, PAGES } from '../pages.ts'
import { isLocale } from '../words/locale.ts'
import { answerOf, type PageCall, type SentAnswer } from './answer.ts'
import { LANGUAGE_COOKIE } from './languages.ts'
import { cookieOf, foreignRefusal, type Refusal, refusal, SECURITY_HEADERS, TOKEN_COOKIE } from './security.ts'
import type { Site } from './site.ts'

/** Milliseconds in which a request must arrive, and between two checks of that. */
const RECEIVE_MS = { headers: 10_000, check: 2_000 }
/** Bytes of an address with its headers: enough for a long statement. */
const LONGEST_HEADERS = 64 * 1024

type PageContext = Context<{ Bindings: HttpBindings }>

/** An answer of one line of text. */
const line = (status: number, text: string): SentAnswer => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
})

/** Answers with the reason of a refusal. */
function sendRefusal(response: ServerResponse, { status, reason }: Refusal): void {
  if (status === 405) response.setHeader('Allow', 'GET, HEAD')
  // The rest of the request is not waited for.
  response.setHeader('Connection', 'close')
  const { headers, body } = line(status, reason)
  response.writeHead(status, headers).end(body)
}

/** Node's server: a request that is not allowed is refused before anything else reads it. */
function guardedServer(handler: (request: IncomingMessage, response: ServerResponse) => unknown, site: Site): Server {
  const { headers, check } = site.receiveTimeoutMs ?? RECEIVE_MS
  const options = { maxHeaderSize: LONGEST_HEADERS, connectionsCheckingInterval: check, keepAliveTimeout: 5_000 }
  return createServer({ ...options, headersTimeout: headers, requestTimeout: 2 * headers }, (request, response) => {
    // Also of answers that are written to the connection itself.
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    const refused = refusal(request, site.door)
    if (refused) sendRefusal(response, refused)
    else handler(request, response)
  })
}

/** Sends an answer. A stream goes to the connection itself, and ends with it. */
async function send(
  c: PageContext,
  { status, headers, body }: SentAnswer,
  failed: (error: unknown) => void,
): Promise<Response> {
  if (!(body instanceof Readable)) {
    const length = status === 304 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const bytes = body as string | Uint8Array<ArrayBuffer>
    return c.newResponse(status === 304 ? null : bytes, status as StatusCode, { ...headers, ...length })
  }
  if (c.req.method === 'HEAD') {
    body.destroy()
    return c.newResponse(null, status as StatusCode, headers)
  }
  c.env.outgoing.writeHead(status, headers)
  await pipeline(body, c.env.outgoing).catch((error: NodeJS.ErrnoException) => {
    // A client that disconnects is not an error.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') failed(error)
  })
  return RESPONSE_ALREADY_SENT
}

/** The address of a request; one that begins with two slashes would name another server in a link. */
function requestUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const address = new URL(url.replace(/^\/+/, '/'), 'http://here')
  address.pathname = address.pathname.replace(/^\/{2,}/, '/')
  return address
}

/** A cookie that scripts cannot read and other sites cannot make the browser send. */
const cookie = (name: string, value: string): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`

/** A page under its own address and as JSON. A slot at the end of a path has the `.json`, if any. */
const pathsOf = (path: string): readonly string[] =>
  /:\w+$/.test(path) ? [path] : [path, path === '/' ? '/index.json' : `${path}.json`]

/** Builds the server of all pages, which does not listen yet. */
export function buildPageServer(site: Site): Server {
  const app = new Hono<{ Bindings: HttpBindings }>({ strict: false })

  type Called = Omit<PageCall, 'headers' | 'address' | 'params'> & { readonly own?: true }
  async function answer(c: PageContext, { own, ...call }: Called): Promise<Response> {
    const { incoming } = c.env
    // A page of ours shows what another site links to, and does nothing costly.
    const refused = own && call.form !== 'html' && foreignRefusal(incoming.headers)
    if (refused) return send(c, line(refused.status, refused.reason), site.failed)
    const slots = Object.entries(c.req.param() as Record<string, string>)
    const params = Object.fromEntries(
      call.form === 'json' ? slots.map(([name, text]) => [name, text.replace(/\.json$/, '')]) : slots,
    )
    return send(
      c,
      await answerOf(site, { ...call, headers: incoming.headers, address: requestUrl(incoming), params }),
      site.failed,
    )
  }

  app.use(compress())
  app.use(async (c, next) => {
    if (!isDecodable(c.env.incoming.url!)) return send(c, line(400, 'This is not a valid address.'), site.failed)
    const address = requestUrl(c.env.incoming)
    const language = address.searchParams.get('lang')
    if (isLocale(language) && cookieOf(c.env.incoming.headers, LANGUAGE_COOKIE) !== language)
      c.header('Set-Cookie', cookie(LANGUAGE_COOKIE, language), { append: true })
    const { token } = site.door
    if (token === null || !address.searchParams.has('token')) return next()
    // The token moves from the address into a cookie.
    address.searchParams.delete('token')
    c.header('Set-Cookie', cookie(TOKEN_COOKIE, token), { append: true })
    return c.redirect(`${address.pathname}${address.search}`, 303)
  })
  for (const page of PAGES)
    app.on('GET', [...pathsOf(page.path)], (c) =>
      answer(c, {
        page,
        form: c.req.path.endsWith('.json') ? 'json' : 'html',
        ...(page.own ? { own: true } : {}),
      }),
    )
  // The list of all series is the first page.
  app.get('/series', (c) => c.redirect('/'))
  app.get('/series.json', (c) => c.redirect('/index.json'))
  for (const endpoint of ENDPOINTS)
    app.get(endpoint.path, (c) => answer(c, { endpoint, ...(endpoint.own ? { own: true } : {}) }))
  app.get('/-/:folder/:name', async (c) => {
    const known = assets()
    const asset = c.req.param('folder') === known.folder ? await known.read(c.req.param('name')) : undefined
    if (!asset) return answer(c, {})
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': asset.type }
    return send(c, { status: 200, headers, body: asset.body }, site.failed)
  })
  app.notFound((c) => answer(c, {}))
  // An error of ours in the middle of an answer is reported in the terminal, and the connection ends.
  app.onError((error, c) => {
    site.failed(error)
    c.env.outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  })

  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // An address that cannot be read does not reach the router.
    errorHandler: () => new Response('This is not a valid address.\n', { status: 400 }),
  })
  return guardedServer(listener, site)
}
