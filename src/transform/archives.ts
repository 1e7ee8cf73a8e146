import { AS, canonical, columnsOf, isObject, type JsonObject, listOf, payloadOf, textOf } from '../base/json.ts'
import { localDate } from '../base/time/zone.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { FILED_LISTS, readItems } from './items.ts'
import { taxonomyRows } from './taxonomy.ts'

const KNOWN = [
  ...['id', 'name', 'description', 'horizon', 'archive_type', 'download', 'json_download', 'date', 'date_times'],
  ...['publication_date', 'taxonomy_terms', 'vocabularies'],
]

/** The day of an entry: its own where it has one, else the first requested day. */
function dayOf(item: JsonObject, planned: PlannedRequest): string {
  const own = isObject(item.date) ? textOf(item.date.date) : textOf(item.date)
  if (own !== null && /^\d{4}-\d{2}-\d{2}/.test(own)) return own.slice(0, 10)
  return planned.window ? localDate(planned.timeZone, planned.window.from) : ''
}

/** The rows of an answer of `/archives` or `/archives_json`: archives, their texts, and one edition for each entry. */
export function transformArchives(body: JsonObject, planned: PlannedRequest): Rows {
  const { items, rejects, rejected } = readItems(body, declaredRoute(planned).root, ['id'], {
    once: false,
    lists: FILED_LISTS,
  })
  const kind = planned.route === 'archives' ? 'archive' : 'archive_json'
  const { locale } = planned
  const editions = items.map(({ id, item }): RowValues => {
    const sent = [item.download, item.json_download].find(isObject)
    return {
      kind,
      id,
      date: dayOf(item, planned),
      date_times: canonical(listOf(item.date_times)),
      publication_dates: canonical(listOf(item.publication_date)),
      ...columnsOf(sent ?? {}, { url: ['url', AS.text] }),
      ...payloadOf({ date: item.date, download: sent }, []),
    }
  })
  const filed = items.map(({ id, item }) => ({
    owner: { kind, id },
    terms: item.taxonomy_terms,
    vocabularies: item.vocabularies,
  }))
  const { tables, owned } = taxonomyRows(filed, locale, { term: 'archive_term', vocabulary: 'archive_vocabulary' })
  return {
    ...NO_ROWS,
    tables: [
      {
        table: 'archive',
        rows: items.map(({ id, item }) => ({
          kind,
          id,
          ...columnsOf(item, { horizon: ['horizon', AS.text], archive_type: ['archive_type', AS.text] }),
          ...payloadOf(item, KNOWN),
        })),
        locale,
      },
      {
        table: 'archive_text',
        rows: items.map(({ id, item }) => ({
          kind,
          id,
          locale,
          ...columnsOf(item, { name: ['name', AS.name], description: ['description', AS.text] }),
        })),
      },
      // The key of an edition is its dates. Its address depends on the language.
      { table: 'archive_edition', rows: editions, locale },
      ...tables,
    ],
    owned,
    rejects,
    rejected,
    empty: items.length === 0,
  }
}
