import { readKinds } from '../../db/queries/catalogueNames.ts'
import { readStoredRanges, SEARCH_SCOPES, searchItems } from '../../reports/searchItems.ts'
import { visible, withoutAccents } from '../../util/text.ts'
import { command, numberedPager, options, seriesLinks, serviceText, table } from '../elements.ts'
import { groupingText, kindText } from '../formats.ts'
import { type Html, html } from '../html.ts'
import { jobLine } from '../jobLine.ts'
import { choiceIn, type PageRequest, paginate, view } from '../page.ts'
import { geoNames, indicatorNames, indicatorUnits, inLanguage } from '../queries/names.ts'
import { allSeries, findSeries, readStoredSeries, seriesHeads } from '../queries/seriesPaths.ts'

/** Indicators and results that one page shows. */
const INDICATORS_A_PAGE = 40
const RESULTS = 40
/** Matching texts, in any language, whose details are read: a common word is in most texts. */
const MAX_FOUND = 1000
/** Stored series that are listed. */
const SERIES_FOUND = 10
/** Characters of a text that are shown around the first match. */
const SNIPPET_CHARACTERS = 90

const STORED_CHOICES = ['all', 'held', 'other'] as const

/** Finds indicators by their texts, then those with stored series that only a unit or geo of the text finds. */
async function findIndicators(request: PageRequest, text: string): Promise<{ kind: string; id: number }[]> {
  const found = await searchItems(request.store, request.service, text, ['catalogue'])
  const series = await findSeries(request, await allSeries(request), text)
  const both = [...found, ...series.map(({ row }) => ({ kind: row.kind, id: row.indicator_id }))]
  return [...new Map(both.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }])).values()]
}

/** Reads one page of the catalogue, by number or by rank: indicators with their texts and stored series. */
async function readIndicators(request: PageRequest) {
  const { store: db, languages, query, locale } = request
  const text = (query.get('q') ?? '').slice(0, 200)
  const choice = choiceIn(query, 'held', STORED_CHOICES) ?? 'all'
  const stored = await readStoredRanges(db)
  const matching = /[\p{L}\p{N}]/u.test(text)
    ? await findIndicators(request, text)
    : await db.kysely.selectFrom('indicator').select(['kind', 'id']).orderBy('kind').orderBy('id').execute()
  const keys = matching.filter(
    ({ kind, id }) => choice === 'all' || stored.has(`${kind} ${id}`) === (choice === 'held'),
  )
  const { page, pages, shown } = paginate(request, keys, INDICATORS_A_PAGE)
  const kinds = shown.map(({ kind }) => kind)
  const ids = shown.map(({ id }) => id)
  const rows = await db.kysely
    .selectFrom('indicator as i')
    .leftJoin('indicator_text as t', (on) => on.onRef('t.kind', '=', 'i.kind').onRef('t.id', '=', 'i.id'))
    .select(['i.kind', 'i.id', 'i.withdrawn_at', 't.name', 't.short_name'])
    .select(({ fn, val }) => fn.coalesce('t.locale', val('')).as('locale'))
    .where('i.kind', 'in', kinds)
    .where('i.id', 'in', ids)
    .orderBy('t.locale')
    .execute()
  const series = await readStoredSeries(db, shown)
  const units = await indicatorUnits({ store: db }, ids)
  const indicators = shown.map(({ kind, id }) => {
    const key = `${kind} ${id}`
    const versions = rows.filter((row) => row.kind === kind && row.id === id)
    const { name = null, short_name = null, locale = null, withdrawn_at = null } = inLanguage(versions, languages) ?? {}
    const { geos = 0, first_day: first_date = null, last_day: last_date = null } = stored.get(key) ?? {}
    const unit = units.get(key) ?? null
    const links = series.get(key) ?? []
    const texts = { name, short_name, locale, withdrawn_at }
    return { ...texts, kind, id, unit, geos, first_date, last_date, series: links, job: jobLine(kind, id) }
  })
  return { text, held: choice, locale, indicators, page, pages }
}

/** `/indicators`: the catalogue. */
export const indicatorsView = view({
  read: readIndicators,
  show({ text, held: choice, page: at, pages, indicators: rows }, request) {
    const { words, link } = request
    const { indicators: labels, common } = words
    const choices = STORED_CHOICES.map((name) => [name, labels.stored[name]] as const)
    const none =
      text === '' && choice === 'all'
        ? html`<p>${labels.noneAtAll}</p>${command(request.command('discover --refresh'))}`
        : html`<p>${labels.none}</p>`
    return html`<p>${labels.about}</p>
<form action="${link('/indicators')}" class="question">
<label>${common.words} <input type="search" name="q" value="${text}" size="30"></label>
<label>${labels.which} <select name="held">${options(choices, choice)}</select></label>
<button>${common.show}</button></form>
${
  rows.length === 0
    ? none
    : table(common.pages.indicators, rows, [
        [
          common.name,
          ({ kind, id, name, locale, withdrawn_at }) => {
            const kindName = kindText(kind, request)
            const title = !!name && html`<a href="${link(`/texts/${kind}/${id}`)}">${serviceText(name, locale)}</a>`
            const withdrawn = withdrawn_at !== null && html` <span class="soft">${labels.withdrawn}</span>`
            return html`${id} ${title}${kindName !== null && html` (${kindName})`}${withdrawn}`
          },
        ],
        [common.unit, ({ unit }) => serviceText(unit)],
        [
          labels.what,
          ({ first_date, last_date, geos, series }) =>
            first_date === null || last_date === null
              ? labels.not
              : html`${labels.days(first_date, last_date, geos)}<br>${seriesLinks(request, series)}`,
        ],
        [labels.line, ({ first_date, job }) => first_date === null && command(job)],
      ])
}
${numberedPager(request, at, pages)}`
  },
})

/** Removes accents and capitals; the text keeps its length. */
const foldedLetters = (text: string): string =>
  text.replaceAll(/[\u00c0-\u024f]/g, (letter) => withoutAccents(letter).charAt(0)).toLowerCase()

/** The pieces of a text around the first word that begins with one of some words; `hit`: whether a piece is such a word. */
export function findExcerpt(text: string, words: readonly string[]) {
  const hits = [...foldedLetters(text).matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})`, 'gu'))]
  const [first] = hits
  if (!first) return []
  const from = Math.max(0, first.index - SNIPPET_CHARACTERS)
  const to = Math.min(text.length, first.index + first[0].length + SNIPPET_CHARACTERS)
  const pieces = [{ text: from > 0 ? '…' : '', hit: false }]
  let at = from
  for (const { index, 0: word } of hits) {
    const end = index + word.length
    if (end > to) break
    pieces.push({ text: text.slice(at, index), hit: false }, { text: text.slice(index, end), hit: true })
    at = end
  }
  pieces.push({ text: text.slice(at, to) + (to < text.length ? '…' : ''), hit: false })
  return pieces.filter((piece) => piece.text !== '')
}

/** Pages that the search finds by name. */
const PAGES = {
  home: '/',
  coverage: '/coverage',
  indicators: '/indicators',
  runs: '/runs',
  quarantine: '/quarantine',
  texts: '/texts',
  archives: '/archives',
  widgets: '/widgets',
  sql: '/sql',
  dictionary: '/dictionary',
} as const

const SCOPE_CHOICES = ['all', ...SEARCH_SCOPES] as const

/** Reads the matches of words, best first, with an excerpt and the stored series. */
async function readSearch(request: PageRequest) {
  const {
    store: db,
    service,
    query,
    words: { common },
  } = request
  const text = (query.get('q') ?? '').slice(0, 200)
  const place = choiceIn(query, 'in', SCOPE_CHOICES) ?? 'all'
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => foldedLetters(word.normalize('NFC')))
  const none = { text, place, total: 0, more: false, results: [], stored: [], pages: [] }
  if (words.length === 0) return none
  const pages = (Object.keys(PAGES) as (keyof typeof PAGES)[]).filter((page) => {
    const names = foldedLetters(common.pages[page]).split(' ')
    return place === 'all' && words.every((word) => names.some((name) => name.startsWith(word)))
  })
  const hits = await searchItems(db, service, text, place === 'all' ? SEARCH_SCOPES : [place], MAX_FOUND)
  const shown = hits.slice(0, RESULTS)
  const kinds = [...new Set(shown.map(({ kind }) => kind))]
  const ids = shown.map(({ id }) => id)
  const texts = await db.kysely
    .selectFrom('texts')
    .select(['kind', 'item_id', 'locale', 'text'])
    .where('item_id', 'in', ids)
    .where('kind', 'in', kinds)
    .execute()
  const series = await readStoredSeries(db, shown)
  const numbers = ids.map(Number).filter(Number.isSafeInteger)
  const names = await indicatorNames(request, numbers)
  const titles = await db.kysely
    .selectFrom('content_text')
    .select(['kind', 'id', 'locale', 'title as name'])
    .where('kind', 'in', kinds)
    .where('id', 'in', numbers)
    .execute()
  const archives = await readKinds(db, 'archive')
  const results = shown.map((hit) => {
    const versions = texts.filter(({ kind, item_id }) => kind === hit.kind && item_id === hit.id)
    const ordered = versions.toSorted((a, b) => Number(b.locale === hit.locale) - Number(a.locale === hit.locale))
    const excerpts = ordered.map(({ text: whole }) => findExcerpt(whole ?? '', words))
    const ofItem = titles.filter(({ kind, id }) => kind === hit.kind && id === Number(hit.id))
    const name = names.get(`${hit.kind} ${hit.id}`)
    return {
      ...hit,
      // In the language of the page, whatever matched.
      ...(name === undefined ? inLanguage(ofItem, request.languages) : { name, locale: request.locale }),
      archive: archives.includes(hit.kind),
      excerpt: excerpts.find((pieces) => pieces.length > 0) ?? [],
      series: series.get(`${hit.kind} ${hit.id}`) ?? [],
    }
  })
  // An item may match in every language of the service.
  const more = hits.length * service.locales.length >= MAX_FOUND
  const stored = place === 'all' || place === 'catalogue' ? await readMatchingSeries(request, text) : []
  return { ...none, total: hits.length, more, results, stored, pages }
}

/** Reads the stored series that match a text, with the geo that it names. */
async function readMatchingSeries(request: PageRequest, text: string) {
  const found = (await findSeries(request, await allSeries(request), text)).slice(0, SERIES_FOUND)
  const rows = found.map(({ row }) => row)
  const geoIds = found.flatMap(({ geo }) => geo ?? [])
  const head = await seriesHeads(request, rows)
  const geos = await geoNames(request, geoIds)
  return found.map(({ row, geo }) => ({ ...head(row), geo, geoName: geo === null ? null : (geos.get(geo) ?? null) }))
}

type Results = Awaited<ReturnType<typeof readSearch>>

function item(result: Results['results'][number], request: PageRequest): Html {
  const { words, link } = request
  const { kind, id, locale } = result
  const address = link(`/${result.archive ? 'archives' : 'texts'}/${kind}/${id}`)
  const title = html`<a href="${address}">${serviceText(result.name, locale) ?? id}</a>`
  const excerpt = result.excerpt.map(({ text, hit }) =>
    hit ? html`<mark>${text}</mark>` : visible(text.replaceAll(/\s+/g, ' ')),
  )
  return html`<li><p>${title} <span class="soft">${words.texts.kinds[kind] ?? kind} ${id}</span></p>
${result.more && html`<p>${serviceText(result.more, locale)}</p>`}
${excerpt.length > 0 && html`<p lang="${locale}"><bdi>${excerpt}</bdi></p>`}
${result.series.length > 0 && html`<p>${words.common.viewValues}: ${seriesLinks(request, result.series)}</p>`}</li>\n`
}

/** A stored series that was found, with its geo and grouping. */
function storedItem(series: Results['stored'][number], request: PageRequest): Html {
  const { path, geo, geoName, indicatorId, name, timeTrunc, geoAgg } = series
  const address = request.link(`/series/${path}`, { geo: geo ?? undefined })
  const title = html`<a href="${address}">${indicatorId} ${serviceText(name)}</a>`
  const detail = html`<span class="soft"><bdi>${geoName}</bdi> ${groupingText(request, timeTrunc, geoAgg)}</span>`
  return html`<li>${title} ${detail}</li>\n`
}

/** `/search?q=`: matches in the catalogue, texts, archives and names of pages. */
export const searchView = view({
  read: readSearch,
  show({ text, place, total, results, stored, more, pages }, request) {
    const { words, link } = request
    const { search: labels, common } = words
    const choices = SCOPE_CHOICES.map((scope) => [scope, labels.places[scope]] as const)
    const first = more ? labels.firstOfMore : labels.first
    const counted = results.length < total ? first(results.length, total) : labels.found(total)
    const pageLinks = pages.map((name) => html`<a href="${link(PAGES[name])}">${common.pages[name]}</a> `)
    const list = html`<ol class="found">\n${results.map((result) => item(result, request))}</ol>`
    return html`<p>${labels.about}</p>
<form role="search" action="${link('/search')}" class="question">
<label>${common.words} <input type="search" name="q" value="${text}" size="40"></label>
<label>${labels.where} <select name="in">${options(choices, place)}</select></label>
<button>${labels.find}</button></form>
${text !== '' && total + pages.length + stored.length === 0 && html`<p role="status">${labels.none(text)}</p>`}
${pages.length > 0 && html`<p>${common.navigation}: ${pageLinks}</p>`}
${stored.length > 0 && html`<h2>${words.home.seriesHeading}</h2><ul>\n${stored.map((series) => storedItem(series, request))}</ul>`}
${results.length > 0 && html`<h2>${labels.elsewhere}</h2><p role="status">${counted}</p>${list}`}`
  },
})
