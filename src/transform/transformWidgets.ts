import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { canonical, isObject, type JsonObject, toInteger, toText } from '../util/json.ts'
import { AS } from './fields.ts'
import { type Items, readItems, toListing } from './items.ts'
import { checkPart, collectRejects } from './rejects.ts'

/**
 * Reads a single widget, with or without the root key. Its id is in the reply, or the requested one. Throws SchemaError if it is
 * another widget, by id or name.
 */
function singleWidget(body: JsonObject, planned: PlannedRequest): Items {
  const { root } = declaredRoute(planned)
  const widget = body[root]
  const item = isObject(widget) ? widget : body
  const requested = String(planned.params.id)
  const names = [item.id_widget, item.id].filter((name) => name !== undefined && name !== null).map(String)
  const isNumber = (name: string): boolean => /^\d+$/.test(name)
  // A reply with only a name may have any id, and vice versa.
  const sameForm = names.filter((name) => isNumber(name) === isNumber(requested))
  if (sameForm.length > 0 && !names.includes(requested))
    throw new SchemaError(`Requested widget ${requested}, but the response contains widget ${sameForm[0]}.`, {
      path: `$.${root}.id`,
    })
  const id =
    toInteger(item.id_widget) ?? toInteger(item.id) ?? (isNumber(requested) ? toInteger(Number(requested)) : null)
  if (id === null) throw new SchemaError('The widget has no id.', { path: `$.${root}.id_widget` })
  const rejects = collectRejects()
  const part = checkPart(item, item === body ? '$' : `$.${root}`, rejects)
  return { items: [{ id, item, part }], rejects, isWhole: false }
}

/** Transforms a reply of `/widgets` or `/widgets/{id}`. The payload of its version has all fields. */
export function transformWidgets(body: JsonObject, planned: PlannedRequest): Rows {
  const { root, version, slots } = declaredRoute(planned)
  const isListing = Object.keys(slots).length === 0
  const listed = isListing ? readItems(body, root, ['id_widget', 'id']) : singleWidget(body, planned)
  const { items, rejects } = listed
  const payload = `payload_v${version}`
  const { locale } = planned
  const rows = items.map(({ id, item, part }): RowValues => {
    const slug = toText(item.id)
    // If it is the number, there is no other name.
    if (slug === null && item.id !== id && (item.id ?? '') !== '') part.misread('id', AS.text.type)
    if (item.id_widget !== id && (item.id_widget ?? null) !== null) part.misread('id_widget', AS.integer.type)
    return { id, ...(slug === null ? {} : { slug }), ...part.columns({ type: ['type', AS.text] }) }
  })
  const texts = items.map(({ id, item, part }): RowValues => {
    const columns = part.columns({ name: ['name', AS.name], subtitle: ['subtitle', AS.text] })
    return { id, locale, ...columns, [payload]: canonical(item) }
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'widget', rows, locale },
      { table: 'widget_text', rows: texts },
    ],
    listing: isListing ? toListing(listed, planned, 'widget', null) : null,
    ...rejects.done(),
    isEmpty: items.length === 0,
  }
}
