import { readKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { contentKinds } from '../../service/routes.ts'
import { visible } from '../../util/text.ts'
import { difference, type Piece } from '../difference.ts'
import { command, facts, lines, localText, numberedPager, seriesLinks, serviceText, timeElement } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view, wholeNumber } from '../page.ts'
import { indicatorUnits, inLanguage } from '../queries/names.ts'
import { heldSeriesOf } from '../queries/seriesPaths.ts'

/** Texts that one page lists. */
const TEXTS_A_PAGE = 50
/** Letters of a summary in a list. */
const SUMMARY = 200
/** Versions that one page lists. */
const MOST_VERSIONS = 100
/** Letters of a text that one page shows. */
const LETTERS_SHOWN = 20_000
/** Letters of what stayed the same that are shown on each side of a change. */
const CONTEXT_LETTERS = 160

/** The kinds of content that the page shows, each with its route: those of the service, the last declared first, and others that are held. */
async function kindsOf({ store, service: { routes } }: PageRequest) {
  const known = new Map([...contentKinds(routes)].reverse())
  for (const kind of await readKinds(store, 'content')) if (!known.has(kind)) known.set(kind, kind)
  return known
}

/** One page of the items of a kind, the latest first where they have a date; from 1. Without such a kind: the first one. */
async function readTexts(request: PageRequest) {
  const { kysely } = request.store
  const [wanted, page] = [request.query.get('kind') ?? '', Math.max(1, wholeNumber(request.query.get('page')) ?? 1)]
  const kinds = await kindsOf(request)
  const kind = kinds.has(wanted) ? wanted : ([...kinds.keys()][0] ?? '')
  const items = await kysely
    .selectFrom('content as c')
    .select(['c.id', 'c.published_at', 'c.updated_at', 'c.withdrawn_at', 'c.sticky'])
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
  const changed = await kysely
    .selectFrom('content_revision')
    .select('id')
    .select(({ fn }) => fn.countAll<number>().as('versions'))
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .groupBy('id')
    .execute()
  const groups = Map.groupBy(texts, ({ id }) => id)
  return {
    kinds: [...kinds.keys()],
    kind,
    /** By which a job names it. */
    route: kinds.get(kind) ?? null,
    page,
    texts: shown.map((item) => {
      const text = inLanguage(groups.get(item.id) ?? [], request.languages)
      return {
        ...item,
        title: text?.title ?? null,
        locale: text?.locale ?? null,
        languages: groups.get(item.id)?.length ?? 0,
        summary: text?.summary || text?.begins || null,
        superseded: changed.find(({ id }) => id === item.id)?.versions ?? 0,
      }
    }),
    more: items.length > TEXTS_A_PAGE,
  }
}

type TextList = Awaited<ReturnType<typeof readTexts>>

function item(one: TextList['texts'][number], kind: string, request: PageRequest): Html {
  const { texts: own, common } = request.words
  return html`<li><p><a href="${request.link(`/texts/${kind}/${one.id}`)}">${serviceText(one.title, one.locale) ?? `${own.untitled} (${one.id})`}</a>
<span class="soft">${one.published_at?.slice(0, 10)} ${one.superseded > 0 && own.changes(one.superseded + 1)} ${one.withdrawn_at !== null && html`${common.withdrawn} ${timeElement(request, one.withdrawn_at)}`}</span></p>${
    one.summary !== null && html`<p>${serviceText(one.summary, one.locale)}</p>`
  }</li>\n`
}

/** `/texts`: texts of the service, by kind. */
export const textsView = view({
  read: readTexts,
  show({ kinds, kind, route, page: at, texts: rows, more }, request) {
    const { words, link } = request
    const { texts: own } = words
    return html`<p>${own.about}</p>
<nav aria-label="${own.which}"><ul>${kinds.map(
      (one) =>
        html`<li><a href="${link('/texts', { kind: one })}"${one === kind && html` aria-current="page"`}>${own.kinds[one] ?? one}</a></li>`,
    )}</ul></nav>
<h2>${own.kinds[kind] ?? kind}</h2>
${rows.length === 0 && html`<p>${own.none} ${words.common.noneHint}</p>${route !== null && command(`content: [{ kinds: [${route}] }]`)}`}
${rows.length > 0 && html`<ul class="found">\n${rows.map((one) => item(one, kind, request))}</ul>`}
${numberedPager(request, at, more)}`
  },
})

/** The tables of what has texts with versions, indicators and content of any kind, with the columns of a version. */
const OF_INDICATORS = {
  tables: ['indicator_text', 'indicator_revision'],
  columns: ['fetch_id as fetch', 'name as title', 'short_name as summary', 'description as html'],
  plain: 'description_text',
} as const
const OF_CONTENT = {
  tables: ['content_text', 'content_revision'],
  columns: ['fetch_id as fetch', 'title', 'summary', 'body as html'],
  plain: 'body_text',
} as const

/** The item of an address. */
interface Item {
  readonly kind: string
  readonly id: number
  readonly isIndicator: boolean
}

/** The versions of a text, the latest first: its title, its summary and its body as HTML, and the fetch that brought it. */
async function versionsOf({ kysely }: Reader, { kind, id, isIndicator }: Item, locale: string) {
  // The columns have the same names and types in the tables of both.
  const { tables, columns } = (isIndicator ? OF_INDICATORS : OF_CONTENT) as typeof OF_CONTENT
  const found = tables.map((table) =>
    kysely
      .selectFrom(table)
      .select(columns)
      .where((of) => of.and({ kind, id, locale }))
      .orderBy('fetch_id', 'desc')
      .limit(MOST_VERSIONS)
      .execute(),
  )
  const rows = (await Promise.all(found)).flat()
  const moments = await kysely
    .selectFrom('_fetch')
    .select(['id', 'finished_at'])
    .where(
      'id',
      'in',
      rows.map(({ fetch }) => fetch),
    )
    .execute()
  const momentOf = (fetch: number) => moments.find((one) => one.id === fetch)?.finished_at ?? null
  // Each version ends where the next one begins. UTC, to the millisecond; null if the fetch is not known any more.
  return rows.map((row, i) => ({
    ...row,
    from: momentOf(row.fetch),
    to: i === 0 ? null : momentOf(rows[i - 1]!.fetch),
  }))
}

/** Facts about an item apart from its texts; dates as they came. */
async function factsOf({ store: db }: PageRequest, { kind, id, isIndicator }: Item) {
  const dates = { published_at: null, updated_at: null, expires_at: null, first_seen_at: null, withdrawn_at: null }
  const none = { ...dates, unit: null, series: [] }
  if (!isIndicator) {
    const item = await db.kysely
      .selectFrom('content')
      .select(['published_at', 'updated_at', 'expires_at', 'first_seen_at', 'withdrawn_at'])
      .where((of) => of.and({ kind, id }))
      .executeTakeFirst()
    return { ...none, ...item }
  }
  const item = await db.kysely
    .selectFrom('indicator')
    .select(['first_seen_at', 'withdrawn_at'])
    .where((of) => of.and({ kind, id }))
    .executeTakeFirst()
  const key = `${kind} ${id}`
  const unit = (await indicatorUnits({ store: db }, [id])).get(key) ?? null
  return { ...none, ...item, unit, series: (await heldSeriesOf(db, [{ kind, id }])).get(key) ?? [] }
}

/**
 * A text in a language with all its versions: the requested version, else the current one, and how it differs from the version
 * before it, or from another one; null when there is no such text.
 */
async function readTextPage(request: PageRequest) {
  const { store, query, languages, params } = request
  const [kind = '', id] = [params.kind, wholeNumber(params.id)]
  if (!/^\w+$/.test(kind) || id === null) return null
  const item = { kind, id, isIndicator: (await readKinds(store, 'indicator')).includes(kind) }
  const locales = await store.kysely
    .selectFrom(item.isIndicator ? 'indicator_text' : 'content_text')
    .select('locale')
    .where((of) => of.and({ kind, id }))
    .orderBy('locale')
    .execute()
  const locale = inLanguage(locales, [query.get('locale') ?? [], languages].flat())?.locale
  if (locale === undefined) return null
  const versions = await versionsOf(store, item, locale)
  const [wanted, against] = [wholeNumber(query.get('version')), wholeNumber(query.get('against'))]
  const place = wanted === null ? 0 : versions.findIndex(({ fetch }) => fetch === wanted)
  const shown = versions[place]
  if (!shown) return null
  const other = versions.find(({ fetch }) => fetch === against) ?? versions[place + 1]
  // The converter is loaded only when a text is shown.
  const { plainText } = await import('../../transform/plain.ts')
  const plain = (html: string | null): string => (html === null ? '' : plainText(html)).slice(0, LETTERS_SHOWN + 1)
  // Parts that are equal are left out.
  const between = (before: string | null, after: string | null): Piece[] | null =>
    (before ?? '') === (after ?? '') ? null : difference(before ?? '', after ?? '')
  const text = plain(shown.html)
  const { html: _, ...head } = shown
  const { tables, plain: column } = item.isIndicator ? OF_INDICATORS : OF_CONTENT
  return {
    kind,
    id,
    locale,
    locales: locales.map((one) => one.locale),
    facts: await factsOf(request, item),
    current: place === 0,
    ...head,
    text: text.slice(0, LETTERS_SHOWN),
    cut: text.length > LETTERS_SHOWN,
    /** The command by which a terminal shows the whole text, however long. */
    whole: `query "select ${column} from ${tables[0]} where kind = '${kind}' and id = ${id} and locale = '${locale}'" --format csv`,
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

/** Unchanged text, cut to the context of a change. */
function unchangedText(text: string, first: boolean, last: boolean): string {
  const [head, tail] = [first ? '' : text.slice(0, CONTEXT_LETTERS), last ? '' : text.slice(-CONTEXT_LETTERS)]
  return text.length <= head.length + tail.length ? text : `${head} … ${tail}`
}

/** A difference: removed text in `del`, added text in `ins`. */
const changed = (pieces: readonly Piece[], lang: string): Html =>
  html`<div class="lines" dir="auto" lang="${lang}">${pieces.map(({ what, text }, i) => {
    if (what === 'same') return visible(unchangedText(text, i === 0, i === pieces.length - 1))
    return what === 'removed' ? html`<del>${visible(text)}</del>` : html`<ins>${visible(text)}</ins>`
  })}</div>`

function changeHtml({ change, versions, against, locale }: TextPage, request: PageRequest): HtmlPart {
  const { texts: own, common } = request.words
  if (!change) return null
  const parts = [
    [own.title, change.title],
    [own.summary, change.summary],
    [common.text, change.text],
  ] as const
  const shown = parts.flatMap(([name, pieces]) => (pieces ? [html`<h3>${name}</h3>${changed(pieces, locale)}`] : []))
  const when = versions.find(({ fetch }) => fetch === against)?.from ?? ''
  return html`<h2 id="change">${own.change}</h2>
<p>${shown.length === 0 ? own.same : own.changeOf(localText(request, when))}</p>${shown}`
}

function versionList(data: TextPage, request: PageRequest): HtmlPart {
  const { words, link, live, path } = request
  const { texts: own } = words
  if (data.versions.length < 2) return null
  const address = (version: number, against?: number) => link(path, { locale: data.locale, version, against })
  return html`<h2>${own.versions}</h2>
<ol class="found">${data.versions.map(
    ({ fetch, from, to, title }, i) =>
      html`<li>${timeElement(request, from)}${to !== null && html` ${own.until} ${timeElement(request, to)}`} ${i === 0 && html`(${own.current})`} ${serviceText(title, data.locale)} ${
        live &&
        fetch !== data.fetch &&
        html`<a href="${address(fetch)}">${words.common.show}</a> <a href="${address(data.fetch, fetch)}#change">${own.compare}</a>`
      }</li>\n`,
  )}</ol>`
}

/** `/texts/news/7`: a text in one language, with its versions and what changed between them. */
export const textView = view({
  read: readTextPage,
  title: ({ title, kind, id }, { words }) => title?.trim() || `${words.texts.kinds[kind] ?? kind} ${id}`,
  show(data, request) {
    const { words, link, path } = request
    const { texts: own, common } = words
    const { published_at, updated_at, expires_at, first_seen_at, withdrawn_at, unit, series } = data.facts
    const otherLocales = data.locales.map((locale) =>
      locale === data.locale
        ? `${locale} `
        : html`<a href="${link(path, { locale })}" hreflang="${locale}">${locale}</a> `,
    )
    return html`<p class="soft">${own.kinds[data.kind] ?? data.kind} ${data.id}</p>
${!data.current && html`<p class="bad">${own.earlier} <a href="${link(path, { locale: data.locale })}">${own.showCurrent}</a></p>`}
${data.summary && html`<p><strong>${serviceText(data.summary, data.locale)}</strong></p>`}
${data.text === '' ? html`<p>${own.empty}</p>` : lines(data.text, data.locale)}
${data.cut && html`<p>${own.cut}</p>${command(request.command(data.whole))}`}
${facts([
  [common.published, serviceText(published_at)],
  [own.updated, serviceText(updated_at)],
  [own.expires, serviceText(expires_at)],
  [own.since, timeElement(request, data.from)],
  [common.firstSeen, timeElement(request, first_seen_at)],
  [common.withdrawn, timeElement(request, withdrawn_at)],
  [common.unit, serviceText(unit)],
  [common.viewValues, series.length > 0 && seriesLinks(request, series)],
  [own.languages, otherLocales.length > 1 && otherLocales],
])}
${changeHtml(data, request)}
${versionList(data, request)}`
  },
})
