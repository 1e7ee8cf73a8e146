import type { ContentRoute } from '../api/routes.ts'
import { flagOf, integerOf, isObject, type JsonObject, listOf, restOf, textOf } from '../base/json.ts'
import type { Ask } from '../job/ask.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { readItems } from './items.ts'
import { plainText } from './plain.ts'
import { taxonomyRows } from './taxonomy.ts'

/** The kind of content that each route lists. */
const KIND: Readonly<Record<ContentRoute, string>> = {
  documentations: 'documentation',
  static_pages: 'static_page',
  glossaries: 'glossary',
  news: 'news',
}

const KNOWN = [
  ...['title', 'slug', 'body', 'id', 'published_status', 'published_at', 'updated_at', 'expires_at', 'created_at'],
  ...['summary', 'sticky', 'permalink', 'media', 'taxonomy_terms', 'vocabularies'],
]
const KNOWN_MEDIA = [
  ...['id', 'title', 'media_type', 'document_value_file_name', 'document_value_content_type'],
  ...['document_value_file_size', 'download'],
]

/** A size that may come as a number or as its digits. */
const sizeOf = (value: unknown): number | null =>
  integerOf(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)

const itemRow = (kind: string, id: number, item: JsonObject): RowValues => ({
  kind,
  id,
  published_status: textOf(item.published_status),
  published_at: textOf(item.published_at),
  updated_at: textOf(item.updated_at),
  expires_at: textOf(item.expires_at),
  created_at: textOf(item.created_at),
  sticky: flagOf(item.sticky),
})

const textRow = (kind: string, id: number, locale: string, item: JsonObject): RowValues => {
  const body = textOf(item.body)
  return {
    kind,
    id,
    locale,
    title: textOf(item.title),
    slug: textOf(item.slug),
    permalink: textOf(item.permalink),
    summary: textOf(item.summary),
    body,
    body_text: body === null ? null : plainText(body),
    payload: restOf(item, KNOWN),
  }
}

const mediaRows = (kind: string, id: number, locale: string, item: JsonObject): RowValues[] =>
  listOf(item.media)
    .filter(isObject)
    .flatMap((medium) => {
      const mediaId = integerOf(medium.id)
      if (mediaId === null) return []
      return {
        kind,
        id,
        locale,
        media_id: mediaId,
        title: textOf(medium.title),
        media_type: textOf(medium.media_type),
        file_name: textOf(medium.document_value_file_name) ?? textOf(medium.photo_value_file_name),
        content_type: textOf(medium.document_value_content_type) ?? textOf(medium.photo_value_content_type),
        file_size: sizeOf(medium.document_value_file_size) ?? sizeOf(medium.photo_value_file_size),
        url: textOf(medium.download),
        payload: restOf(medium, KNOWN_MEDIA),
      }
    })

/** An answer of one of the four content routes as rows. */
export function transformContents(body: JsonObject, ask: Ask): Rows {
  const { items, rejects, whole } = readItems(body, 'contents', ['id'])
  const kind = KIND[ask.route as ContentRoute]
  const { locale } = ask
  const filed = items.map(({ id, item }) => ({
    owner: { kind, id },
    terms: item.taxonomy_terms,
    vocabularies: item.vocabularies,
  }))
  const { tables, owned } = taxonomyRows(filed, locale, { term: 'content_term', vocabulary: 'content_vocabulary' })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'content', rows: items.map(({ id, item }) => itemRow(kind, id, item)) },
      { table: 'content_text', rows: items.map(({ id, item }) => textRow(kind, id, locale, item)) },
      ...tables,
    ],
    owned: [
      ...owned,
      {
        table: 'content_media',
        owner: ['kind', 'id', 'locale'],
        owners: items.map(({ id }) => ({ kind, id, locale })),
        rows: items.flatMap(({ id, item }) => mediaRows(kind, id, locale, item)),
      },
    ],
    listing: {
      item: 'content',
      text: 'content_text',
      kind,
      locale,
      ids: items.map(({ id }) => id),
      complete: whole && ask.complete,
    },
    rejects,
    empty: items.length === 0,
  }
}
