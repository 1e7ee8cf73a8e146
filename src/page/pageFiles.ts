import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { ICON } from './assets.ts'
import { htmlText } from './html.ts'
import { layout } from './layout.ts'
import {
  AddressError,
  baseRequest,
  formatAddress,
  NotFound,
  type Page,
  type PageRequest,
  type PageResponse,
  type Query,
} from './page.ts'
import { PAGES } from './pages.ts'
import { STYLE } from './style.ts'
import type { PageLocale } from './words/locale.ts'

/** The written pages, each with the parameters that make a page of their own. */
const WRITTEN_PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': ['page'],
  '/coverage': ['page'],
  '/coverage/:id': [],
  '/series/:id': ['geo'],
  '/series/:id.csv': ['geo'],
  '/series/:id.svg': ['geo'],
  '/texts': ['kind', 'page'],
  '/texts/:kind/:id': [],
  '/widgets': ['page'],
  '/widgets/:id': [],
}

/** The files beside the page of a series. */
const SERIES_FILES: Readonly<Record<string, (request: PageRequest) => Promise<PageResponse>>> = {
  '.csv': async (request) => (await import('./endpoints.ts')).valuesCsv(request),
  '.svg': async (request) => (await import('./charts/seriesPicture.ts')).seriesPicture(request),
}

/** The ending of the file of an address, other than a page. */
const fileEnding = (path: string): string | undefined => Object.keys(SERIES_FILES).find((end) => path.endsWith(end))

/** Finds the written page of a path, or that of a file beside it, with its slots filled. */
function findPage(path: string) {
  const ending = fileEnding(path) ?? ''
  const own = path.slice(0, path.length - ending.length)
  for (const page of PAGES.filter((written) => `${written.path}${ending}` in WRITTEN_PAGES)) {
    const match = new RegExp(`^${page.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(own)
    if (match) return { page, params: { ...match.groups }, written: WRITTEN_PAGES[`${page.path}${ending}`]! }
  }
  return undefined
}

/** The address of a written page; undefined for any other page. */
function fileAddress(path: string, query: Query): string | undefined {
  const written = findPage(path)?.written
  const isWritten = written && Object.keys(query).every((name) => query[name] === undefined || written.includes(name))
  return isWritten ? formatAddress(path, query) : undefined
}

/** The file of an address: `/texts?kind=news` is `texts.kind-news.html`, `/series/600.csv?geo=3` is `series/600.geo-3.csv`. */
function pageFileName(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://here')
  const ending = fileEnding(pathname)
  const parts = [...searchParams].map(([name, value]) => `.${name}-${value}`).join('')
  const path = pathname === '/' ? 'index' : pathname.slice(1, pathname.length - (ending?.length ?? 0))
  return `${`${path}${parts}`.replaceAll(/[^\w./-]/g, '_')}${ending ?? '.html'}`
}

/** The relative path from one file of the folder to another. */
const relativePath = (from: string, to: string): string => `${'../'.repeat(from.split('/').length - 1)}${to}`

/** Removes scripts, forms and dead links from a document. */
const offlineDocument = (document: string): string =>
  document
    .replace(
      '<head>',
      `<head>\n<meta http-equiv="Content-Security-Policy" content="script-src 'none'; object-src 'none'; base-uri 'none'">`,
    )
    .replaceAll(/<script\b[^>]*>[^<]*<\/script>\n?/g, '')
    .replaceAll(/<form\b[\s\S]*?<\/form>/g, '')
    .replaceAll(/<a\b[^>]*\bhref="#not-here[^"]*"[^>]*>([\s\S]*?)<\/a>/g, '<span>$1</span>')

/** What the pages of a folder show. */
export interface WrittenContent {
  readonly locale: PageLocale
  /** The service that the database is filled from. */
  readonly service: Service
  /** Epoch seconds. */
  readonly now: number
  /** The range of charts, as in an address: `from` and `to`, or `last`; empty for the usual one. */
  readonly range: Query
}

/**
 * Makes the pages that need no server as files, the first page first: `series/600.html` with its HTML; beside each series its values and
 * its chart. The database should be a published copy, or one whose bookkeeping may be public.
 */
export async function* pageFiles(
  store: Reader,
  { locale, service, now, range }: WrittenContent,
): AsyncGenerator<{ readonly name: string; readonly body: string | AsyncIterable<string> }> {
  // Links append their pages to those that have no link.
  const addresses = new Set(['/', '/coverage', '/texts'])
  for (const address of addresses) {
    const url = new URL(address, 'http://here')
    const name = pageFileName(address)
    const { page, params } = findPage(url.pathname)!
    // All series have the same range, so their addresses do not need it.
    const shown =
      page.path === '/series/:id'
        ? formatAddress('', { ...Object.fromEntries(url.searchParams), ...range })
        : url.search
    const request: PageRequest = {
      ...baseRequest(store, new URL(`${url.pathname}${shown}`, url), params, locale, service),
      now,
      isLive: false,
      isForeign: false,
      // Files are the same whichever version made them.
      version: '',
      link(path, query = {}) {
        const to = fileAddress(path, query)
        if (to === undefined) return '#not-here'
        addresses.add(to)
        return relativePath(name, pageFileName(to))
      },
      command: (rest) => `indicator-sync ${rest}`,
      asset: (file) => relativePath(name, file),
    }
    try {
      const respond = SERIES_FILES[fileEnding(url.pathname) ?? '']
      if (respond) yield { name, body: (await respond(request)).body }
      else yield { name, body: await documentText(page, request) }
    } catch (error) {
      // The data of a link may not be stored.
      if (!(error instanceof NotFound || error instanceof AddressError)) throw error
    }
  }
  yield { name: 'page.css', body: STYLE }
  yield { name: 'icon.svg', body: ICON }
}

/** The document of a page. */
async function documentText(page: Page, request: PageRequest): Promise<string> {
  const view = await page.view()
  const data = await view.read(request)
  const title = view.title?.(data, request) ?? request.words.common.pages[page.name]
  const pages = PAGES.filter(({ path }) => path in WRITTEN_PAGES)
  return offlineDocument(htmlText(layout({ title, body: view.show(data, request) }, pages, request)))
}
