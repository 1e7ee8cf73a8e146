import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { type JsonObject, toPayload } from '../util/json.ts'
import { readItems, toListing } from './items.ts'
import { textColumns } from './plain.ts'

const KNOWN = ['name', 'short_name', 'description', 'id']

/** Transforms a reply of `/indicators`. Throws SchemaError if the whole catalogue is empty: the service always has indicators. */
export function transformCatalogue(body: JsonObject, planned: PlannedRequest): Rows {
  const { root } = declaredRoute(planned)
  const listed = readItems(body, root, ['id'])
  const { items, rejects, isWhole } = listed
  if (items.length === 0 && planned.isUnfiltered)
    throw new SchemaError('The catalogue of the service has no indicators.', {
      path: `$.${root}`,
      code: 'empty-catalogue',
      hint: 'The stored catalogue stays, and the next run requests it again. If it stays empty, check the base URL with `indicator-sync doctor --online`.',
    })
  const kind = ENTRY_ROUTES.series
  const rows = items.map(({ id, item }): RowValues => ({ kind, id, ...toPayload(item, KNOWN) }))
  const texts = items.map(({ id, part }): RowValues => ({ kind, id, locale: planned.locale, ...textColumns(part) }))
  const [term, ...more] = (planned.params.taxonomy_terms ?? []) as readonly string[]
  return {
    ...NO_ROWS,
    // A listing filtered by one term shows its indicators; with several terms they are unknown.
    owned:
      isWhole && term !== undefined && more.length === 0
        ? [
            {
              table: 'indicator_term',
              owner: ['term'],
              owners: [{ term }],
              rows: items.map(({ id }) => ({ term, kind, id })),
            },
          ]
        : [],
    tables: [
      { table: 'indicator', rows, locale: planned.locale },
      { table: 'indicator_text', rows: texts },
    ],
    listing: toListing(listed, planned, 'indicator', kind),
    ...rejects.done(),
    isEmpty: items.length === 0,
  }
}
