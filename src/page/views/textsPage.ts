import { readKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { contentKinds } from '../../service/routes.ts'
import { writtenLocale } from '../client/format.ts'
import { command, facts, lines, numberedPager, seriesLinks, serviceText, timeElement } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { choiceIn, dayAfter, dayIn, numberIn, type PageRequest, view, wholeNumber } from '../page.ts'
import { indicatorUnits, inLanguage } from '../queries/names.ts'
import { readStoredSeries } from '../queries/seriesPaths.ts'

/** Texts on one page. */
const TEXTS_A_PAGE = 50
/** Characters of a summary in a list. */
const SUMMARY_CHARACTERS = 200
/** Versions on one page. */
const MAX_VERSIONS = 100

/** Reads one page of the items of a kind, newest first; by default of the first kind. */
async function readTexts(request: PageRequest) {
  const { kysely } = request.store
  const page = numberIn(request.query, 'page', { from: 1 }) ?? 1
  // With their routes: kinds of the service, the last declared first, then other stored ones.
  const kinds = new Map([...contentKinds(request.service.routes)].reverse())
  for (const name of await readKinds(request.store, 'content')) kinds.set(name, kinds.get(name) ?? name)
  const kind = choiceIn(request.query, 'kind', [...kinds.keys()]) ?? [...kinds.keys()][0] ?? ''
  const from = dayIn(request.query, 'from')
  const to = dayIn(request.query, 'to')
  const items = await kysely
    .selectFrom('content as c')
    .select(['c.id', 'c.published_at', 'c.updated_at', 'c.withdrawn_at', 'c.sticky'])
    .where('c.kind', '=', kind)
    // Dates are as received, in local time with an offset.
    .$if(from !== null, (eb) => eb.where('c.published_at', '>=', from!))
    .$if(to !== null, (eb) => eb.where('c.published_at', '<', dayAfter(to!)))
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
    .select(({ fn, val }) => fn<string | null>('substr', ['t.body_text', val(1), val(SUMMARY_CHARACTERS)]).as('begins'))
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
    from,
    to,
    texts: shown.map((item) => {
      const text = inLanguage(groups.get(item.id) ?? [], request.languages)
      return {
        ...item,
        title: text?.title ?? null,
        locale: text?.locale ?? null,
        summary: text?.summary || text?.begins || null,
      }
    }),
    more: items.length > TEXTS_A_PAGE,
  }
}

type Listed = Awaited<ReturnType<typeof readTexts>>['texts'][number]

function item({ id, title, locale, summary, ...text }: Listed, kind: string, request: PageRequest): Html {
  const { texts: labels, common } = request.words
  const heading = serviceText(title, locale) ?? `${labels.untitled} (${id})`
  const { published_at, withdrawn_at } = text
  const withdrawn = withdrawn_at !== null && html`${common.withdrawn} ${timeElement(request, withdrawn_at)}`
  const summaryText = summary !== null && html`<p>${serviceText(summary, locale)}</p>`
  return html`<li><p><a href="${request.link(`/texts/${kind}/${id}`)}">${heading}</a>
<span class="soft"><time>${published_at?.slice(0, 10)}</time> ${withdrawn}</span></p>${summaryText}</li>\n`
}

type Texts = Awaited<ReturnType<typeof readTexts>>

/** The fields that limit the days on which texts were published. */
function daysForm({ kind, from, to }: Texts, { words, link }: PageRequest): Html {
  const { texts: labels, common } = words
  const field = (name: string, label: string, day: string | null): Html =>
    html`<label>${label} <input type="date" name="${name}" value="${day}"></label>\n`
  return html`<form action="${link('/texts')}" class="question"><input type="hidden" name="kind" value="${kind}">
${field('from', labels.publishedFrom, from)}${field('to', labels.publishedUntil, to)}<button>${common.show}</button></form>`
}

/** Texts below the months in which they were published. */
function byMonth({ texts, kind }: Texts, request: PageRequest): HtmlPart {
  const format = new Intl.DateTimeFormat(writtenLocale(request.locale), {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  const months = Map.groupBy(texts, ({ published_at }) => published_at?.slice(0, 7) ?? '')
  const name = (month: string): string =>
    Number.isNaN(Date.parse(month)) ? request.words.texts.undated : format.format(Date.parse(month))
  const list = (rows: Texts['texts']): Html =>
    html`<ul class="found">\n${rows.map((text) => item(text, kind, request))}</ul>`
  return [...months].map(([month, rows]) => html`<h3>${name(month)}</h3>${list(rows)}`)
}

/** `/texts`: texts of the service by kind. */
export const textsView = view({
  read: readTexts,
  show(data, request) {
    const { kinds, kind, route, page: at, texts: rows, more, from, to } = data
    const { words, link } = request
    const { texts: labels } = words
    const isFiltered = from !== null || to !== null
    const jobEntry = route !== null && command(`content: [{ kinds: [${route}] }]`)
    const none = html`<p>${labels.none} ${words.common.noneHint}</p>${jobEntry}`
    const kindItems = kinds.map((name) => {
      const current = name === kind && html` aria-current="page"`
      return html`<li><a href="${link('/texts', { kind: name })}"${current}>${labels.kinds[name] ?? name}</a></li>`
    })
    return html`<p>${labels.about}</p>
<nav aria-label="${labels.which}"><ul>${kindItems}<li><a href="${link('/widgets')}">${words.common.pages.widgets}</a></li></ul></nav>
<h2>${labels.kinds[kind] ?? kind}</h2>
${request.isLive && (rows.length > 0 || isFiltered) && daysForm(data, request)}
${rows.length === 0 && (isFiltered ? html`<p>${labels.noneOfDays}</p>` : none)}
${byMonth(data, request)}
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

/** The item of an address. */
interface Item {
  readonly kind: string
  readonly id: number
  readonly isIndicator: boolean
}

/** Reads the versions of a text, newest first, with the times of their fetches. */
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
  const { plainText } = await import('../../transform/plain.ts')
  return rows.map(({ html, ...row }, i) => ({
    ...row,
    text: html === null ? '' : plainText(html),
    // A version ends when the next one begins.
    to: rows[i - 1]?.from ?? null,
  }))
}

/** Reads facts about an item; dates are as received. */
async function readFacts({ store }: PageRequest, { kind, id, isIndicator }: Item) {
  const key = `${kind} ${id}`
  const item = await store.kysely
    .selectFrom(isIndicator ? 'indicator' : 'content')
    .select(['first_seen_at', 'withdrawn_at'])
    .where((eb) => eb.and({ kind, id }))
    .executeTakeFirst()
  const dates = await store.kysely
    .selectFrom('content')
    .select(['published_at', 'updated_at', 'expires_at'])
    .where((eb) => eb.and({ kind, id }))
    .executeTakeFirst()
  return {
    ...item,
    ...dates,
    unit: (await indicatorUnits({ store }, [id])).get(key) ?? null,
    series: (await readStoredSeries(store, [{ kind, id }])).get(key) ?? [],
  }
}

/** Reads a text with all its versions. */
async function readTextPage(request: PageRequest) {
  const { store, query, languages, params } = request
  const { kind = '' } = params
  const id = wholeNumber(params.id)
  if (!/^\w+$/.test(kind) || id === null) return null
  const item = { kind, id, isIndicator: (await readKinds(store, 'indicator')).includes(kind) }
  const locales = await store.kysely
    .selectFrom(item.isIndicator ? 'indicator_text' : 'content_text')
    .select('locale')
    .where((eb) => eb.and({ kind, id }))
    .orderBy('locale')
    .execute()
  const named = choiceIn(
    query,
    'locale',
    locales.map((row) => row.locale),
  )
  const locale = inLanguage(locales, [named ?? [], languages].flat())?.locale
  if (locale === undefined) return null
  const [current, ...earlier] = await readVersions(store, item, locale)
  if (!current) return null
  return {
    kind,
    id,
    locale,
    locales: locales.map((row) => row.locale),
    facts: await readFacts(request, item),
    ...current,
    earlier,
  }
}

type TextPage = NonNullable<Awaited<ReturnType<typeof readTextPage>>>

const textHtml = ({ summary, text }: Pick<TextPage, 'summary' | 'text'>, locale: string, empty: string): Html =>
  html`${summary && html`<p><strong>${serviceText(summary, locale)}</strong></p>`}
${text === '' ? html`<p>${empty}</p>` : lines(text, locale)}`

/** `/texts/news/7`: a text with its earlier versions, which are folded. */
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
${textHtml(data, data.locale, labels.empty)}
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
${data.earlier.length > 0 && html`<h2>${labels.versions}</h2>`}
${data.earlier.map((version) => {
  const times = html`${timeElement(request, version.from)} ${labels.until} ${timeElement(request, version.to)}`
  const summary = html`<summary>${times} ${serviceText(version.title, data.locale)}</summary>`
  return html`<details>${summary}${textHtml(version, data.locale, labels.empty)}</details>\n`
})}`
  },
})
