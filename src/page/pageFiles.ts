import type { Reader } from '../db/store.ts'
import type { Service } from '../service/service.ts'
import { ICON } from './assets.ts'
import { htmlText } from './html.ts'
import { layout } from './layout.ts'
import { addressOf, NotFound, type Page, type PageRequest, type Query } from './page.ts'
import { PAGES } from './pages.ts'
import { STYLE } from './style.ts'
import type { PageLocale } from './words/locale.ts'
import { WORDS } from './words/words.ts'

/** A file of a page that needs no server. */
export interface PageFile {
  /** Its place in the folder: `series/600.html`. */
  readonly name: string
  readonly body: string
}

/** The pages that are made, each with the parameters of its query that make a page of their own. */
const WRITTEN_PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': ['page'],
  '/coverage': ['page'],
  '/coverage/:id': [],
  '/series/:id': ['geo'],
  '/texts': ['kind', 'page'],
  '/texts/:kind/:id': [],
}
/** Pages that no other page leads to. */
const BEGIN = ['/', '/coverage', '/texts']

/** The target of a link to a page that is not made. */
const DEAD_LINK = '#not-here'

/** The page of a path, with its slots filled; undefined where none that is made has this path. */
function findPage(path: string): { readonly page: Page; readonly params: Record<string, string> } | undefined {
  for (const page of PAGES.filter(({ path: own }) => own in WRITTEN_PAGES)) {
    const [own, requested] = [page.path.split('/'), path.split('/')]
    if (own.length !== requested.length) continue
    const slots = own.flatMap((part, i) => (part.startsWith(':') ? [[part.slice(1), requested[i]!] as const] : []))
    if (own.every((part, i) => part.startsWith(':') || part === requested[i]))
      return { page, params: Object.fromEntries(slots) }
  }
  return undefined
}

/** The address of a page that is made: its path with the parameters that count; undefined for any other page. */
function fileAddress(path: string, query: Query): string | undefined {
  const found = findPage(path)
  if (!found) return undefined
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.some(([name]) => !WRITTEN_PAGES[found.page.path]!.includes(name))) return undefined
  return addressOf(path, query)
}

/** The file of an address: `/texts?kind=news` is `texts.kind-news.html`. */
function pageFileOf(address: string): string {
  const url = new URL(address, 'http://here')
  const parts = [...url.searchParams].map(([name, value]) => `.${name}-${value}`).join('')
  const path = url.pathname === '/' ? 'index' : url.pathname.slice(1)
  return `${`${path}${parts}`.replaceAll(/[^\w./-]/g, '_')}.html`
}

/** The relative path from one file of the folder to another. */
const relativePath = (from: string, to: string): string => `${'../'.repeat(from.split('/').length - 1)}${to}`

/** A document without a server: no script runs, nothing is sent, and a link without a target is only its text. */
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
 * Every page that makes sense without a server, as files with links between them: the given pages, and all pages that they lead
 * to. The database should be a published copy, or one whose bookkeeping may be public.
 */
export async function* pageFiles(
  store: Reader,
  { locale, service, now }: { readonly locale: PageLocale; readonly service: Service; readonly now: number },
): AsyncGenerator<PageFile> {
  yield { name: 'page.css', body: STYLE }
  yield { name: 'icon.svg', body: ICON }
  const known = new Set(BEGIN)
  // Pages found on the way are appended to the list.
  for (const address of known) {
    const url = new URL(address, 'http://here')
    const name = pageFileOf(address)
    const { page, params } = findPage(url.pathname)!
    const request: PageRequest = {
      store,
      path: url.pathname,
      params,
      query: url.searchParams,
      locale,
      words: WORDS[locale],
      now,
      live: false,
      foreign: false,
      service,
      languages: [locale, ...service.locales],
      // Files are the same whichever version made them.
      version: '',
      link(path, query = {}) {
        const to = fileAddress(path, query)
        if (to === undefined) return DEAD_LINK
        known.add(to)
        return relativePath(name, pageFileOf(to))
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
      // A link to something that is not held, such as the values of an indicator.
      if (!(error instanceof NotFound)) throw error
    }
  }
}
