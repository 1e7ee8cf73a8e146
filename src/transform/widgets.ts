import { NO_ROWS, type Rows, type RowValues } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { canonical, isObject, type JsonObject, toInteger, toText } from '../util/json.ts'
import { AS } from './fields.ts'
import { type Items, readItems } from './items.ts'
import { checkPart, gatherRejects } from './rejects.ts'

/**
 * A single widget, with or without the root key. Its id is in the answer, or the requested one. Throws SchemaError where the
 * answer is about another widget than the requested one, by id or by name.
 */
function singleWidget(body: JsonObject, planned: PlannedRequest): Items {
  const { root } = declaredRoute(planned)
  const own = body[root]
  const item = isObject(own) ? own : body
  const requested = String(planned.params.id)
  const names = [item.id_widget, item.id].filter((name) => name !== undefined && name !== null).map(String)
  const isNumber = (name: string): boolean => /^\d+$/.test(name)
  // An answer with only a name may be about any id, and the other way round.
  const sameForm = names.filter((name) => isNumber(name) === isNumber(requested))
  if (sameForm.length > 0 && !names.includes(requested))
    throw new SchemaError(`Requested widget ${requested}, but the response contains widget ${sameForm[0]}.`, {
      path: `$.${root}.id`,
    })
  const id =
    toInteger(item.id_widget) ?? toInteger(item.id) ?? (isNumber(requested) ? toInteger(Number(requested)) : null)
  if (id === null) throw new SchemaError('The widget has no id.', { path: `$.${root}.id_widget` })
  const rejects = gatherRejects()
  const part = checkPart(item, item === body ? '$' : `$.${root}`, rejects)
  return { items: [{ id, item, part }], rejects, whole: false }
}

/** The rows of an answer of `/widgets` or `/widgets/{id}`: known fields in columns, everything in the payload of its version. */
export function transformWidgets(body: JsonObject, planned: PlannedRequest): Rows {
  const { root, version, slots } = declaredRoute(planned)
  const isListing = Object.keys(slots).length === 0
  const { items, rejects, whole } = isListing ? readItems(body, root, ['id_widget', 'id']) : singleWidget(body, planned)
  const payload = `payload_v${version}`
  const { locale } = planned
  const ids = items.map(({ id }) => id)
  const rows = items.map(({ id, item, part }): RowValues => {
    const slug = toText(item.id)
    // Where it is the number, there is no other name.
    if (slug === null && item.id !== id && (item.id ?? '') !== '') part.misread('id', AS.text.type)
    if (item.id_widget !== id && (item.id_widget ?? null) !== null) part.misread('id_widget', AS.integer.type)
    return { id, ...(slug === null ? {} : { slug }), ...part.columns({ type: ['type', AS.text] }) }
  })
  const texts = items.map(({ id, item, part }): RowValues => {
    const known = part.columns({ name: ['name', AS.name], subtitle: ['subtitle', AS.text] })
    return { id, locale, ...known, [payload]: canonical(item) }
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'widget', rows, locale },
      { table: 'widget_text', rows: texts },
    ],
    listing: isListing
      ? { item: 'widget', text: 'widget_text', kind: null, locale, ids, complete: whole && planned.complete }
      : null,
    ...rejects.done(),
    empty: items.length === 0,
  }
}
