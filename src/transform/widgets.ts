import { SchemaError } from '../base/errors.ts'
import { AS, canonical, columnsOf, integerOf, isObject, type JsonObject, textOf } from '../base/json.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { type Items, readItems } from './items.ts'

/**
 * The single widget: under its root key, or bare. Its number is its own, or the one it was requested by. Throws SchemaError when
 * it is another one than was requested, by its number or by its name.
 */
function single(body: JsonObject, planned: PlannedRequest): Items {
  const item = isObject(body.widget) ? body.widget : body
  const asked = String(planned.params.id)
  const names = [item.id_widget, item.id].filter((name) => name !== undefined && name !== null).map(String)
  const isNumber = (name: string): boolean => /^\d+$/.test(name)
  // One that tells only its name may bear any number, and the other way round.
  const told = names.filter((name) => isNumber(name) === isNumber(asked))
  if (told.length > 0 && !names.includes(asked))
    throw new SchemaError(`Widget ${asked} was requested, ${told[0]} was answered.`, { path: '$.widget.id' })
  const id = integerOf(item.id_widget) ?? integerOf(item.id) ?? (isNumber(asked) ? integerOf(Number(asked)) : null)
  if (id === null) throw new SchemaError('The widget has no number.', { path: '$.widget.id_widget' })
  return { items: [{ id, item }], rejects: [], rejected: 0, whole: false }
}

/** An answer of `/widgets` or `/widgets/{id}` as rows: what is known in columns, everything in the payload of its version. */
export function transformWidgets(body: JsonObject, planned: PlannedRequest): Rows {
  const { items, rejects, rejected, whole } =
    planned.route === 'widgets' ? readItems(body, 'widgets', ['id_widget', 'id']) : single(body, planned)
  const payload = `payload_v${planned.service.routes[planned.route]!.version}`
  const { locale } = planned
  const ids = items.map(({ id }) => id)
  const rows = items.map(({ id, item }): RowValues => {
    const slug = textOf(item.id)
    return { id, ...(slug === null ? {} : { slug }), ...columnsOf(item, { type: ['type', AS.text] }) }
  })
  const texts = items.map(({ id, item }): RowValues => {
    const known = columnsOf(item, { name: ['name', AS.text], subtitle: ['subtitle', AS.text] })
    return { id, locale, ...known, [payload]: canonical(item) }
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'widget', rows, locale },
      { table: 'widget_text', rows: texts },
    ],
    listing:
      planned.route === 'widgets'
        ? { item: 'widget', text: 'widget_text', kind: null, locale, ids, complete: whole && planned.complete }
        : null,
    rejects,
    rejected,
    empty: items.length === 0,
  }
}
