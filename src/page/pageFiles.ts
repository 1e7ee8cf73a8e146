import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { ICON } from './assets.ts'
import { htmlText } from './html.ts'
import { layout } from './layout.ts'
import { AddressError, baseRequest, formatAddress, NotFound, type PageRequest, type Query } from './page.ts'
import { PAGES } from './pages.ts'
import { STYLE } from './style.ts'
import type { PageLocale } from './words/locale.ts'

/** The written pages, each with the parameters that make a page of their own. */
const WRITTEN_PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': ['page'],
  '/coverage': ['page'],
  '/coverage/:id': [],
  '/series/:id': ['geo'],
  '/texts': ['kind', 'page'],
  '/texts/:kind/:id': [],
}
/** Finds the written page of a path, with its slots filled. */
function findPage(path: string) {
  for (const page of PAGES.filter((written) => written.path in WRITTEN_PAGES)) {
    const match = new RegExp(`^${page.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(path)
    if (match) return { page, params: { ...match.groups } }
  }
  return undefined
}

/** The address of a written page; undefined for any other page. */
function fileAddress(path: string, query: Query): string | undefined {
  const written = WRITTEN_PAGES[findPage(path)?.page.path ?? '']
  const isWritten = written && Object.keys(query).every((name) => query[name] === undefined || written.includes(name))
  return isWritten ? formatAddress(path, query) : undefined
}

/** The file of an address: `/texts?kind=news` is `texts.kind-news.html`. */
function pageFileName(address: string): string {
  const url = new URL(address, 'http://here')
  const parts = [...url.searchParams].map(([name, value]) => `.${name}-${value}`).join('')
  const path = url.pathname === '/' ? 'index' : url.pathname.slice(1)
  return `${`${path}${parts}`.replaceAll(/[^\w./-]/g, '_')}.html`
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

/**
 * Makes the pages that need no server as files, the first page first: `series/600.html` with its HTML. The database should be a
 * published copy, or one whose bookkeeping may be public.
 */
export async function* pageFiles(
  store: Reader,
  { locale, service, now }: { readonly locale: PageLocale; readonly service: Service; readonly now: number },
): AsyncGenerator<{ readonly name: string; readonly body: string }> {
  // Links append their pages to those that have no link.
  const addresses = new Set(['/', '/coverage', '/texts'])
  for (const address of addresses) {
    const url = new URL(address, 'http://here')
    const name = pageFileName(address)
    const { page, params } = findPage(url.pathname)!
    const request: PageRequest = {
      ...baseRequest(store, url, params, locale, service),
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
      const view = await page.view()
      const data = await view.read(request)
      const title = view.title?.(data, request) ?? request.words.common.pages[page.name]
      const shown = { title, body: view.show(data, request) }
      const pages = PAGES.filter(({ path }) => path in WRITTEN_PAGES)
      yield { name, body: offlineDocument(htmlText(layout(shown, pages, request))) }
    } catch (error) {
      // The data of a link may not be stored.
      if (!(error instanceof NotFound || error instanceof AddressError)) throw error
    }
  }
  yield { name: 'page.css', body: STYLE }
  yield { name: 'icon.svg', body: ICON }
}
