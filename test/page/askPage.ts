import type { openReader } from '../../src/db/open.ts'
import { htmlText } from '../../src/page/html.ts'
import type { Page, PageRequest } from '../../src/page/page.ts'
import { PAGES } from '../../src/page/pages.ts'
import type { PageLocale } from '../../src/page/words/locale.ts'
import { WORDS } from '../../src/page/words/words.ts'
import { SERVICES } from '../../src/service/services.ts'

type Opened = ReturnType<typeof openReader>

/** Creates the request of a page from its URL, parameters and query. */
export function requestOf(
  store: Opened,
  address: string,
  params: Record<string, string> = {},
  locale: PageLocale = 'en',
): PageRequest {
  const url = new URL(address, 'http://here')
  const service = SERVICES.generic
  return {
    store,
    path: url.pathname,
    params,
    query: url.searchParams,
    locale,
    languages: [locale, ...service.locales],
    service,
    words: WORDS[locale],
    version: 'test',
    now: Date.parse('2025-11-05T00:00:00Z') / 1000,
    isLive: true,
    isForeign: false,
    link: (path, query = {}) => {
      const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      )
      return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
    },
    command: (rest) => `indicator-sync ${rest}`,
    asset: (name) => `/-/${name}`,
  }
}

/** Parses the parameters in a URL; null for another path. */
function slotsOf({ path }: Page, address: string): Record<string, string> | null {
  const own = path.split('/')
  const parts = new URL(address, 'http://here').pathname.split('/')
  if (own.length !== parts.length) return null
  const slots: Record<string, string> = {}
  for (const [i, part] of own.entries()) {
    if (part.startsWith(':')) slots[part.slice(1)] = decodeURIComponent(parts[i]!)
    else if (part !== parts[i]) return null
  }
  return slots
}

/** Returns the data and HTML of a page. */
export async function askPage<Data>(store: Opened, address: string, locale: PageLocale = 'en') {
  for (const page of PAGES) {
    const slots = slotsOf(page, address)
    if (!slots) continue
    const request = requestOf(store, address, slots, locale)
    const view = await page.view()
    const data = await view.read(request)
    return { data: data as Data, html: htmlText(view.show(data, request)), title: view.title?.(data, request) ?? '' }
  }
  throw new Error(`no page for ${address}`)
}
