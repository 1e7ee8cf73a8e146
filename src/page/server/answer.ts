import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import { InputError, SyncError } from '../../util/errors.ts'
import { assets } from '../assets.ts'
import { type Html, html, htmlText } from '../html.ts'
import { type LastRun, layout } from '../layout.ts'
import {
  type Endpoint,
  jsonAnswer,
  NotFound,
  type Page,
  type PageAnswer,
  type PageRequest,
  type Query,
} from '../page.ts'
import { PAGES } from '../pages.ts'
import { WORDS } from '../words/words.ts'
import { etagOf, matchesTag } from './etag.ts'
import { chooseLocale } from './languages.ts'
import { isForeign } from './security.ts'
import type { Site } from './site.ts'

/** A call: a page in one of its forms, an endpoint, or something that does not exist. */
export interface PageCall {
  readonly page?: Page
  readonly form?: 'html' | 'json'
  readonly endpoint?: Endpoint
  readonly address: URL
  readonly params: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
}

/** An answer ready to be sent. */
export interface SentAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | Readable
}

/** The address of one of our pages: its path and query. */
function linkTo(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** The request as pages see it. `store` is absent only for a page that says that the database cannot be read. */
function requestOf(site: Site, { address, params, headers }: PageCall, store: Reader): PageRequest {
  const locale = chooseLocale(address.searchParams, headers)
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
    link: linkTo,
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

/** A page of its own about an error. */
function failure(
  request: PageRequest,
  isData: boolean,
  { status, title, text, hint, code }: { status: number; title: string; text?: string; hint?: string; code: string },
): SentAnswer {
  const headers = { 'Cache-Control': 'no-store' }
  if (isData)
    return {
      status,
      headers: { ...headers, 'Content-Type': jsonAnswer(null).type },
      body: JSON.stringify({ error: text ?? title, hint, code }),
    }
  const body: Html = html`${text !== undefined && html`<p class="bad" lang="en">${text}</p>`}${hint !== undefined && html`<p${text !== undefined && html` lang="en"`}>${hint}</p>`}`
  const document = layout({ title, body, scripts: [], still: true, lastRun: null, machine: undefined }, PAGES, request)
  return { status, headers: { ...headers, ...HTML }, body: htmlText(document) }
}

/** An error as an answer: mistakes of the user and errors of the database are shown, anything else is a bug. */
function errorAnswer(site: Site, request: PageRequest, isData: boolean, error: unknown): SentAnswer {
  const { common } = request.words
  if (error instanceof NotFound)
    return failure(request, isData, {
      status: 404,
      title: common.notFound,
      hint: common.notFoundHint,
      code: 'not-found',
    })
  if (error instanceof SyncError) {
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    const status = error instanceof InputError ? 400 : 503
    return failure(request, isData, { status, title: common.refused, text: error.message, code: error.code, ...hint })
  }
  site.failed(error)
  return failure(request, isData, { status: 500, title: common.broken, hint: common.brokenHint, code: 'bug' })
}

/** The body of an answer that is made row by row. It keeps the database open until it is read or given up. */
function streamed(body: AsyncIterable<string> | Iterable<string>, reader: Reader): Readable {
  const stream = Readable.from(body, { objectMode: false })
  stream.once('close', () => void reader.close())
  return stream
}

const ofAnswer = ({ type, file }: PageAnswer): Record<string, string> => ({
  'Content-Type': type,
  ...(file === undefined
    ? {}
    : { 'Content-Disposition': `attachment; filename="${file.replaceAll(/[^\w.-]/g, '_')}"` }),
})

const readLastRun = async ({ kysely }: Reader): Promise<LastRun | null> =>
  (await kysely
    .selectFrom('_run')
    .select(['id', 'outcome', 'requests', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null

/** The answer of a page or an endpoint. */
async function pageAnswer(call: PageCall, request: PageRequest): Promise<PageAnswer> {
  const { page, endpoint, form } = call
  if (endpoint) return (await endpoint.answer())(request)
  if (!page) throw new NotFound(request.path)
  const view = await page.view()
  const data = await view.read(request)
  const status = view.status?.(data) ?? 200
  if (form === 'json') return { ...jsonAnswer(data), status }
  const { search } = call.address
  const document = layout(
    {
      title: view.title?.(data, request) ?? request.words.common.pages[page.name],
      body: view.show(data, request),
      scripts: page.scripts ?? [],
      still: page.still ?? false,
      lastRun: await readLastRun(request.store),
      machine: `${request.path === '/' ? '/index' : request.path}.json${search}`,
    },
    PAGES,
    request,
  )
  return { type: HTML['Content-Type'], body: htmlText(document), status }
}

/** A reader for pages about an unreadable database: whatever is read from it says that there is none. */
const nothing = (file: string): Reader => ({ file }) as Reader

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
    const sent = { status: answer.status ?? 200, headers: { ...marked, ...ofAnswer(answer) } }
    if (typeof answer.body === 'string' || Buffer.isBuffer(answer.body)) return { ...sent, body: answer.body }
    isStreamed = true
    return { ...sent, body: streamed(answer.body, reader) }
  } catch (error) {
    return errorAnswer(site, requestOf(site, call, reader ?? nothing(site.file)), isData, error)
  } finally {
    if (!isStreamed) await reader?.close()
  }
}
