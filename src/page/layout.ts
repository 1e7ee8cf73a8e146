import { basename } from 'node:path'
import { suggestionList } from './elements.ts'
import { momentText, outcomeStyle } from './formats.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { type ShownRun, timeLeft } from './lastRun.ts'
import type { Page, PageRequest } from './page.ts'
import { LANGUAGE_CHOICE, PAGE_LOCALES } from './words/locale.ts'
import { WORDS } from './words/words.ts'

/** A page with its frame. */
export interface ShownPage {
  readonly title: string
  readonly body: Html
  readonly scripts?: readonly string[] | undefined
  /** Whether it is not updated while a sync writes. */
  readonly isStill?: boolean | undefined
  /** The newest run, if there is one. */
  readonly lastRun?: ShownRun
  /** The number of findings, as the overview lists them. */
  readonly findings?: number
  /** The address of the page's data for programs. */
  readonly machine?: string
}

/** The entries of the navigation that lead to sections without an entry. */
const ENTRIES: Readonly<Record<string, string>> = {
  '/widgets': '/texts',
  '/quarantine': '/runs',
  '/dictionary': '/sql',
}

/** The entry of the navigation that is marked for a path: `/runs` for `/runs/7`. */
function section(path: string): string {
  const [first] = /^\/[^/]*/.exec(path)!
  return ENTRIES[first] ?? first
}

/** Links to the page in the other languages; the server remembers the choice, and returns to the address without it. */
function languages({ locale, link, path, query, isLive }: PageRequest): HtmlPart {
  if (!isLive) return null
  const rest = Object.fromEntries([...query].filter(([name]) => name !== 'lang' && name !== LANGUAGE_CHOICE))
  return PAGE_LOCALES.filter((lang) => lang !== locale).map((lang) => {
    const address = link(path, { ...rest, [LANGUAGE_CHOICE]: lang })
    return html` · <a href="${address}" lang="${lang}" hreflang="${lang}">${WORDS[lang].common.inThisLanguage}</a>`
  })
}

/** The sign of the header, which is that of the overview: of the findings, unless a run is in progress. */
function stateStyle({ outcome }: NonNullable<ShownRun>, findings: number): string {
  if (outcome === 'running') return outcomeStyle(outcome)
  if (findings === 0) return outcomeStyle('done')
  return outcomeStyle(outcome === 'failed' ? outcome : 'partial')
}

/** The time of the newest run, or its progress; and whether the overview has findings. */
function runState({ lastRun: run, findings = 0 }: ShownPage, request: PageRequest): HtmlPart {
  if (!run) return null
  const { words, link, service } = request
  const { common, runs, home } = words
  const time = (at: string): Html =>
    html`<time data-ago datetime="${at}">${momentText(service.timeZone, at).slice(0, 16)}</time>`
  const progress = run.progress
    ? [runs.runningOf(run.progress.done, run.progress.planned), timeLeft(request, run.progress)]
    : runs.running(run.requests)
  const success = run.succeededAt !== null && html` · ${common.lastSuccess} ${time(run.succeededAt)}`
  const result = html`${common.lastSync} ${time(run.finished_at ?? run.started_at)}${success}`
  const needs = findings > 0 && html`<b>${home.needs}</b> · `
  const text = html`${needs}${run.outcome === 'running' ? progress : result}`
  const to = findings > 0 && run.outcome === 'done' ? '/' : `/runs/${run.id}`
  return html`<a class="synced" href="${link(to)}"><span class="${stateStyle(run, findings)}">${text}</span></a>`
}

/** Saved views; a script fills the list. */
function savedViews({ words: { common }, token }: PageRequest): Html {
  const buttonTexts = html`data-remove="${common.remove('{}')}" data-token="${token}" data-saved="${common.savedNow}"`
  const name = html`<input name="name" required pattern=".*\\S.*" maxlength="80">`
  const exportLink = html`<a download="indicator-sync-views.json">${common.exportViews}</a>`
  const file = html`<input type="file" accept="application/json">`
  return html`<details class="saved" id="saved" hidden ${buttonTexts} data-none="${common.noViews}">
<summary><span>${common.saved}</span></summary><div>
<button type="button" data-link>${common.copyLink}</button>
<form><label>${common.saveAs} ${name}</label> <button>${common.save}</button></form>
<ul></ul>
${exportLink} <label>${common.importViews} ${file}</label>
</div></details>`
}

/** The search field of the header, with suggestions. */
function searchForm(request: PageRequest): Html {
  const { common } = request.words
  const names = html`type="search" name="q" aria-label="${common.find}" placeholder="${common.find}"`
  const input = html`<input ${names} autocomplete="off" aria-keyshortcuts="/" data-pick="href">`
  const form = html`class="find pick" role="search" aria-label="${common.find}" action="${request.link('/search')}"`
  return html`<form ${form}>${input}${suggestionList('found', request)}</form>`
}

/** An entry of the navigation. */
function navigationItem({ path: to, name }: Page, { words, link, path }: PageRequest): Html {
  const current = section(to) === section(path) && html` aria-current="${to === path ? 'page' : 'true'}"`
  return html`<li><a href="${link(to)}"${current}>${words.common.pages[name]}</a></li>\n`
}

/** The texts of scripts, in the element that shows their state. */
function statusElement({ words: { common }, isLive, locale }: PageRequest): Html {
  const live = isLive && html` data-changed="${common.changed}" data-lost="${common.lost('{}')}"`
  const copying = html` data-locale="${locale}" data-copy="${common.copy}" data-copied="${common.copied}"`
  return html`<p id="status" role="status" class="quiet"${live}${copying}></p>`
}

/** The foot of a page: the database, other forms of the page, the zone, and when it was written. */
function footer({ machine }: ShownPage, request: PageRequest): Html {
  const { common } = request.words
  const { timeZone } = request.service
  const data = machine !== undefined && html` · <a href="${machine}">${common.machine}</a>`
  const writtenAt = momentText(timeZone, new Date(request.now * 1000).toISOString())
  const parts: HtmlPart[] = [
    html`${common.database} <code>${basename(request.store.file)}</code>`,
    data,
    languages(request),
    ` · ${common.clock(timeZone)}`,
    !request.isLive && ` · ${common.made(writtenAt)}`,
  ]
  return html`<footer>
<p>${parts}</p>
</footer>`
}

/** A whole document. */
export function layout(shown: ShownPage, pages: readonly Page[], request: PageRequest): Html {
  const { words, link, asset, locale, isLive } = request
  const { common } = words
  const scripts = [...(isLive ? ['live', 'saved', 'combobox'] : []), 'basics', ...(shown.scripts ?? [])]
  const inNavigation = pages.filter((page) => page.isInNavigation && (isLive || !page.needsServer))
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
<header><div>
<a class="brand" href="${link('/')}">indicator-sync</a>
<nav aria-label="${common.navigation}"><ul class="scroll">
${inNavigation.map((page) => navigationItem(page, request))}</ul></nav>
${isLive && searchForm(request)}
${runState(shown, request)}${isLive && savedViews(request)}</div></header>
<main id="main" tabindex="-1"${shown.isStill && html` data-still`}>
<h1>${shown.title}</h1>
${shown.body}
</main>
${statusElement(request)}
${footer(shown, request)}
</body>
</html>
`
}
