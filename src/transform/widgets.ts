import { routeOf } from '../api/routes.ts'
import { ShapeError } from '../base/errors.ts'
import { canonical, integerOf, isObject, type JsonObject, textOf } from '../base/json.ts'
import type { Ask } from '../job/ask.ts'
import { NO_ROWS, type Rows, type RowValues } from '../tables/rows.ts'
import { type Items, readItems } from './items.ts'

/** The single widget: under its root key, or bare. Its number is its own, or the one it was asked by. */
function single(body: JsonObject, ask: Ask): Items {
  const item = isObject(body.widget) ? body.widget : body
  const id = integerOf(item.id_widget) ?? integerOf(item.id) ?? integerOf(ask.params.id)
  if (id === null) throw new ShapeError('The widget has no number.', { path: '$.widget.id_widget' })
  return { items: [{ id, item }], rejects: [], whole: false }
}

/** An answer of `/widgets` or `/widgets/{id}` as rows: what is known in columns, everything in the payload of its version. */
export function transformWidgets(body: JsonObject, ask: Ask): Rows {
  const { items, rejects, whole } =
    ask.route === 'widgets' ? readItems(body, 'widgets', ['id_widget', 'id']) : single(body, ask)
  const payload = `payload_v${routeOf(ask.route).version}`
  const { locale } = ask
  const ids = items.map(({ id }) => id)
  const rows = items.map(({ id, item }): RowValues => {
    const slug = textOf(item.id)
    const type = textOf(item.type)
    return { id, ...(slug === null ? {} : { slug }), ...(type === null ? {} : { type }) }
  })
  const texts = items.map(({ id, item }): RowValues => {
    const name = textOf(item.name)
    const subtitle = textOf(item.subtitle)
    const known = { ...(name === null ? {} : { name }), ...(subtitle === null ? {} : { subtitle }) }
    return { id, locale, ...known, [payload]: canonical(item) }
  })
  return {
    ...NO_ROWS,
    tables: [
      { table: 'widget', rows },
      { table: 'widget_text', rows: texts },
    ],
    listing:
      ask.route === 'widgets'
        ? { item: 'widget', text: 'widget_text', kind: null, locale, ids, complete: whole && ask.complete }
        : null,
    rejects,
    empty: items.length === 0,
  }
}
