import { CONTENT_KIND, flag, integer, json, moment, optional, table, text } from './declare.ts'

export const content = table(
  'One item of editorial content.',
  {
    kind: text(CONTENT_KIND),
    id: integer('The number that the service gives it'),
    published_status: optional(text("The service's word for its state")),
    published_at: optional(text('When it was published, as it came (ISO 8601 with offset)')),
    updated_at: optional(text('When it was last changed, as it came')),
    expires_at: optional(text('When it leaves the listing, as it came')),
    created_at: optional(text('When it was written, as it came')),
    sticky: optional(flag('1 when it is kept on top')),
    first_seen_at: moment('When it was first seen here'),
    last_seen_at: optional(moment('When a complete listing last held it')),
    withdrawn_at: optional(moment('When a complete listing no longer held it; the item is kept')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const content_text = table(
  "An item's texts in one language.",
  {
    kind: text(CONTENT_KIND),
    id: integer('The item'),
    locale: text('The language, such as es'),
    title: optional(text('Its title')),
    slug: optional(text('Its name in addresses')),
    permalink: optional(text("Its path on the service's site")),
    summary: optional(text('Its summary')),
    body: optional(text('Its body, HTML as it came')),
    body_text: optional(text('Its body as plain text')),
    payload: optional(json('Every field of the service without a column of its own, as JSON')),
    last_seen_at: optional(moment('When a complete listing in this language last held it')),
    withdrawn_at: optional(moment('When a complete listing in this language no longer held it')),
    fetch_id: integer('The fetch that brought this version (_fetch.id)'),
  },
  {
    key: ['kind', 'id', 'locale'],
    silent: ['last_seen_at', 'withdrawn_at', 'fetch_id', 'body_text'],
    references: [{ columns: ['kind', 'id'], of: 'content' }],
  },
)

export const content_revision = table(
  "An earlier version of an item's texts: one of them changed, or one came that had been open (NULL).",
  {
    kind: text(CONTENT_KIND),
    id: integer('The item'),
    locale: text('The language, such as es'),
    fetch_id: integer('The fetch that brought this version (_fetch.id)'),
    title: optional(text('Its title then')),
    summary: optional(text('Its summary then')),
    body: optional(text('Its body then, HTML as it came')),
    payload: optional(json('Its other fields then, as JSON')),
    superseded_by: integer('The fetch that brought the next version (_fetch.id)'),
  },
  { key: ['kind', 'id', 'locale', 'fetch_id'] },
)

export const content_term = table(
  'A term that an item is filed under.',
  { kind: text(CONTENT_KIND), id: integer('The item'), term_id: integer('The term (taxonomy_term.id)') },
  {
    key: ['kind', 'id', 'term_id'],
    references: [
      { columns: ['kind', 'id'], of: 'content' },
      { columns: ['term_id'], of: 'taxonomy_term' },
    ],
    withoutRowid: true,
  },
)

export const content_vocabulary = table(
  'A vocabulary that an item is filed under; the service names some without a term.',
  { kind: text(CONTENT_KIND), id: integer('The item'), vocabulary_id: integer('The vocabulary (vocabulary.id)') },
  {
    key: ['kind', 'id', 'vocabulary_id'],
    references: [
      { columns: ['kind', 'id'], of: 'content' },
      { columns: ['vocabulary_id'], of: 'vocabulary' },
    ],
    withoutRowid: true,
  },
)

export const content_media = table(
  'A file, picture or film that belongs to an item.',
  {
    kind: text(CONTENT_KIND),
    id: integer('The item'),
    locale: text('The language, such as es'),
    media_id: integer('The number that the service gives the medium'),
    title: optional(text('Its title')),
    media_type: optional(text('Document, Photo …')),
    file_name: optional(text('Its file name')),
    content_type: optional(text('Its MIME type')),
    file_size: optional(integer('Bytes')),
    url: optional(text('Where it is to be had, as it came: relative to the service')),
    payload: optional(json('Every field of the service without a column of its own, as JSON')),
  },
  { key: ['kind', 'id', 'locale', 'media_id'], references: [{ columns: ['kind', 'id'], of: 'content' }] },
)
