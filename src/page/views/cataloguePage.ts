import { readKinds } from '../../db/queries/catalogueNames.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { readStoredRanges, SEARCH_SCOPES, searchItems } from '../../reports/searchItems.ts'
import { visible, withoutAccents } from '../../util/text.ts'
import { command, kindText, numberedPager, options, seriesLinks, serviceText, table } from '../elements.ts'
import { type Html, html } from '../html.ts'
import { type PageRequest, view, wholeNumber } from '../page.ts'
import { indicatorUnits, inLanguage } from '../queries/names.ts'
import { heldSeriesOf } from '../queries/seriesPaths.ts'

/** Indicators and results that one page shows. */
const [INDICATORS_A_PAGE, RESULTS] = [40, 40]
/** Matching texts, in any language, of which the details are read: a common word is in most texts. */
const MOST_FOUND = 1000
/** How many letters of a text are shown around the first match. */
const SNIPPET_LETTERS = 90

const HELD_CHOICES = ['all', 'held', 'other'] as const

/** The line of a job that fetches an indicator from now on. */
function jobLine(kind: string, id: number): string {
  const isOffer = kind === ENTRY_ROUTES.offers
  const route = isOffer || kind === ENTRY_ROUTES.series ? '' : `route: ${kind}, `
  return `${isOffer ? 'offers' : 'series'}: [{ ${route}indicators: [${id}], window: { last: 30d } }]`
}

/** One page of the catalogue, by number or as the search ranks it: each indicator with its texts in a language, and what is held of it. */
async function readIndicators({ store: db, languages, query, locale }: PageRequest) {
  const text = (query.get('q') ?? '').slice(0, 200)
  const held = HELD_CHOICES.find((one) => one === query.get('held')) ?? 'all'
  const page = Math.max(1, wholeNumber(query.get('page')) ?? 1)
  const stored = await readStoredRanges(db)
  const found = /[\p{L}\p{N}]/u.test(text)
    ? await searchItems(db, text, ['catalogue'])
    : await db.kysely.selectFrom('indicator').select(['kind', 'id']).orderBy('kind').orderBy('id').execute()
  const keys = found.filter(({ kind, id }) => held === 'all' || stored.has(`${kind} ${id}`) === (held === 'held'))
  const shown = keys.slice((page - 1) * INDICATORS_A_PAGE, page * INDICATORS_A_PAGE)
  const kinds = [...new Set(shown.map(({ kind }) => kind))]
  const ids = [...new Set(shown.map(({ id }) => id))]
  const rows = await db.kysely
    .selectFrom('indicator as i')
    .leftJoin('indicator_text as t', (on) => on.onRef('t.kind', '=', 'i.kind').onRef('t.id', '=', 'i.id'))
    .select(['i.kind', 'i.id', 'i.withdrawn_at', 't.name', 't.short_name'])
    .select(({ fn, val }) => fn.coalesce('t.locale', val('')).as('locale'))
    .where('i.kind', 'in', kinds)
    .where('i.id', 'in', ids)
    .orderBy('t.locale')
    .execute()
  const series = await heldSeriesOf(db, shown)
  const units = await indicatorUnits({ store: db }, ids)
  const none = { name: null, short_name: null, locale: null, withdrawn_at: null }
  const indicators = shown.map(({ kind, id }) => {
    const { geos = 0, first_day: first_date = null, last_day: last_date = null } = stored.get(`${kind} ${id}`) ?? {}
    return {
      ...none,
      ...inLanguage(
        rows.filter((row) => row.kind === kind && row.id === id),
        languages,
      ),
      kind,
      id,
      unit: units.get(`${kind} ${id}`) ?? null,
      series: series.get(`${kind} ${id}`) ?? [],
      geos,
      first_date,
      last_date,
      job: jobLine(kind, id),
    }
  })
  return { text, held, page, locale, indicators, more: keys.length > page * INDICATORS_A_PAGE }
}

/** `/indicators`: the catalogue, held or not. */
export const indicatorsView = view({
  read: readIndicators,
  show({ text, held, page: at, indicators: rows, more }, request) {
    const { words, link } = request
    const { indicators: own, common } = words
    const choices = HELD_CHOICES.map((one) => [one, own.held[one]] as const)
    const none =
      text === '' && held === 'all'
        ? html`<p>${own.noneAtAll}</p>${command(request.command('discover --refresh'))}`
        : html`<p>${own.none}</p>`
    return html`<p>${own.about}</p>
<form action="${link('/indicators')}" class="question">
<label>${common.words} <input type="search" name="q" value="${text}" size="30"></label>
<label>${own.which} <select name="held">${options(choices, held)}</select></label>
<button>${common.show}</button></form>
${
  rows.length === 0
    ? none
    : table(common.pages.indicators, rows, [
        [
          common.name,
          ({ kind, id, name, locale, withdrawn_at }) => {
            const kindName = kindText(kind, request)
            return html`${id} ${!!name && html`<a href="${link(`/texts/${kind}/${id}`)}">${serviceText(name, locale)}</a>`}${kindName !== null && html` (${kindName})`}${withdrawn_at !== null && html` <span class="soft">${own.withdrawn}</span>`}`
          },
        ],
        [common.unit, ({ unit }) => serviceText(unit)],
        [
          own.what,
          ({ first_date, last_date, geos, series }) =>
            first_date === null || last_date === null
              ? own.not
              : html`${own.days(first_date, last_date, geos)}<br>${seriesLinks(request, series)}`,
        ],
        [own.line, ({ first_date, job }) => first_date === null && command(job)],
      ])
}
${numberedPager(request, at, more)}`
  },
})

/** A piece of a text; `hit`: whether it matches. */
interface Excerpt {
  readonly text: string
  readonly hit: boolean
}

/** A text without accents and capitals, with as many letters as before. */
const foldedLetters = (text: string): string =>
  text.replaceAll(/[\u00c0-\u024f]/g, (letter) => withoutAccents(letter).charAt(0)).toLowerCase()

/** The part of a text around the first of some beginnings of words; empty when none occurs. */
export function excerptOf(text: string, words: readonly string[]): Excerpt[] {
  const hits = [...foldedLetters(text).matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})`, 'gu'))]
  const [first] = hits
  if (!first) return []
  const from = Math.max(0, first.index - SNIPPET_LETTERS)
  const to = Math.min(text.length, first.index + first[0].length + SNIPPET_LETTERS)
  const pieces: Excerpt[] = [{ text: from > 0 ? '…' : '', hit: false }]
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

/** Pages that the search finds by their names. */
const PAGES = {
  ...{ home: '/', coverage: '/coverage', indicators: '/indicators', runs: '/runs', quarantine: '/quarantine' },
  ...{ texts: '/texts', archives: '/archives', widgets: '/widgets', sql: '/sql', dictionary: '/dictionary' },
} as const

const SCOPE_CHOICES = ['all', ...SEARCH_SCOPES] as const

/** The matches of some words, the best first, each with the place in its text and its held series. */
async function readSearch({ store: db, service, query, words: { common } }: PageRequest) {
  const text = (query.get('q') ?? '').slice(0, 200)
  const place = SCOPE_CHOICES.find((one) => one === query.get('in')) ?? 'all'
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => foldedLetters(word.normalize('NFC')))
  const none = { text, place, total: 0, more: false, results: [], pages: [] }
  if (words.length === 0) return none
  const pages = (Object.keys(PAGES) as (keyof typeof PAGES)[]).filter((name) => {
    const names = foldedLetters(common.pages[name]).split(' ')
    return place === 'all' && words.every((word) => names.some((one) => one.startsWith(word)))
  })
  const found = await searchItems(db, text, place === 'all' ? SEARCH_SCOPES : [place], MOST_FOUND)
  const shown = found.slice(0, RESULTS)
  const texts = await db.kysely
    .selectFrom('texts')
    .select(['kind', 'item_id', 'locale', 'text'])
    .where('item_id', 'in', [...new Set(shown.map(({ id }) => id))])
    .where('kind', 'in', [...new Set(shown.map(({ kind }) => kind))])
    .execute()
  const series = await heldSeriesOf(db, shown)
  const archives = await readKinds(db, 'archive')
  const results = shown.map((one) => {
    const own = texts.filter(({ kind, item_id }) => kind === one.kind && item_id === one.id)
    const ordered = [...own].sort((a, b) => Number(b.locale === one.locale) - Number(a.locale === one.locale))
    const excerpts = ordered.map(({ text: whole }) => excerptOf(whole ?? '', words))
    return {
      ...one,
      archive: archives.includes(one.kind),
      excerpt: excerpts.find((pieces) => pieces.length > 0) ?? [],
      series: series.get(`${one.kind} ${one.id}`) ?? [],
    }
  })
  // The same item may match in every language of the service.
  const more = found.length * service.locales.length >= MOST_FOUND
  return { ...none, total: found.length, more, results, pages }
}

type Results = Awaited<ReturnType<typeof readSearch>>

function item(result: Results['results'][number], request: PageRequest): Html {
  const { words, link } = request
  const { kind, id, locale } = result
  return html`<li><p><a href="${link(`/${result.archive ? 'archives' : 'texts'}/${kind}/${id}`)}">${serviceText(result.name, locale) ?? id}</a> <span class="soft">${words.texts.kinds[kind] ?? kind} ${id}</span></p>
${result.more && html`<p>${serviceText(result.more, locale)}</p>`}
${result.excerpt.length > 0 && html`<p lang="${locale}"><bdi>${result.excerpt.map(({ text, hit }) => (hit ? html`<mark>${text}</mark>` : visible(text.replaceAll(/\s+/g, ' '))))}</bdi></p>`}
${result.series.length > 0 && html`<p>${words.common.viewValues}: ${seriesLinks(request, result.series)}</p>`}</li>\n`
}

/** `/search?q=`: where does something occur? */
export const searchView = view({
  read: readSearch,
  show({ text, place, total, results, more, pages }, request) {
    const { words, link } = request
    const { search: own, common } = words
    const choices = SCOPE_CHOICES.map((one) => [one, own.places[one]] as const)
    const first = more ? own.firstOfMore : own.first
    const found = results.length < total ? first(results.length, total) : own.found(total)
    return html`<p>${own.about}</p>
<form role="search" action="${link('/search')}" class="question">
<label>${common.words} <input type="search" name="q" value="${text}" size="40"></label>
<label>${own.where} <select name="in">${options(choices, place)}</select></label>
<button>${own.find}</button></form>
${text !== '' && html`<p role="status">${total + pages.length === 0 ? own.none(text) : found}</p>`}
${pages.length > 0 && html`<p>${common.navigation}: ${pages.map((name) => html`<a href="${link(PAGES[name])}">${common.pages[name]}</a> `)}</p>`}
${results.length > 0 && html`<ol class="found">\n${results.map((result) => item(result, request))}</ol>`}`
  },
})
