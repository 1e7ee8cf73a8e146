import { flag, INDICATOR_KIND, integer, json, moment, optional, table, text } from './declare.ts'

export const indicator = table(
  'One indicator of the catalogue, or one whose values were fetched.',
  {
    kind: text(INDICATOR_KIND),
    id: integer('The number that the service gives it'),
    step_type: optional(text('How the service draws it: linear or step')),
    composited: optional(flag('1 when it is the sum of others')),
    disaggregated: optional(flag('1 when it is split by geo')),
    magnitude_id: optional(integer('What is measured: 13 is an energy, 20 a power, 23 a price')),
    magnitude: optional(text("The service's word for what is measured, in the language first fetched")),
    first_seen_at: moment('When it was first seen here'),
    last_seen_at: optional(moment('When a complete listing last held it')),
    withdrawn_at: optional(moment('When a complete listing no longer held it; NULL while it is listed')),
    payload: optional(json('Every field of the service without a column of its own, as JSON')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const indicator_text = table(
  "An indicator's texts in one language.",
  {
    kind: text(INDICATOR_KIND),
    id: integer('The indicator'),
    locale: text('The language, such as es'),
    name: optional(text('Its name')),
    short_name: optional(text('Its short name')),
    description: optional(text('Its description, HTML as it came')),
    description_text: optional(text('Its description as plain text')),
    last_seen_at: optional(moment('When a complete listing in this language last held it')),
    withdrawn_at: optional(moment('When a complete listing in this language no longer held it')),
    fetch_id: integer('The fetch that brought this version (_fetch.id)'),
  },
  {
    key: ['kind', 'id', 'locale'],
    silent: ['last_seen_at', 'withdrawn_at', 'fetch_id'],
    references: [{ columns: ['kind', 'id'], of: 'indicator' }],
  },
)

export const indicator_revision = table(
  'An earlier version of the texts of an indicator: one of them changed, or one came that had been open (NULL).',
  {
    kind: text(INDICATOR_KIND),
    id: integer('The indicator'),
    locale: text('The language, such as es'),
    fetch_id: integer('The fetch that brought this version (_fetch.id)'),
    name: optional(text('Its name then')),
    short_name: optional(text('Its short name then')),
    description: optional(text('Its description then, HTML as it came')),
    superseded_by: integer('The fetch that brought the next version (_fetch.id)'),
  },
  { key: ['kind', 'id', 'locale', 'fetch_id'] },
)

export const indicator_term = table(
  'A term under which the catalogue lists an indicator, as far as the catalogue was requested by that term alone.',
  {
    term: text('The term, as the service spells it'),
    kind: text(INDICATOR_KIND),
    id: integer('The indicator'),
  },
  { key: ['term', 'kind', 'id'], withoutRowid: true },
)
