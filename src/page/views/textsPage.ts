import { diffArrays } from 'diff'
import { readKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { contentKinds } from '../../service/routes.ts'
import { visible } from '../../util/text.ts'
import { command, facts, lines, numberedPager, seriesLinks, serviceText, timeElement } from '../elements.ts'
import { localText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view, wholeNumber } from '../page.ts'
import { indicatorUnits, inLanguage } from '../queries/names.ts'
import { readStoredSeries } from '../queries/seriesPaths.ts'

/** Texts on one page. */
const TEXTS_A_PAGE = 50
/** Letters of a summary in a list. */
const SUMMARY = 200
/** Versions on one page. */
const MAX_VERSIONS = 100
/** Unchanged letters that are shown on each side of a change. */
const CONTEXT_LETTERS = 160

/** Reads one page of the items of a kind, newest first; by default of the first kind. */
async function readTexts(request: PageRequest) {
  const { kysely } = request.store
  const [named, page] = [request.query.get('kind') ?? '', Math.max(1, wholeNumber(request.query.get('page')) ?? 1)]
  // With their routes: kinds of the service, the last declared first, then other stored ones.
  const kinds = new Map([...contentKinds(request.service.routes)].reverse())
  for (const name of await readKinds(request.store, 'content')) kinds.set(name, kinds.get(name) ?? name)
  const kind = kinds.has(named) ? named : ([...kinds.keys()][0] ?? '')
  const items = await kysely
    .selectFrom('content as c')
    .select(['c.id', 'c.published_at', 'c.updated_at', 'c.withdrawn_at', 'c.sticky'])
    .select((eb) =>
      eb
        .selectFrom('content_revision as r')
        .whereRef('r.kind', '=', 'c.kind')
        .whereRef('r.id', '=', 'c.id')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .as('superseded'),
    )
    .where('c.kind', '=', kind)
    .orderBy('c.published_at', (order) => order.desc().nullsLast())
    .orderBy('c.id')
    .limit(TEXTS_A_PAGE + 1)
    .offset((page - 1) * TEXTS_A_PAGE)
    .execute()
  const shown = items.slice(0, TEXTS_A_PAGE)
  const ids = shown.map(({ id }) => id)
  const texts = await kysely
    .selectFrom('content_text as t')
    .select(['t.id', 't.locale', 't.title', 't.summary'])
    .select(({ fn, val }) => fn<string | null>('substr', ['t.body_text', val(1), val(SUMMARY)]).as('begins'))
    .where('t.kind', '=', kind)
    .where('t.id', 'in', ids)
    .orderBy('t.locale')
    .execute()
  const groups = Map.groupBy(texts, ({ id }) => id)
  return {
    kinds: [...kinds.keys()],
    kind,
    /** Its name in jobs. */
    route: kinds.get(kind) ?? null,
    page,
    texts: shown.map((item) => {
      const text = inLanguage(groups.get(item.id) ?? [], request.languages)
      return {
        ...item,
        title: text?.title ?? null,
        locale: text?.locale ?? null,
        summary: text?.summary || text?.begins || null,
        superseded: Number(item.superseded),
      }
    }),
    more: items.length > TEXTS_A_PAGE,
  }
}

type Listed = Awaited<ReturnType<typeof readTexts>>['texts'][number]

function item({ id, title, locale, summary, ...text }: Listed, kind: string, request: PageRequest): Html {
  const { texts: labels, common } = request.words
  return html`<li><p><a href="${request.link(`/texts/${kind}/${id}`)}">${serviceText(title, locale) ?? `${labels.untitled} (${id})`}</a>
<span class="soft">${text.published_at?.slice(0, 10)} ${text.superseded > 0 && labels.changes(text.superseded + 1)} ${text.withdrawn_at !== null && html`${common.withdrawn} ${timeElement(request, text.withdrawn_at)}`}</span></p>${
    summary !== null && html`<p>${serviceText(summary, locale)}</p>`
  }</li>\n`
}

/** `/texts`: texts of the service by kind. */
export const textsView = view({
  read: readTexts,
  show({ kinds, kind, route, page: at, texts: rows, more }, request) {
    const { words, link } = request
    const { texts: labels } = words
    return html`<p>${labels.about}</p>
<nav aria-label="${labels.which}"><ul>${kinds.map(
      (name) =>
        html`<li><a href="${link('/texts', { kind: name })}"${name === kind && html` aria-current="page"`}>${labels.kinds[name] ?? name}</a></li>`,
    )}</ul></nav>
<h2>${labels.kinds[kind] ?? kind}</h2>
${rows.length === 0 && html`<p>${labels.none} ${words.common.noneHint}</p>${route !== null && command(`content: [{ kinds: [${route}] }]`)}`}
${rows.length > 0 && html`<ul class="found">\n${rows.map((text) => item(text, kind, request))}</ul>`}
${numberedPager(request, at, more)}`
  },
})

/** Tables with versions of texts, and the columns of a version. */
const INDICATOR_TEXTS = {
  tables: ['indicator_text', 'indicator_revision'],
  columns: ['fetch_id as fetch', 'name as title', 'short_name as summary', 'description as html'],
} as const
const CONTENT_TEXTS = {
  tables: ['content_text', 'content_revision'],
  columns: ['fetch_id as fetch', 'title', 'summary', 'body as html'],
} as const

/** A part of a text in both versions, or in one of them. */
interface Piece {
  readonly what: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Milliseconds after which both texts are shown as a whole. */
const TIMEOUT_MS = 300

/** A word or another character with the spaces after it: spaces alone do not separate two changes. */
const TOKEN = /(?:[\p{L}\p{N}]+|[^\p{L}\p{N}\s])\s*|\s+/gu

const tokens = (text: string): string[] => text.match(TOKEN) ?? []

/** Compares two texts word by word. Pieces that were not added make the old text, those not removed the new one. */
export function difference(before: string, after: string): Piece[] {
  const changes = diffArrays(tokens(before), tokens(after), { timeout: TIMEOUT_MS }) ?? [
    { value: [before], removed: true, added: false },
    { value: [after], removed: false, added: true },
  ]
  return changes.map(({ value, removed, added }) => ({
    what: removed ? 'removed' : added ? 'added' : 'same',
    text: value.join(''),
  }))
}

/** The item of an address. */
interface Item {
  readonly kind: string
  readonly id: number
  readonly isIndicator: boolean
}

/** Reads the versions of a text, newest first, with their fetches. */
async function readVersions({ kysely }: Reader, { kind, id, isIndicator }: Item, locale: string) {
  // The columns have the same names and types in the tables of both.
  const { tables, columns } = (isIndicator ? INDICATOR_TEXTS : CONTENT_TEXTS) as typeof CONTENT_TEXTS
  const queries = tables.map((table) =>
    kysely
      .selectFrom(table)
      .select(columns)
      // UTC, to the millisecond; null if the fetch is not recorded.
      .select((eb) => eb.selectFrom('_fetch as f').whereRef('f.id', '=', 'fetch_id').select('f.finished_at').as('from'))
      .where((eb) => eb.and({ kind, id, locale }))
      .orderBy('fetch_id', 'desc')
      .limit(MAX_VERSIONS)
      .execute(),
  )
  const rows = (await Promise.all(queries)).flat()
  // A version ends when the next one begins.
  return rows.map((row, i) => ({ ...row, to: rows[i - 1]?.from ?? null }))
}

/** Reads facts about an item; dates are as received. */
async function readFacts({ store: db }: PageRequest, { kind, id, isIndicator }: Item) {
  const dates = { published_at: null, updated_at: null, expires_at: null, first_seen_at: null, withdrawn_at: null }
  const none = { ...dates, unit: null, series: [] }
  if (!isIndicator) {
    const item = await db.kysely
      .selectFrom('content')
      .select(['published_at', 'updated_at', 'expires_at', 'first_seen_at', 'withdrawn_at'])
      .where((eb) => eb.and({ kind, id }))
      .executeTakeFirst()
    return { ...none, ...item }
  }
  const item = await db.kysely
    .selectFrom('indicator')
    .select(['first_seen_at', 'withdrawn_at'])
    .where((eb) => eb.and({ kind, id }))
    .executeTakeFirst()
  const key = `${kind} ${id}`
  const unit = (await indicatorUnits({ store: db }, [id])).get(key) ?? null
  return { ...none, ...item, unit, series: (await readStoredSeries(db, [{ kind, id }])).get(key) ?? [] }
}

/** Reads a text with all its versions, and the difference of the requested version to the one before it, or to another one. */
async function readTextPage(request: PageRequest) {
  const { store, query, languages, params } = request
  const [kind = '', id] = [params.kind, wholeNumber(params.id)]
  if (!/^\w+$/.test(kind) || id === null) return null
  const item = { kind, id, isIndicator: (await readKinds(store, 'indicator')).includes(kind) }
  const locales = await store.kysely
    .selectFrom(item.isIndicator ? 'indicator_text' : 'content_text')
    .select('locale')
    .where((eb) => eb.and({ kind, id }))
    .orderBy('locale')
    .execute()
  const locale = inLanguage(locales, [query.get('locale') ?? [], languages].flat())?.locale
  if (locale === undefined) return null
  const versions = await readVersions(store, item, locale)
  const [requested, against] = [wholeNumber(query.get('version')), wholeNumber(query.get('against'))]
  const place = requested === null ? 0 : versions.findIndex(({ fetch }) => fetch === requested)
  const shown = versions[place]
  if (!shown) return null
  const other = versions.find(({ fetch }) => fetch === against) ?? versions[place + 1]
  const { plainText } = await import('../../transform/plain.ts')
  const plain = (html: string | null): string => (html === null ? '' : plainText(html))
  // Null for equal parts.
  const between = (before: string | null, after: string | null): Piece[] | null =>
    (before ?? '') === (after ?? '') ? null : difference(before ?? '', after ?? '')
  const text = plain(shown.html)
  const { html: _, ...head } = shown
  return {
    kind,
    id,
    locale,
    locales: locales.map((row) => row.locale),
    facts: await readFacts(request, item),
    current: place === 0,
    ...head,
    text,
    versions: versions.map(({ html: __, summary: ___, ...version }) => version),
    against: other?.fetch ?? null,
    change: other
      ? {
          title: between(other.title, shown.title),
          summary: between(other.summary, shown.summary),
          text: between(plain(other.html), text),
        }
      : null,
  }
}

type TextPage = NonNullable<Awaited<ReturnType<typeof readTextPage>>>

/** Cuts unchanged text to the context of changes. */
function unchangedText(text: string, first: boolean, last: boolean): string {
  const [head, tail] = [first ? '' : text.slice(0, CONTEXT_LETTERS), last ? '' : text.slice(-CONTEXT_LETTERS)]
  return text.length <= head.length + tail.length ? text : `${head} … ${tail}`
}

const changed = (pieces: readonly Piece[], lang: string): Html =>
  html`<div class="lines" dir="auto" lang="${lang}">${pieces.map(({ what, text }, i) => {
    if (what === 'same') return visible(unchangedText(text, i === 0, i === pieces.length - 1))
    return what === 'removed' ? html`<del>${visible(text)}</del>` : html`<ins>${visible(text)}</ins>`
  })}</div>`

function changeHtml({ change, versions, against, locale }: TextPage, request: PageRequest): HtmlPart {
  const { texts: labels, common } = request.words
  if (!change) return null
  const parts = [
    [labels.title, change.title],
    [labels.summary, change.summary],
    [common.text, change.text],
  ] as const
  const shown = parts.flatMap(([name, pieces]) => (pieces ? [html`<h3>${name}</h3>${changed(pieces, locale)}`] : []))
  const when = versions.find(({ fetch }) => fetch === against)?.from ?? ''
  return html`<h2 id="change">${labels.change}</h2>
<p>${shown.length === 0 ? labels.same : labels.changeOf(localText(request, when))}</p>${shown}`
}

function versionList(data: TextPage, request: PageRequest): HtmlPart {
  const { words, link, live, path } = request
  const { texts: labels } = words
  if (data.versions.length < 2) return null
  const address = (version: number, against?: number) => link(path, { locale: data.locale, version, against })
  return html`<h2>${labels.versions}</h2>
<ol class="found">${data.versions.map(
    ({ fetch, from, to, title }, i) =>
      html`<li>${timeElement(request, from)}${to !== null && html` ${labels.until} ${timeElement(request, to)}`} ${i === 0 && html`(${labels.current})`} ${serviceText(title, data.locale)} ${
        live &&
        fetch !== data.fetch &&
        html`<a href="${address(fetch)}">${words.common.show}</a> <a href="${address(data.fetch, fetch)}#change">${labels.compare}</a>`
      }</li>\n`,
  )}</ol>`
}

/** `/texts/news/7`: a text with its versions and their differences. */
export const textView = view({
  read: readTextPage,
  title: ({ title, kind, id }, { words }) => title?.trim() || `${words.texts.kinds[kind] ?? kind} ${id}`,
  show(data, request) {
    const { words, link, path } = request
    const { texts: labels, common } = words
    const { published_at, updated_at, expires_at, first_seen_at, withdrawn_at, unit, series } = data.facts
    const otherLocales = data.locales.map((locale) =>
      locale === data.locale
        ? `${locale} `
        : html`<a href="${link(path, { locale })}" hreflang="${locale}">${locale}</a> `,
    )
    return html`<p class="soft">${labels.kinds[data.kind] ?? data.kind} ${data.id}</p>
${!data.current && html`<p class="bad">${labels.earlier} <a href="${link(path, { locale: data.locale })}">${labels.showCurrent}</a></p>`}
${data.summary && html`<p><strong>${serviceText(data.summary, data.locale)}</strong></p>`}
${data.text === '' ? html`<p>${labels.empty}</p>` : lines(data.text, data.locale)}
${facts([
  [common.published, serviceText(published_at)],
  [labels.updated, serviceText(updated_at)],
  [labels.expires, serviceText(expires_at)],
  [labels.since, timeElement(request, data.from)],
  [common.firstSeen, timeElement(request, first_seen_at)],
  [common.withdrawn, timeElement(request, withdrawn_at)],
  [common.unit, serviceText(unit)],
  [common.viewValues, series.length > 0 && seriesLinks(request, series)],
  [labels.languages, otherLocales.length > 1 && otherLocales],
])}
${changeHtml(data, request)}
${versionList(data, request)}`
  },
})
