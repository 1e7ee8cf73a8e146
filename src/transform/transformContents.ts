import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { itemKind } from '../service/routes.ts'
import { isObject, type JsonObject, toInteger, toPayload } from '../util/json.ts'
import { AS, type FieldReader, fieldsAs } from './fields.ts'
import { type Item, readItems, TAXONOMY_LISTS, toListing } from './items.ts'
import { withPlain } from './plain.ts'
import { type CheckedPart, checkPart, type Rejects } from './rejects.ts'
import { taxonomyRows } from './taxonomy.ts'

const ITEM_FIELDS = {
  ...fieldsAs(AS.text, 'published_status', 'published_at', 'updated_at', 'expires_at', 'created_at'),
  ...fieldsAs(AS.flag, 'sticky'),
}
const TEXT_FIELDS = fieldsAs(AS.text, 'title', 'slug', 'permalink', 'summary', 'body')
const KNOWN_FIELDS = [
  ...Object.keys({ ...ITEM_FIELDS, ...TEXT_FIELDS }),
  'id',
  'media',
  'taxonomy_terms',
  'vocabularies',
]
const KNOWN_MEDIA_FIELDS = [
  'id',
  'title',
  'media_type',
  'document_value_file_name',
  'document_value_content_type',
  'document_value_file_size',
  'download',
]

/** A size, as a number or its digits. */
const SIZE: FieldReader = {
  type: AS.integer.type,
  read: (value) => AS.integer.read(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
}

/** The file of a medium. Documents and photos have different fields; those of a document take precedence. */
function mediumFile(medium: CheckedPart): RowValues {
  const read = (prefix: string): RowValues =>
    medium.columns({
      file_name: [`${prefix}_value_file_name`, AS.text],
      content_type: [`${prefix}_value_content_type`, AS.text],
      file_size: [`${prefix}_value_file_size`, SIZE],
    })
  const photo = read('photo')
  const filled = Object.entries(read('document')).filter(([column, value]) => value !== null || !(column in photo))
  return { ...photo, ...Object.fromEntries(filled) }
}

const itemRow = (kind: string, { id, part }: Item): RowValues => ({
  kind,
  id,
  ...part.columns(ITEM_FIELDS),
})

const textRow = (kind: string, locale: string, { id, item, part }: Item): RowValues => ({
  kind,
  id,
  locale,
  ...withPlain(part.columns(TEXT_FIELDS), 'body'),
  ...toPayload(item, KNOWN_FIELDS),
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
      ...sent.columns({ ...fieldsAs(AS.text, 'title', 'media_type'), url: ['download', AS.text] }),
      ...mediumFile(sent),
      ...toPayload(medium, KNOWN_MEDIA_FIELDS),
    }
  })

/** Transforms a reply of a content route. */
export function transformContents(body: JsonObject, planned: PlannedRequest): Rows {
  const listed = readItems(body, declaredRoute(planned).root, ['id'], { lists: { ...TAXONOMY_LISTS, media: 'id' } })
  const { items, rejects } = listed
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
    listing: toListing(listed, planned, 'content', kind),
    ...rejects.done(),
    isEmpty: items.length === 0,
  }
}
