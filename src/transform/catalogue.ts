import { type JsonObject, restOf, textOf } from '../base/json.ts'
import type { Ask } from '../job/ask.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { readItems } from './items.ts'
import { plainText } from './plain.ts'

const KNOWN = ['name', 'short_name', 'description', 'id']

/** An answer of `/indicators` as rows. */
export function transformCatalogue(body: JsonObject, ask: Ask): Rows {
  const { items, rejects, whole } = readItems(body, 'indicators', ['id'])
  const kind = 'indicator'
  const rows = items.map(({ id, item }): RowValues => {
    const payload = restOf(item, KNOWN)
    return payload === null ? { kind, id } : { kind, id, payload }
  })
  const texts = items.map(({ id, item }): RowValues => {
    const description = textOf(item.description)
    return {
      kind,
      id,
      locale: ask.locale,
      name: textOf(item.name),
      short_name: textOf(item.short_name),
      description,
      description_text: description === null ? null : plainText(description),
    }
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'indicator', rows },
      { table: 'indicator_text', rows: texts },
    ],
    listing: {
      item: 'indicator',
      text: 'indicator_text',
      kind,
      locale: ask.locale,
      ids: items.map(({ id }) => id),
      complete: whole && ask.complete,
    },
    rejects,
    empty: items.length === 0,
  }
}
