import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { itemKind } from '../service/routes.ts'
import { canonical, isObject, type JsonObject, toPayload, toText } from '../util/json.ts'
import { localDate } from '../util/time/zone.ts'
import { AS, fieldsAs } from './fields.ts'
import { type Item, readItems, TAXONOMY_LISTS } from './items.ts'
import { taxonomyRows } from './taxonomy.ts'

const KNOWN_FIELDS = [
  'id',
  'name',
  'description',
  'horizon',
  'archive_type',
  'download',
  'json_download',
  'date',
  'date_times',
  'publication_date',
  'taxonomy_terms',
  'vocabularies',
]

/** The day of an entry, or else the first requested day. */
function archiveDate({ item, part }: Item, planned: PlannedRequest): string {
  const sent = isObject(item.date) ? (item.date.date ?? null) : (item.date ?? null)
  const date = toText(sent)
  if (date !== null && /^\d{4}-\d{2}-\d{2}/.test(date)) return date.slice(0, 10)
  if (sent !== null && sent !== '') part.misread('date', 'a day')
  return planned.window ? localDate(planned.timeZone, planned.window.from) : ''
}

/** Transforms a reply of a route of archives into archives, texts and editions. */
export function transformArchives(body: JsonObject, planned: PlannedRequest): Rows {
  const { items, rejects } = readItems(body, declaredRoute(planned).root, ['id'], {
    hasUniqueIds: false,
    lists: TAXONOMY_LISTS,
  })
  const kind = itemKind(planned.service.routes, planned.route)
  const { locale } = planned
  const editions = items.map((entry): RowValues => {
    const { id, item, part } = entry
    const download = part.inner('download')
    const jsonDownload = part.inner('json_download')
    const sent = download ?? jsonDownload
    return {
      kind,
      id,
      date: archiveDate(entry, planned),
      date_times: canonical(part.list('date_times')),
      publication_dates: canonical(part.list('publication_date')),
      ...sent?.columns({ url: ['url', AS.text] }),
      ...toPayload({ date: item.date, download: sent?.object }, []),
    }
  })
  const filed = items.map(({ id, part }) => ({ owner: { kind, id }, part }))
  const { tables, owned } = taxonomyRows(filed, locale, rejects, {
    term: 'archive_term',
    vocabulary: 'archive_vocabulary',
  })
  return {
    ...NO_ROWS,
    tables: [
      {
        table: 'archive',
        rows: items.map(({ id, item, part }) => ({
          kind,
          id,
          ...part.columns(fieldsAs(AS.text, 'horizon', 'archive_type')),
          ...toPayload(item, KNOWN_FIELDS),
        })),
        locale,
      },
      {
        table: 'archive_text',
        rows: items.map(({ id, part }) => ({
          kind,
          id,
          locale,
          ...part.columns({ name: ['name', AS.name], description: ['description', AS.text] }),
        })),
      },
      // The URL of an edition depends on the language.
      { table: 'archive_edition', rows: editions, locale },
      ...tables,
    ],
    owned,
    ...rejects.done(),
    isEmpty: items.length === 0,
  }
}
