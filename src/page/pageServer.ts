import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { compress } from 'hono/compress'
import { setCookie } from 'hono/cookie'
import { parseAccept } from 'hono/utils/accept'
import type { StatusCode } from 'hono/utils/http-status'
import { isDecodable, listen } from '../util/listen.ts'
import { assets } from './assets.ts'
import { type PageCall, respond, type SentResponse, type Site } from './pageResponse.ts'
import { ENDPOINTS, PAGES } from './pages.ts'
import { isForeign, type Refusal, readCookie, refusal, SECURITY_HEADERS, tokenCookie } from './security.ts'
import { isLocale, LANGUAGE_CHOICE, PAGE_LOCALES, type PageLocale } from './words/locale.ts'
import { WORDS } from './words/words.ts'

export type { Site } from './pageResponse.ts'

/** Milliseconds in which a request must arrive, and between two checks of that. */
const RECEIVE_MS = { headers: 10_000, check: 2_000 }
/** Bytes of all headers: enough for an address with a long statement. */
const MAX_HEADER_BYTES = 64 * 1024
/** The name of the cookie that holds the language. */
const LANGUAGE_COOKIE = 'indicator_sync_lang'
/**
 * A cookie that scripts cannot read and other sites cannot make the browser send. It is not strict, because a strict one is not sent
 * after a click in another site, such as a chat.
 */
const COOKIE = { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: 31_536_000 } as const

type PageContext = Context<{ Bindings: HttpBindings }>

/** Node's server: a request that is not allowed is refused before anything else reads it. */
function guardedServer(handler: RequestListener, site: Site) {
  const { headers, check } = site.receiveTimeoutMs ?? RECEIVE_MS
  const options = { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: check, keepAliveTimeout: 5_000 }
  return createServer({ ...options, headersTimeout: headers, requestTimeout: 2 * headers }, (request, response) => {
    // Also for streams, which bypass Hono.
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    const refused = refusal(request, site.door)
    if (!refused) return handler(request, response)
    if (refused.status === 405) response.setHeader('Allow', 'GET, HEAD')
    response.setHeader('Connection', 'close')
    const { headers, body } = refusalLine(refused, chooseLocale(site, request.headers))
    return response.writeHead(refused.status, headers).end(body)
  })
}

/** Sends a response. A stream goes directly to the connection. */
async function send(c: PageContext, { status, headers, body }: SentResponse, site: Site): Promise<Response> {
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
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') site.failed(error)
  })
  return RESPONSE_ALREADY_SENT
}

/** The address of a request. Two slashes at its start would name another server in a link. */
function requestUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const address = new URL(url.replace(/^\/+/, '/'), 'http://here')
  address.pathname = address.pathname.replace(/^\/{2,}/, '/')
  return address
}

/** Chooses a language: that of the address, else the cookie, the database, the browser, or the first one. */
function chooseLocale({ language }: Site, headers: IncomingHttpHeaders, address?: URL): PageLocale {
  const accepted = parseAccept(headers['accept-language'] ?? '').filter(({ q }) => q > 0)
  return (
    [
      address?.searchParams.get('lang'),
      readCookie(headers, LANGUAGE_COOKIE),
      language,
      ...accepted.map(({ type }) => type.slice(0, 2).toLowerCase()),
    ].find(isLocale) ?? PAGE_LOCALES[0]
  )
}

/** Why a request is refused, as one line of text. */
const refusalLine = ({ status, reason }: Refusal, locale: PageLocale): SentResponse => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: `${WORDS[locale].common.refusals[reason]}\n`,
})

/** The routes of a page as HTML and as JSON. A slot at the end of a path includes the `.json`. */
const listPaths = (path: string): string[] =>
  /:\w+$/.test(path) ? [path] : [path, path === '/' ? '/index.json' : `${path}.json`]

/** Builds the server of all pages, which does not listen yet. */
function buildPageServer(site: Site) {
  const app = new Hono<{ Bindings: HttpBindings }>({ strict: false })

  async function handle(c: PageContext, call: Pick<PageCall, 'page' | 'endpoint'>): Promise<Response> {
    const { headers } = c.env.incoming
    const address = requestUrl(c.env.incoming)
    const locale = chooseLocale(site, headers, address)
    const isJson = address.pathname.endsWith('.json')
    // A page itself shows the statement of another site without running it.
    if ((call.endpoint?.isCostly || (call.page?.isCostly && isJson)) && isForeign(headers))
      return send(c, refusalLine({ status: 403, reason: 'expensive' }, locale), site)
    const slots = Object.entries(c.req.param() as Record<string, string>)
    const params = Object.fromEntries(
      slots.map(([name, text]) => [name, text.replace(call.page ? /\.json$/ : /\.svg$/, '')]),
    )
    return send(c, await respond(site, { ...call, headers, address, params, locale }), site)
  }

  app.use(compress())
  app.use(async (c, next) => {
    const { headers, url } = c.env.incoming
    if (!isDecodable(url!))
      return send(c, refusalLine({ status: 400, reason: 'address' }, chooseLocale(site, headers)), site)
    const address = requestUrl(c.env.incoming)
    const language = address.searchParams.get(LANGUAGE_CHOICE)
    if (isLocale(language) && !isForeign(headers)) {
      // Only the choice of the user is kept: addresses are shared with `lang`, but never with the choice.
      for (const name of [LANGUAGE_CHOICE, 'lang']) address.searchParams.delete(name)
      setCookie(c, LANGUAGE_COOKIE, language, COOKIE)
      return c.redirect(`${address.pathname}${address.search}`, 303)
    }
    const { token } = site.door
    const isPage = headers.accept?.includes('text/html')
    if (token === null || !isPage || !address.searchParams.has('token')) return next()
    // In a browser, the token moves from the address into a cookie. Other programs may have none.
    address.searchParams.delete('token')
    setCookie(c, tokenCookie(token), token, COOKIE)
    return c.redirect(`${address.pathname}${address.search}`, 303)
  })
  // The path of a picture is also that of a page.
  for (const endpoint of ENDPOINTS) app.get(endpoint.path, (c) => handle(c, { endpoint }))
  for (const page of PAGES) app.on('GET', listPaths(page.path), (c) => handle(c, { page }))
  // The overview lists all series.
  app.get('/series', (c) => c.redirect('/'))
  app.get('/series.json', (c) => c.redirect('/index.json'))
  app.get('/-/:folder/:name', async (c) => {
    const { folder, files } = assets()
    const asset = c.req.param('folder') === folder ? files.get(c.req.param('name')) : undefined
    if (!asset) return handle(c, {})
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': asset.type }
    return send(c, { status: 200, headers, body: asset.body }, site)
  })
  app.notFound((c) => handle(c, {}))
  // After an error within a response, the connection ends.
  app.onError((error, c) => {
    site.failed(error)
    c.env.outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  })

  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // An invalid address does not reach the router.
    errorHandler: () => new Response('This is not a valid address.\n', { status: 400 }),
  })
  return guardedServer(listener, site)
}

/** Serves the pages of a database. Port 0 is any free one. */
export const startServer = (site: Site, where: { readonly host: string; readonly port: number }) =>
  listen(buildPageServer(site), where)
