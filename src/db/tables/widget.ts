import { integer, json, moment, optional, table, text } from './declare.ts'

export const widget = table(
  "A widget of the service's site.",
  {
    id: integer('Id (id_widget in the response)'),
    slug: optional(text('Name in addresses (id in the response)')),
    type: optional(text('Widget or offer')),
    first_seen_at: moment('First seen'),
    last_seen_at: optional(moment('Last seen in a complete list')),
    withdrawn_at: optional(moment('First missing from a complete list; the widget is kept')),
  },
  { key: ['id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const widget_text = table(
  'A widget in one language.',
  {
    id: integer('Widget (widget.id)'),
    locale: text('Language, such as es'),
    name: optional(text('Name')),
    subtitle: optional(text('Subtitle')),
    payload_v1: optional(json('Entry of the list (API version 1), as JSON')),
    payload_v2: optional(json('Single widget (API version 2), as JSON')),
    last_seen_at: optional(moment('Last seen in a complete list in this language')),
    withdrawn_at: optional(moment('First missing from a complete list in this language')),
  },
  { key: ['id', 'locale'], silent: ['last_seen_at', 'withdrawn_at'], references: [{ columns: ['id'], of: 'widget' }] },
)
