import { basename } from 'node:path'
import { type Html, type HtmlPart, html } from './html.ts'
import type { Page, PageRequest } from './page.ts'
import { PAGE_LOCALES } from './words/locale.ts'
import { WORDS } from './words/words.ts'

/** A page, and how it can be reached. */
export interface ShownPage {
  readonly title: string
  readonly body: Html
  readonly scripts: readonly string[]
  /** Whether it is not updated while a sync writes. */
  readonly still: boolean
  /** The address of the page's data for programs; undefined where there is none. */
  readonly machine: string | undefined
}

/** The pages that the navigation names. */
const topOf = (pages: readonly Page[], live: boolean): readonly Page[] =>
  pages.filter((page) => page.top && (live || !page.live))

/** The first part of a path, which marks the place in the navigation: `/runs` of `/runs/7`. */
const sectionOf = (path: string): string => /^\/[^/]*/.exec(path)![0]

/** The same page in each other language: the address says which, and the server remembers. */
function languages({ locale, link, path, query, live }: PageRequest): HtmlPart {
  if (!live) return null
  const rest = Object.fromEntries([...query].filter(([name]) => name !== 'lang'))
  return PAGE_LOCALES.filter((one) => one !== locale).map(
    (other) =>
      html` <a href="${link(path, { ...rest, lang: other })}" lang="${other}" hreflang="${other}">${WORDS[other].common.inThisLanguage}</a>`,
  )
}

/** A whole document: head, navigation, the page, and where it comes from. */
export function layout(shown: ShownPage, pages: readonly Page[], request: PageRequest): Html {
  const { words, link, asset, locale, path, live } = request
  const { common } = words
  const scripts = [...(live ? ['live'] : []), 'page', ...shown.scripts]
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shown.title} · indicator-sync</title>
<link rel="stylesheet" href="${asset('page.css')}">
<link rel="icon" href="${asset('icon.svg')}">
${scripts.map((name) => html`<script type="module" src="${asset(`${name}.js`)}"></script>\n`)}</head>
<body>
<a class="skip" href="#main">${common.skip}</a>
<header><nav aria-label="${common.navigation}"><ul>
${topOf(pages, live).map(
  ({ path: to, name }) =>
    html`<li><a href="${link(to)}"${sectionOf(to) === sectionOf(path) && html` aria-current="${to === path ? 'page' : 'true'}"`}>${common.pages[name]}</a></li>\n`,
)}</ul></nav></header>
<main id="main" tabindex="-1"${shown.still && html` data-still`}>
<h1>${shown.title}</h1>
${shown.body}
</main>
<p id="status" role="status" class="quiet"${live && html` data-changed="${common.changed}"`} data-copy="${common.copy}" data-copied="${common.copied}"></p>
<footer>
<p>${common.database} <code>${basename(request.store.file)}</code>${shown.machine !== undefined && html` · <a href="${shown.machine}">${common.machine}</a>`}${languages(request)}</p>
${request.address !== undefined && html`<p class="printed">${request.address}</p>`}
</footer>
</body>
</html>
`
}
