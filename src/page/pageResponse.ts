import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { openReader } from '../db/open.ts'
import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { InputError, SyncError } from '../util/errors.ts'
import { visible } from '../util/text.ts'
import { assets } from './assets.ts'
import { addressText, messageText } from './elements.ts'
import { type Html, html, htmlText } from './html.ts'
import { countFindings, createEtag, matchesTag, readShownRun } from './lastRun.ts'
import { layout, type ShownPage } from './layout.ts'
import {
  baseRequest,
  choiceIn,
  type Endpoint,
  formatAddress,
  jsonResponse,
  NotFound,
  type Page,
  type PageRequest,
  type PageResponse,
} from './page.ts'
import { PAGES } from './pages.ts'
import { type Door, isForeign } from './security.ts'
import { LANGUAGE_CHOICE, PAGE_LOCALES, type PageLocale } from './words/locale.ts'

/** The settings of a server. */
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
  /** A command as the user types it. */
  readonly command: (rest: string) => string
  /** Called with errors that are not the user's. */
  readonly failed: (error: unknown) => void
  /** The longest time in which a request must arrive, and the time between two checks, in milliseconds. */
  readonly receiveTimeoutMs?: { readonly headers: number; readonly check: number }
}

/** A call of a page (as JSON, if its path says so), of an endpoint, or of nothing that exists. */
export interface PageCall {
  readonly page?: Page
  readonly endpoint?: Endpoint
  readonly address: URL
  readonly params: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly locale: PageLocale
}

/** A response ready to be sent. */
export interface SentResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | Readable
}

/** Creates the request that pages see. If the database cannot be read, `store` has only its name. */
function createRequest(site: Site, { address, params, headers, locale }: PageCall, store: Reader): PageRequest {
  return {
    ...baseRequest(store, address, params, locale, site.service),
    version: site.version,
    now: site.now(),
    isLive: true,
    token: site.door.token,
    isForeign: isForeign(headers),
    link: formatAddress,
    command: site.command,
    asset: (name) => `/-/${assets().folder}/${name}`,
  }
}

/** Bytes. A larger cache makes no page faster. */
const CACHE_BYTES = 2 * 1024 * 1024

const HTML = { 'Content-Type': 'text/html; charset=utf-8' }
/** Data of the database may be cached only by the browser, which must revalidate. */
const DATA_HEADERS = { 'Cache-Control': 'private, no-cache', Vary: 'Cookie, Accept-Language, Accept-Encoding' }

function findErrorStatus(error: unknown): number {
  if (error instanceof NotFound) return 404
  if (error instanceof InputError) return 400
  return error instanceof SyncError ? 503 : 500
}

/** The most characters of a name that are repeated: a longer text is not a name, and may be a key in the wrong place. */
const MAX_NAME = 40

/** The search, for what was not found. */
function searchForm(text: string, { words, link }: PageRequest): Html {
  const { common } = words
  const field = html`<label>${common.find} <input type="search" name="q" value="${visible(text)}" size="24"></label>`
  return html`<form class="question" action="${link('/search')}">${field} <button>${common.pages.search}</button></form>`
}

/** Shows an error as a page or as data: mistakes of the user and errors of the database; anything else is a bug. */
function errorResponse(site: Site, request: PageRequest, isData: boolean, error: unknown): SentResponse {
  const { common } = request.words
  const expected = error instanceof SyncError ? error : undefined
  const isMissing = error instanceof NotFound
  if (!expected && !isMissing) site.failed(error)
  const { message: detail, hint, code = isMissing ? 'not-found' : 'bug' } = expected ?? ({} as Partial<SyncError>)
  const status = findErrorStatus(error)
  const [title, fallback] = {
    400: [common.refused, common.badRequest],
    404: [common.notFound, common.notFoundHint],
    500: [common.broken, common.brokenHint],
    503: [common.refused, common.unreadable],
  }[status] as [string, string]
  const missing = isMissing && error.series !== null && error.series.length <= MAX_NAME ? error.series : null
  const named = missing === null ? fallback : common.noSeries(visible(missing))
  const text = (expected && addressText(expected, request.words)) ?? named
  const headers = { 'Cache-Control': 'no-store' }
  if (isData) {
    const message = detail ?? (isMissing ? error.message : title)
    const data = jsonResponse({ error: message, hint: expected ? hint : text, code })
    // Parts of the request stay data, whatever shows the response.
    const body = (data.body as string).replaceAll('<', '\\u003c')
    return { status, headers: { ...headers, 'Content-Type': data.type }, body }
  }
  const details = expected && messageText(`${detail} ${hint ?? ''}`, request)
  const search = isMissing && searchForm(missing ?? '', request)
  const body = html`<p class="${expected && 'bad'}">${text}</p>${details}${search}`
  return {
    status,
    headers: { ...headers, ...HTML },
    body: htmlText(layout({ title, body, isStill: true }, PAGES, request)),
  }
}

/** Builds the response of a page or an endpoint. */
async function buildResponse(
  { page, endpoint, address }: PageCall,
  request: PageRequest,
  findings: number,
): Promise<PageResponse> {
  if (endpoint) return (await endpoint.respond())(request)
  if (!page) throw new NotFound(request.path)
  const view = await page.view()
  const data = await view.read(request)
  const status = view.status?.(data) ?? 200
  if (address.pathname.endsWith('.json')) return { ...jsonResponse(data), status }
  const shown: ShownPage = {
    title: view.title?.(data, request) ?? request.words.common.pages[page.name],
    body: view.show(data, request),
    scripts: page.scripts,
    isStill: page.isStill,
    lastRun: await readShownRun(request),
    findings,
    machine: `${request.path === '/' ? '/index' : request.path}.json${address.search}`,
  }
  return { type: HTML['Content-Type'], body: htmlText(layout(shown, PAGES, request)), status }
}

/** Responds to a request from one snapshot of the database, or that nothing has changed since the last request. */
export async function respond(site: Site, call: PageCall): Promise<SentResponse> {
  const { page, endpoint, headers } = call
  const isData = endpoint !== undefined || /^\/api\/|\.json$/.test(call.address.pathname)
  let reader: Reader | undefined
  let isStreamed = false
  try {
    reader = openReader(site.file)
    await reader.engine.limitCache(CACHE_BYTES)
    await reader.engine.beginSnapshot()
    const request = createRequest(site, call, reader)
    for (const name of ['lang', LANGUAGE_CHOICE]) choiceIn(request.query, name, PAGE_LOCALES)
    const route = page ?? endpoint
    // The header of each page has the state of the overview.
    const findings = page ? await countFindings(reader, request.now) : 0
    const minute = route?.dependsOnTime ? Math.floor(request.now / 60) : null
    const etag = route?.isUncached
      ? null
      : await createEtag(reader, [site.version, site.service, request.locale, minute, findings])
    const dataHeaders = etag === null ? DATA_HEADERS : { ...DATA_HEADERS, ETag: etag }
    if (route && etag !== null && matchesTag(headers['if-none-match'], etag))
      return { status: 304, headers: dataHeaders, body: '' }
    const { status = 200, body, type, file } = await buildResponse(call, request, findings)
    const name = file?.replaceAll(/[^\w.-]/g, '_')
    const download = name && { 'Content-Disposition': `attachment; filename="${name}"` }
    const head = { status, headers: { ...dataHeaders, 'Content-Type': type, ...download } }
    if (typeof body === 'string') return { ...head, body }
    isStreamed = true
    // Rows are read while they are sent, from the database that stays open for them.
    const opened = reader
    return { ...head, body: Readable.from(body, { objectMode: false }).once('close', () => void opened.close()) }
  } catch (error) {
    const request = createRequest(site, call, reader ?? ({ file: site.file } as Reader))
    return errorResponse(site, request, isData, error)
  } finally {
    if (!isStreamed) await reader?.close()
  }
}
