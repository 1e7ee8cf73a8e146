import type { ContentRoute } from '../../service/routes.ts'
import { DAY, formatMillis, type Instant } from '../../util/time/instant.ts'
import { floorTo, formatLocal } from '../../util/time/zone.ts'
import { type ParsedQuery, passes, queryLocale, taxonomy } from '../parseQuery.ts'
import { GLOSSARY } from '../world/glossary.ts'
import { type Bilingual, DOCUMENTATIONS, encode, NEWS, STATIC_PAGES } from '../world/texts.ts'
import { EMULATED_ZONE, type World } from '../world/world.ts'
import { cacheDate } from './stamps.ts'

/** News number k is published k times this after the epoch, and leaves the listing twelve items later. */
const NEWS_EVERY_S = 9 * DAY
const NEWS_LASTS_S = 12 * NEWS_EVERY_S
const LAUNCH = Date.UTC(2014, 3, 1) / 1000

/** An item before it is written in one language. */
interface EmulatedItem {
  readonly id: number
  readonly type: string
  readonly title: Bilingual
  readonly body: Bilingual
  readonly published: Instant | null
  readonly created: Instant
  readonly updated: Instant
  readonly expires: Instant | null
  readonly sticky: boolean
  readonly terms: readonly number[]
  readonly vocabularies: readonly number[]
}

const paragraph = ({ es, en }: Bilingual): Bilingual => ({ es: encode(`<p>${es}</p>`), en: encode(`<p>${en}</p>`) })
/** The body of a glossary entry, with the term in bold. */
const glossaryBody = (word: Bilingual, { es, en }: Bilingual): Bilingual => ({
  es: `<strong>${word.es}</strong>:&nbsp;${es}`,
  en: `<strong>${word.en}</strong>:&nbsp;${en}`,
})
const datedItem = (id: number, type: string, title: Bilingual, body: Bilingual, i: number): EmulatedItem => ({
  id,
  type,
  title,
  body: paragraph(body),
  // An item that was never announced has no date of publication.
  published: i === 6 ? null : LAUNCH + i * 40 * DAY,
  created: LAUNCH + i * 40 * DAY,
  updated: LAUNCH + i * 40 * DAY + 12 * DAY,
  expires: null,
  sticky: i === 0,
  terms: [i % 2 === 0 ? 155 : 156],
  vocabularies: [20],
})

const pageAbout = ({ es, en }: Bilingual): Bilingual => ({
  es: `P&aacute;gina sobre &laquo;${es}&raquo;, con enlaces a los documentos del operador.`,
  en: `A page about &ldquo;${en}&rdquo;, with links to the documents of the operator.`,
})

/** The news that are listed at an instant. An item is corrected five days after its publication. */
function news(now: Instant): EmulatedItem[] {
  const items: EmulatedItem[] = []
  for (let k = Math.ceil((now - NEWS_LASTS_S) / NEWS_EVERY_S); k * NEWS_EVERY_S <= now; k++) {
    const { title, text } = NEWS[k % NEWS.length]!
    const published = floorTo(EMULATED_ZONE, k * NEWS_EVERY_S, 'day')
    const corrected = published + 5 * DAY
    const isCorrected = now >= corrected
    if (published > now || published + NEWS_LASTS_S <= now) continue
    items.push({
      id: 1000 + k,
      type: 'news',
      title: { es: `${title.es} (${k})`, en: `${title.en} (${k})` },
      body: {
        es: `<p>${text.es}</p>${isCorrected ? '\n\n<p>Texto corregido.</p>' : ''}`,
        en: `<p>${text.en}</p>${isCorrected ? '\n\n<p>Corrected text.</p>' : ''}`,
      },
      published,
      created: published,
      updated: isCorrected ? corrected : published,
      expires: published + NEWS_LASTS_S,
      sticky: k % 4 === 0,
      terms: k % 3 === 0 ? [156] : [],
      vocabularies: [5, 14, 20],
    })
  }
  return items.reverse()
}

const ITEMS: Readonly<Record<ContentRoute, (now: Instant) => readonly EmulatedItem[]>> = {
  documentations: () =>
    DOCUMENTATIONS.map((title, i) => datedItem(100 + i, 'documentation', title, pageAbout(title), i)),
  static_pages: () => STATIC_PAGES.map((title, i) => datedItem(200 + i, 'static_page', title, pageAbout(title), i)),
  glossaries: () =>
    GLOSSARY.map(({ title, text }, i) => datedItem(300 + i, 'glossary', title, glossaryBody(title, text), i)),
  news,
}

const toSlug = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

const stamp = (at: Instant): string => formatLocal(EMULATED_ZONE, at)

const medium = (item: EmulatedItem, locale: keyof Bilingual): object => ({
  title: item.title[locale],
  uri: '',
  id: item.id + 5000,
  created_at: formatMillis(item.created * 1000),
  updated_at: formatMillis(item.updated * 1000),
  media_type: 'Document',
  youtube_url: null,
  document_value_file_name: `${toSlug(item.title.es)}.zip`,
  document_value_content_type: 'application/x-zip-compressed',
  document_value_file_size: 521_899 + item.id,
  photo_value_file_name: null,
  photo_value_content_type: null,
  photo_value_file_size: '0',
  embed_path: '',
  download: `/documents/${item.id + 5000}/download?locale=${locale}`,
  photo_thumb: null,
  photo_medium: null,
  photo_original: null,
})

function writeItem(item: EmulatedItem, route: ContentRoute, locale: keyof Bilingual): object {
  const slug = toSlug(item.title[locale])
  return {
    title: item.title[locale],
    slug,
    metadata: '',
    body: item.body[locale],
    slug_inverse: locale === 'es' && item.id % 4 !== 0 ? { slug_en: toSlug(item.title.en) } : null,
    id: item.id,
    published_status: 'published',
    type: item.type,
    published_at: item.published === null ? null : stamp(item.published),
    updated_at: stamp(item.updated),
    expires_at: item.expires === null ? null : stamp(item.expires),
    created_at: stamp(item.created),
    summary: '',
    sticky: item.sticky,
    permalink: `/es/${route}/${slug}`,
    dummy: false,
    media: item.id % 3 === 0 ? [medium(item, locale)] : [],
    ...taxonomy(item.terms, item.vocabularies, locale),
  }
}

const ORDERS: Readonly<Record<string, (item: EmulatedItem) => number>> = {
  published: (item) => item.published ?? 0,
  created: (item) => item.created,
  updated: (item) => item.updated,
  expires: (item) => item.expires ?? 0,
}

/** The body of a content route. */
export function contentBody(route: ContentRoute, query: ParsedQuery, world: World): object {
  const locale = queryLocale(query)
  const by = ORDERS[String(query.order ?? 'published')]!
  const items = ITEMS[route](world.now)
    .filter((item) => passes(item.terms, item.vocabularies, query))
    .filter((item) => query.sticky === undefined || item.sticky === query.sticky)
    .sort((a, b) => by(b) - by(a))
  return {
    contents: items.map((item) => writeItem(item, route, locale)),
    meta: { ...(route === 'news' && { years: null }), size: items.length, cache_date: cacheDate(world.now) },
  }
}
