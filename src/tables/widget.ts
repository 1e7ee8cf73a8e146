import { integer, json, moment, optional, table, text } from './declare.ts'

export const widget = table(
  "A widget of the service's site.",
  {
    id: integer('Its number (id_widget on the wire)'),
    slug: optional(text('Its name in addresses (id on the wire)')),
    type: optional(text('Widget or offer')),
    first_seen_at: moment('When it was first seen here'),
    last_seen_at: optional(moment('When a complete list last held it')),
    withdrawn_at: optional(moment('When a complete list no longer held it; the widget is kept')),
  },
  { key: ['id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const widget_text = table(
  'A widget in one language.',
  {
    id: integer('The widget'),
    locale: text('The language, such as es'),
    name: optional(text('Its name')),
    subtitle: optional(text('Its subtitle')),
    payload_v1: optional(json('The whole entry of the list (version 1 of the API), as JSON')),
    payload_v2: optional(json('The whole single widget (version 2 of the API), as JSON')),
    last_seen_at: optional(moment('When a complete list in this language last held it')),
    withdrawn_at: optional(moment('When a complete list in this language no longer held it')),
  },
  { key: ['id', 'locale'], silent: ['last_seen_at', 'withdrawn_at'], references: [{ columns: ['id'], of: 'widget' }] },
)
