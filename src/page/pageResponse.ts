import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { openReader } from '../db/open.ts'
import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { InputError, SyncError } from '../util/errors.ts'
import { assets } from './assets.ts'
import { messageText } from './elements.ts'
import { html, htmlText } from './html.ts'
import { etagOf, matchesTag, readShownRun } from './lastRun.ts'
import { layout, type ShownPage } from './layout.ts'
import { addressOf, type Endpoint, jsonAnswer, NotFound, type Page, type PageAnswer, type PageRequest } from './page.ts'
import { PAGES } from './pages.ts'
import { type Door, isForeign } from './security.ts'
import type { PageLocale } from './words/locale.ts'
import { WORDS } from './words/words.ts'

/** What a server needs to know. */
export interface Site {
  /** The database. */
  readonly file: string
  readonly version: string
  /** The service that the database is filled from. */
  readonly service: Service
  /** The language for browsers that did not choose one; default: that of the browser. */
  readonly language?: string | undefined
  readonly door: Door
  /** Epoch seconds. */
  readonly now: () => number
  /** A command as this person types it. */
  readonly command: (rest: string) => string
  /** The folders of lakes that jobs keep up to date. */
  readonly lakes?: () => Promise<readonly string[]>
  /** Called with errors that are not the user's. */
  readonly failed: (error: unknown) => void
  /** How long a request may take to arrive, and how often that is checked, in milliseconds. */
  readonly receiveTimeoutMs?: { readonly headers: number; readonly check: number }
}

/** A call: a page in one of its forms, an endpoint, or something that does not exist. */
export interface PageCall {
  readonly page?: Page
  readonly form?: 'html' | 'json'
  readonly endpoint?: Endpoint
  readonly address: URL
  readonly params: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly locale: PageLocale
}

/** An answer ready to be sent. */
export interface SentAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | Readable
}

/** The request as pages see it. `store` has only a name for a page that says that the database cannot be read. */
function requestOf(site: Site, { address, params, headers, locale }: PageCall, store: Reader): PageRequest {
  return {
    store,
    path: address.pathname === '/index.json' ? '/' : address.pathname.replace(/\.json$/, ''),
    params,
    query: address.searchParams,
    locale,
    languages: [locale, ...site.service.locales],
    service: site.service,
    words: WORDS[locale],
    version: site.version,
    now: site.now(),
    address: `http://${headers.host}${address.pathname}${address.search}`,
    live: true,
    foreign: isForeign(headers),
    link: addressOf,
    command: site.command,
    ...(site.lakes ? { lakes: site.lakes } : {}),
    asset: (name) => `/-/${assets().folder}/${name}`,
  }
}

/** Bytes. A larger cache makes no page faster: what a page reads lies close together, or far apart. */
const CACHE = 2 * 1024 * 1024

const HTML = { 'Content-Type': 'text/html; charset=utf-8' }
/** Data of the database may be cached only by the browser, which must revalidate. */
const DATA_HEADERS = { 'Cache-Control': 'private, no-cache', Vary: 'Cookie, Accept-Language, Accept-Encoding' }

/**
 * An error as an answer, a page of its own or data: mistakes of the user and errors of the database are shown, anything else is a
 * bug. What the error itself says is in English.
 */
function errorAnswer(site: Site, request: PageRequest, isData: boolean, error: unknown): SentAnswer {
  const { common } = request.words
  const known = error instanceof SyncError ? error : undefined
  const isMissing = error instanceof NotFound
  if (!known && !isMissing) site.failed(error)
  const { message: detail, hint, code = isMissing ? 'not-found' : 'bug' } = known ?? ({} as Partial<SyncError>)
  const status = isMissing ? 404 : error instanceof InputError ? 400 : known ? 503 : 500
  const [title, usual] = {
    400: [common.refused, common.badRequest],
    404: [common.notFound, common.notFoundHint],
    500: [common.broken, common.brokenHint],
    503: [common.refused, common.unreadable],
  }[status] as [string, string]
  const text = (common.errors as Readonly<Record<string, string>>)[code] ?? usual
  const headers = { 'Cache-Control': 'no-store' }
  if (isData) {
    const data = jsonAnswer({ error: detail ?? (isMissing ? error.message : title), hint: known ? hint : text, code })
    // What was requested stays data, whatever shows the answer.
    const body = (data.body as string).replaceAll('<', '\\u003c')
    return { status, headers: { ...headers, 'Content-Type': data.type }, body }
  }
  const body = html`<p class="${known && 'bad'}">${text}</p>${known && messageText(`${detail} ${hint ?? ''}`, request)}`
  return {
    status,
    headers: { ...headers, ...HTML },
    body: htmlText(layout({ title, body, still: true }, PAGES, request)),
  }
}

/** The body of an answer that is made row by row. It keeps the database open until it is read or given up. */
function streamed(body: AsyncIterable<string>, reader: Reader): Readable {
  const stream = Readable.from(body, { objectMode: false })
  stream.once('close', () => void reader.close())
  return stream
}

const headersOf = ({ type, file }: PageAnswer): Record<string, string> => ({
  'Content-Type': type,
  ...(file === undefined
    ? {}
    : { 'Content-Disposition': `attachment; filename="${file.replaceAll(/[^\w.-]/g, '_')}"` }),
})

/** The answer of a page or an endpoint. */
async function pageAnswer({ page, endpoint, form, address }: PageCall, request: PageRequest): Promise<PageAnswer> {
  if (endpoint) return (await endpoint.answer())(request)
  if (!page) throw new NotFound(request.path)
  const view = await page.view()
  const data = await view.read(request)
  const status = view.status?.(data) ?? 200
  if (form === 'json') return { ...jsonAnswer(data), status }
  const shown: ShownPage = {
    title: view.title?.(data, request) ?? request.words.common.pages[page.name],
    body: view.show(data, request),
    scripts: page.scripts,
    still: page.still,
    lastRun: await readShownRun(request),
    machine: `${request.path === '/' ? '/index' : request.path}.json${address.search}`,
  }
  return { type: HTML['Content-Type'], body: htmlText(layout(shown, PAGES, request)), status }
}

/** Answers a request from one snapshot of the database, or reports that nothing has changed since the last request. */
export async function answerOf(site: Site, call: PageCall): Promise<SentAnswer> {
  const { page, endpoint, form, headers } = call
  const isData = endpoint !== undefined || form === 'json' || call.address.pathname.startsWith('/api/')
  let reader: Reader | undefined
  let isStreamed = false
  try {
    reader = openReader(site.file)
    await reader.engine.limitCache(CACHE)
    await reader.engine.beginSnapshot()
    const request = requestOf(site, call, reader)
    const route = page ?? endpoint
    const minute = route?.clock ? Math.floor(request.now / 60) : null
    const etag = route?.fresh ? null : await etagOf(reader, [site.version, site.service, request.locale, minute])
    const marked = etag === null ? DATA_HEADERS : { ...DATA_HEADERS, ETag: etag }
    if (route && etag !== null && matchesTag(headers['if-none-match'], etag))
      return { status: 304, headers: marked, body: '' }
    const answer = await pageAnswer(call, request)
    const sent = { status: answer.status ?? 200, headers: { ...marked, ...headersOf(answer) } }
    if (typeof answer.body === 'string') return { ...sent, body: answer.body }
    isStreamed = true
    return { ...sent, body: streamed(answer.body, reader) }
  } catch (error) {
    const known = reader ?? ({ file: site.file } as Reader)
    return errorAnswer(site, requestOf(site, call, known), isData, error)
  } finally {
    if (!isStreamed) await reader?.close()
  }
}
