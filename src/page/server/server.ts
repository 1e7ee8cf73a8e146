import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import createRouter from 'find-my-way'
import { watchChanges } from '../../db/open.ts'
import { assets } from '../assets.ts'
import { ENDPOINTS, PAGES } from '../pages.ts'
import { isLocale } from '../words/locale.ts'
import { answerOf, type PageCall, type SentAnswer } from './answer.ts'
import { LANGUAGE_COOKIE } from './languages.ts'
import { createLive } from './live.ts'
import {
  cookieOf,
  type Door,
  foreignRefusal,
  type Refusal,
  refusal,
  SECURITY_HEADERS,
  TOKEN_COOKIE,
} from './security.ts'
import type { Site } from './site.ts'

/** Milliseconds in which a request must arrive, and between two checks of that. */
const RECEIVE_MS = { headers: 10_000, check: 2_000 }
/** Bytes of an address with its headers: enough for a long statement. */
const LONGEST_HEADERS = 64 * 1024
/** The most letters of a slot of a path. */
const LONGEST_SLOT = 300

/** Sends a line of text. */
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
function guardedServer(handler: (request: IncomingMessage, response: ServerResponse) => void, site: Site): Server {
  const { headers, check } = site.receiveTimeoutMs ?? RECEIVE_MS
  const options = { maxHeaderSize: LONGEST_HEADERS, connectionsCheckingInterval: check, keepAliveTimeout: 5_000 }
  // Not imported: that would read all names of the module, and some of them load its HTTP client.
  const { createServer } = process.getBuiltinModule('node:http')
  return createServer({ ...options, headersTimeout: headers, requestTimeout: 2 * headers }, (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    const refused = refusal(request, site.door)
    if (refused) sendRefusal(response, refused)
    else handler(request, response)
  })
}

const takesGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(headers['accept-encoding'] ?? ''))

/** Bytes. A shorter answer is not worth compressing. */
const LEAST_ZIPPED = 1_000

/**
 * Sends an answer: compressed where that is accepted, streamed where the body is a stream. `gzip` is the body compressed
 * beforehand.
 */
async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  sent: SentAnswer,
  gzip?: Buffer,
): Promise<void> {
  const { status, headers, body } = sent
  if (body instanceof Readable) {
    response.writeHead(status, headers)
    if (request.method === 'HEAD') body.destroy()
    // A client that disconnects is not an error.
    else return pipeline(body, response).catch(() => undefined)
    response.end()
    return
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isPacked = bytes.length >= LEAST_ZIPPED && takesGzip(request)
  const payload = isPacked ? (gzip ?? gzipSync(bytes, { level: 1 })) : bytes
  response.writeHead(status, {
    ...headers,
    ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
    ...(status === 304 ? {} : { 'Content-Length': payload.length }),
  })
  response.end(payload)
}

/** The address of a request; one that begins with two slashes would name another server in a link. */
function requestUrl({ url = '/' }: IncomingMessage): URL {
  const address = new URL(url.replace(/^\/+/, '/'), 'http://here')
  address.pathname = address.pathname.replace(/^\/{2,}/, '/')
  return address
}

/** A cookie that scripts cannot read and other sites cannot make the browser send. */
const cookie = (name: string, value: string): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`

/** Remembers the language that an address names. */
function rememberLanguage(request: IncomingMessage, response: ServerResponse): void {
  const language = requestUrl(request).searchParams.get('lang')
  if (isLocale(language) && cookieOf(request.headers, LANGUAGE_COOKIE) !== language)
    response.setHeader('Set-Cookie', cookie(LANGUAGE_COOKIE, language))
}

/** Moves the token from an address into a cookie: answers a redirect to the address without it, or undefined where it has none. */
function takeToken(request: IncomingMessage, { token }: Door): SentAnswer | undefined {
  const address = requestUrl(request)
  if (token === null || !address.searchParams.has('token')) return undefined
  address.searchParams.delete('token')
  return {
    status: 303,
    headers: { 'Set-Cookie': cookie(TOKEN_COOKIE, token), Location: `${address.pathname}${address.search}` },
    body: '',
  }
}

/** Builds the server of all pages, which does not listen yet. */
export function buildPageServer(site: Site): Server {
  type Params = Readonly<Record<string, string | undefined>>
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    params: Params,
    call: Omit<PageCall, 'headers' | 'address' | 'params'> & { readonly own?: true },
  ): Promise<void> => {
    const refused = call.own && foreignRefusal(request.headers)
    if (refused) return sendAnswer(request, response, line(refused.status, refused.reason))
    rememberLanguage(request, response)
    const moved = takeToken(request, site.door)
    if (moved) return sendAnswer(request, response, moved)
    const address = requestUrl(request)
    const { headers } = request
    await sendAnswer(request, response, await answerOf(site, { ...call, headers, address, params: params as never }))
  }
  type Work = (request: IncomingMessage, response: ServerResponse, params: Params) => Promise<void>
  /** Handles an error of ours in the middle of an answer: it is reported in the terminal, and the connection ends. */
  const reportingErrors =
    (work: Work) =>
    (request: IncomingMessage, response: ServerResponse, params: Params = {}): void =>
      void work(request, response, params).catch((error: unknown) => {
        site.failed(error)
        response.destroy()
      })

  const router = createRouter({
    ignoreTrailingSlash: true,
    maxParamLength: LONGEST_SLOT,
    defaultRoute: reportingErrors((request, response) => answer(request, response, {}, {})),
    // An address that cannot be decoded does not exist.
    onBadUrl: (_path, request, response) =>
      reportingErrors(() => sendAnswer(request, response, line(400, 'This is not a valid address.')))(
        request,
        response,
      ),
  })
  const on = (path: string, work: Work): void => router.on(['GET', 'HEAD'], path, reportingErrors(work))

  for (const page of PAGES) {
    const own = page.own ? ({ own: true } as const) : {}
    on(page.path, (request, response, params) => answer(request, response, params, { page, form: 'html', ...own }))
    on(page.path === '/' ? '/index.json' : `${page.path}.json`, (request, response, params) =>
      answer(request, response, params, { page, form: 'json', ...own }),
    )
  }
  // The list of all series is the first page.
  for (const [from, to] of [
    ['/series', '/'],
    ['/series.json', '/index.json'],
  ] as const)
    on(from, (request, response) => {
      const moved = { status: 302, headers: { Location: to }, body: '' }
      rememberLanguage(request, response)
      return sendAnswer(request, response, takeToken(request, site.door) ?? moved)
    })
  for (const endpoint of ENDPOINTS)
    on(endpoint.path, (request, response, params) =>
      answer(request, response, params, { endpoint, ...(endpoint.own ? { own: true } : {}) }),
    )

  on('/-/:folder/:name', async (request, response, params) => {
    const known = assets()
    const asset = params.folder === known.folder ? await known.read(params.name ?? '') : undefined
    if (!asset) return answer(request, response, params, {})
    const { type, body, gzip } = asset
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': type }
    await sendAnswer(request, response, { status: 200, headers, body }, gzip)
  })

  const live = createLive(() => watchChanges(site.file))
  on('/api/live', async (request, response) => live.follow(request, response))
  const server = guardedServer((request, response) => router.lookup(request, response), site)
  server.once('close', () => live.close())
  return server
}
