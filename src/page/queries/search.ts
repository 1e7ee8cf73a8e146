import { storedKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { SEARCH_SCOPES, type SearchScope, searchItems } from '../../reports/search.ts'
import type { PageRequest } from '../page.ts'
import { seriesPath } from './seriesPaths.ts'

/** Results that one page shows. */
const RESULTS = 40
/** Matching texts, in any language, of which the details are read: a common word is in most texts. */
const MOST_FOUND = 1000
/** How many letters of a text are shown around the first match. */
const SNIPPET_LETTERS = 90

/** A piece of a text; `hit`: whether it matches. */
export interface Excerpt {
  readonly text: string
  readonly hit: boolean
}

/** A text without accents and capitals, with as many letters as before. */
const foldedLetters = (text: string): string =>
  [...text]
    .map((letter) => {
      const plain = letter.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
      return plain.length === letter.length ? plain : letter.toLowerCase().slice(0, letter.length).padEnd(letter.length)
    })
    .join('')

/** The part of a text around the first of some beginnings of words; empty when none occurs. */
export function excerptOf(text: string, words: readonly string[]): Excerpt[] {
  const plain = foldedLetters(text)
  const hits: { from: number; to: number }[] = []
  for (const [{ length }, from] of [...plain.matchAll(/[\p{L}\p{N}]+/gu)].map(
    (match) => [match[0], match.index] as const,
  )) {
    const word = words.find((one) => plain.startsWith(one, from) && one.length <= length)
    if (word !== undefined) hits.push({ from, to: from + word.length })
  }
  const [first] = hits
  if (!first) return []
  const from = Math.max(0, first.from - SNIPPET_LETTERS)
  const to = Math.min(text.length, first.to + SNIPPET_LETTERS)
  const pieces: Excerpt[] = []
  let at = from
  for (const hit of hits.filter((one) => one.to <= to)) {
    pieces.push({ text: text.slice(at, hit.from), hit: false }, { text: text.slice(hit.from, hit.to), hit: true })
    at = hit.to
  }
  pieces.push({ text: text.slice(at, to), hit: false })
  return [
    ...(from > 0 ? [{ text: '…', hit: false }] : []),
    ...pieces.filter((piece) => piece.text !== ''),
    ...(to < text.length ? [{ text: '…', hit: false }] : []),
  ]
}

/** The matches of some words, the best first, each with the place in its text and its held series. */
export async function readSearch(
  { store: db, service }: Pick<PageRequest, 'store' | 'service'>,
  text: string,
  place: SearchScope | 'all',
) {
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => foldedLetters(word.normalize('NFC')))
  if (words.length === 0) return { text, place, total: 0, more: false, results: [] }
  const found = await searchItems(db, text, place === 'all' ? SEARCH_SCOPES : [place], MOST_FOUND)
  const shown = found.slice(0, RESULTS)
  const texts = await db.kysely
    .selectFrom('texts')
    .select(['kind', 'item_id', 'locale', 'text'])
    .where('item_id', 'in', [...new Set(shown.map(({ id }) => id))])
    .where('kind', 'in', [...new Set(shown.map(({ kind }) => kind))])
    .execute()
  const series = await heldSeriesOf(db, shown)
  const archives = await storedKinds(db, 'archive')
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
  return { text, place, total: found.length, more: found.length * service.locales.length >= MOST_FOUND, results }
}

/** The held series of some indicators, by kind and number of the indicator, each with its name in addresses. */
export async function heldSeriesOf({ kysely }: Reader, of: readonly { kind: string; id: number }[]) {
  const rows = await kysely
    .selectFrom('series as s')
    .select(['s.id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .where('s.kind', 'in', [...new Set(of.map(({ kind }) => kind))])
    .where('s.indicator_id', 'in', [...new Set(of.map(({ id }) => id))])
    .orderBy((by) => by.case().when('s.time_trunc', 'is', null).then(0).else(1).end())
    .orderBy((by) => by.case().when('s.geo_agg', 'is', null).then(0).else(1).end())
    .orderBy('s.id')
    .execute()
  const groups = Map.groupBy(rows, ({ kind, indicator_id }) => `${kind} ${indicator_id}`)
  return new Map(
    [...groups].map(([key, series]) => [
      key,
      series.map((one, i) => ({
        time_trunc: one.time_trunc,
        geo_agg: one.geo_agg,
        path: seriesPath({ ...one, first_id: one.kind === ENTRY_ROUTES.series && i === 0 ? one.id : null }),
      })),
    ]),
  )
}
