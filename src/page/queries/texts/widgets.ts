import type { Reader } from '../../../db/store.ts'
import { inLanguage } from '../locale.ts'

/** How many letters of a widget's JSON a page shows. */
const PAYLOAD = 20_000

/** Every widget with its name in the first of some languages that it has: a service has some hundred. */
export async function readWidgets({ kysely }: Reader, languages: readonly string[]) {
  const widgets = await kysely
    .selectFrom('widget')
    .select(['id', 'slug', 'type', 'withdrawn_at'])
    .orderBy('id')
    .execute()
  const texts = await kysely
    .selectFrom('widget_text')
    .select(['id', 'locale', 'name', 'subtitle'])
    .orderBy('id')
    .orderBy('locale')
    .execute()
  const groups = Map.groupBy(texts, ({ id }) => id)
  return {
    widgets: widgets.map((widget) => {
      const text = inLanguage(groups.get(widget.id) ?? [], languages)
      return {
        ...widget,
        name: text?.name ?? null,
        subtitle: text?.subtitle ?? null,
        locale: text?.locale ?? null,
      }
    }),
  }
}

/** JSON with line breaks, shortened where it is long. */
const readable = (json: string | null) => {
  if (json === null) return null
  const text = JSON.stringify(JSON.parse(json), null, 2)
  return { text: text.slice(0, PAYLOAD), letters: text.length, cut: text.length > PAYLOAD }
}

/** One widget with all its fields; null when there is none. */
export async function readWidget({ kysely }: Reader, id: number, languages: readonly string[]) {
  const widget = await kysely.selectFrom('widget').selectAll().where('id', '=', id).executeTakeFirst()
  if (!widget) return null
  const texts = await kysely.selectFrom('widget_text').selectAll().where('id', '=', id).orderBy('locale').execute()
  const text = inLanguage(texts, languages)
  return {
    widget,
    name: text?.name ?? null,
    subtitle: text?.subtitle ?? null,
    locale: text?.locale ?? null,
    list: readable(text?.payload_v1 ?? null),
    single: readable(text?.payload_v2 ?? null),
  }
}
