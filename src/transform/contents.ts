import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { itemKind } from '../service/routes.ts'
import { isObject, type JsonObject, toInteger, toPayload } from '../util/json.ts'
import { AS, type FieldReader } from './fields.ts'
import { FILED_LISTS, type Item, readItems } from './items.ts'
import { withPlain } from './plain.ts'
import { type CheckedPart, checkPart, type Rejects } from './rejects.ts'
import { taxonomyRows } from './taxonomy.ts'

const KNOWN = [
  ...['title', 'slug', 'body', 'id', 'published_status', 'published_at', 'updated_at', 'expires_at', 'created_at'],
  ...['summary', 'sticky', 'permalink', 'media', 'taxonomy_terms', 'vocabularies'],
]
const KNOWN_MEDIA = [
  ...['id', 'title', 'media_type', 'document_value_file_name', 'document_value_content_type'],
  ...['document_value_file_size', 'download'],
]

/** A size that may come as a number or as its digits. */
const SIZE: FieldReader = {
  type: AS.integer.type,
  read: (value) => AS.integer.read(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
}

/** The file of a medium. Documents and photos name it in fields of their own: what a document says counts first. */
function mediumFile(medium: CheckedPart): RowValues {
  const [photo, document] = ['photo', 'document'].map((of) =>
    medium.columns({
      file_name: [`${of}_value_file_name`, AS.text],
      content_type: [`${of}_value_content_type`, AS.text],
      file_size: [`${of}_value_file_size`, SIZE],
    }),
  )
  const filled = Object.entries(document!).filter(([column, value]) => value !== null || !(column in photo!))
  return { ...photo, ...Object.fromEntries(filled) }
}

const itemRow = (kind: string, { id, part }: Item): RowValues => ({
  kind,
  id,
  ...part.columns({
    published_status: ['published_status', AS.text],
    published_at: ['published_at', AS.text],
    updated_at: ['updated_at', AS.text],
    expires_at: ['expires_at', AS.text],
    created_at: ['created_at', AS.text],
    sticky: ['sticky', AS.flag],
  }),
})

const textRow = (kind: string, locale: string, { id, item, part }: Item): RowValues => ({
  kind,
  id,
  locale,
  ...withPlain(
    part.columns({
      title: ['title', AS.text],
      slug: ['slug', AS.text],
      permalink: ['permalink', AS.text],
      summary: ['summary', AS.text],
      body: ['body', AS.text],
    }),
    'body',
  ),
  ...toPayload(item, KNOWN),
})

const mediaRows = (kind: string, locale: string, { id, part }: Item, rejects: Rejects): RowValues[] =>
  part.list('media').flatMap((medium, i) => {
    const mediaId = isObject(medium) ? toInteger(medium.id) : null
    if (!isObject(medium) || mediaId === null) return []
    const sent = checkPart(medium, `${part.path}.media[${i}]`, rejects, 'id')
    return {
      kind,
      id,
      locale,
      media_id: mediaId,
      ...sent.columns({
        title: ['title', AS.text],
        media_type: ['media_type', AS.text],
        url: ['download', AS.text],
      }),
      ...mediumFile(sent),
      ...toPayload(medium, KNOWN_MEDIA),
    }
  })

/** An answer of a content route as rows. */
export function transformContents(body: JsonObject, planned: PlannedRequest): Rows {
  const { items, rejects, whole } = readItems(body, declaredRoute(planned).root, ['id'], {
    lists: { ...FILED_LISTS, media: 'id' },
  })
  const kind = itemKind(planned.service.routes, planned.route)
  const { locale } = planned
  const filed = items.map(({ id, part }) => ({ owner: { kind, id }, part }))
  const { tables, owned } = taxonomyRows(filed, locale, rejects, {
    term: 'content_term',
    vocabulary: 'content_vocabulary',
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'content', rows: items.map((item) => itemRow(kind, item)), locale },
      { table: 'content_text', rows: items.map((item) => textRow(kind, locale, item)) },
      ...tables,
    ],
    owned: [
      ...owned,
      {
        table: 'content_media',
        owner: ['kind', 'id', 'locale'],
        owners: items.filter(({ item }) => item.media !== undefined).map(({ id }) => ({ kind, id, locale })),
        rows: items.flatMap((item) => mediaRows(kind, locale, item, rejects)),
      },
    ],
    listing: {
      item: 'content',
      text: 'content_text',
      kind,
      locale,
      ids: items.map(({ id }) => id),
      complete: whole && planned.complete,
    },
    ...rejects.done(),
    empty: items.length === 0,
  }
}
