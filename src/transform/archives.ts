import { canonical, isObject, type JsonObject, listOf, restOf, textOf } from '../base/json.ts'
import { localDate } from '../base/zone.ts'
import type { Ask } from '../job/ask.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { readItems } from './items.ts'
import { taxonomyRows } from './taxonomy.ts'

const KNOWN = [
  ...['id', 'name', 'description', 'horizon', 'archive_type', 'download', 'json_download', 'date', 'date_times'],
  ...['publication_date', 'taxonomy_terms', 'vocabularies'],
]

/** The day for which an entry was listed: its own where it has one, else the first day that was asked for. */
function dayOf(item: JsonObject, ask: Ask): string {
  const own = isObject(item.date) ? textOf(item.date.date) : textOf(item.date)
  if (own !== null && /^\d{4}-\d{2}-\d{2}/.test(own)) return own.slice(0, 10)
  return ask.window ? localDate(ask.timeZone, ask.window.from) : ''
}

/** An answer of `/archives` or `/archives_json` as rows: the archive, its texts, and the edition that this entry is. */
export function transformArchives(body: JsonObject, ask: Ask): Rows {
  const { items, rejects } = readItems(body, 'archives', ['id'])
  const kind = ask.route === 'archives' ? 'archive' : 'archive_json'
  const { locale } = ask
  const editions = items.map(({ id, item }): RowValues => {
    const download = isObject(item.download) ? item.download : isObject(item.json_download) ? item.json_download : {}
    return {
      kind,
      id,
      date: dayOf(item, ask),
      date_times: canonical(listOf(item.date_times)),
      publication_dates: canonical(listOf(item.publication_date)),
      url: textOf(download.url),
      payload: canonical({ date: item.date, download }),
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
          horizon: textOf(item.horizon),
          archive_type: textOf(item.archive_type),
          payload: restOf(item, KNOWN),
        })),
      },
      {
        table: 'archive_text',
        rows: items.map(({ id, item }) => {
          const description = textOf(item.description)
          return { kind, id, locale, name: textOf(item.name), ...(description === null ? {} : { description }) }
        }),
      },
      // An edition is its dates, all of which are its key; the address carries the language, and the first one stays.
      { table: 'archive_edition', rows: editions, when: 'kept' },
      ...tables,
    ],
    owned,
    rejects,
    empty: items.length === 0,
  }
}
