import { CONTENT_KIND, flag, integer, json, moment, optional, table, text } from './declare.ts'

export const content = table(
  'An item of editorial content.',
  {
    kind: text(CONTENT_KIND),
    id: integer('Id at the service'),
    published_status: optional(text('Publication state at the service')),
    published_at: optional(text('Publication date, as received (ISO 8601 with offset)')),
    updated_at: optional(text('Last changed, as received')),
    expires_at: optional(text('Expiry date, as received')),
    created_at: optional(text('Created, as received')),
    sticky: optional(flag('1 if pinned')),
    first_seen_at: moment('First seen'),
    last_seen_at: optional(moment('Last seen in a complete listing')),
    withdrawn_at: optional(moment('First missing from a complete listing; the item is kept')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const content_text = table(
  'Texts of an item in one language.',
  {
    kind: text(CONTENT_KIND),
    id: integer('Item (content.id)'),
    locale: text('Language, such as es'),
    title: optional(text('Title')),
    slug: optional(text('Name in addresses')),
    permalink: optional(text("Path on the service's site")),
    summary: optional(text('Summary')),
    body: optional(text('Body, HTML as received')),
    body_text: optional(text('Body as plain text')),
    payload: optional(json('Other fields as JSON')),
    last_seen_at: optional(moment('Last seen in a complete listing in this language')),
    withdrawn_at: optional(moment('First missing from a complete listing in this language')),
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
  },
  {
    key: ['kind', 'id', 'locale'],
    silent: ['last_seen_at', 'withdrawn_at', 'fetch_id', 'body_text'],
    references: [{ columns: ['kind', 'id'], of: 'content' }],
  },
)

export const content_revision = table(
  "An earlier version of an item's texts.",
  {
    kind: text(CONTENT_KIND),
    id: integer('Item (content.id)'),
    locale: text('Language, such as es'),
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
    title: optional(text('Title at that time')),
    summary: optional(text('Summary at that time')),
    body: optional(text('Body at that time, HTML as received')),
    payload: optional(json('Other fields at that time, as JSON')),
    superseded_by: integer('Fetch that received the next version (_fetch.id)'),
  },
  { key: ['kind', 'id', 'locale', 'fetch_id'] },
)

export const content_term = table(
  'A term of an item.',
  { kind: text(CONTENT_KIND), id: integer('Item (content.id)'), term_id: integer('Term (taxonomy_term.id)') },
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
  'A vocabulary of an item; some have no term.',
  { kind: text(CONTENT_KIND), id: integer('Item (content.id)'), vocabulary_id: integer('Vocabulary (vocabulary.id)') },
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
  'A file, picture or video of an item.',
  {
    kind: text(CONTENT_KIND),
    id: integer('Item (content.id)'),
    locale: text('Language, such as es'),
    media_id: integer('Id of the medium at the service'),
    title: optional(text('Title')),
    media_type: optional(text('Document, Photo …')),
    file_name: optional(text('File name')),
    content_type: optional(text('MIME type')),
    file_size: optional(integer('Size')),
    url: optional(text('Download address as received, relative to the service')),
    payload: optional(json('Other fields as JSON')),
  },
  { key: ['kind', 'id', 'locale', 'media_id'], references: [{ columns: ['kind', 'id'], of: 'content' }] },
)
