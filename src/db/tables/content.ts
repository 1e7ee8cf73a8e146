import { ARCHIVE_KIND, CONTENT_KIND, flag, integer, json, moment, optional, table, text } from './declare.ts'

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

export const archive = table(
  'A file that the service publishes regularly.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('Id at the service'),
    horizon: optional(text('Period of an edition: D M A H S T QM O NA')),
    archive_type: optional(text('zip, xls, xml, pdf, csv or json')),
    first_seen_at: moment('First seen'),
    payload: optional(json('Other fields as JSON')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at'] },
)

export const archive_text = table(
  'Texts of an archive in one language.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('Archive (archive.id)'),
    locale: text('Language, such as es'),
    name: optional(text('Name')),
    description: optional(text('Description')),
  },
  { key: ['kind', 'id', 'locale'], references: [{ columns: ['kind', 'id'], of: 'archive' }] },
)

export const archive_edition = table(
  'An edition of an archive, with the days that it covers and its publication days.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('Archive (archive.id)'),
    date: text('Listed day, YYYY-MM-DD'),
    date_times: json('Covered days: JSON array of none, one or two (first and last)'),
    publication_dates: json('Publication days: JSON array of none, one or two (first and last)'),
    url: optional(text('Download address as received, relative to the service')),
    first_seen_at: moment('First seen'),
    payload: optional(json('Dates and download as received, as JSON')),
  },
  {
    key: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
    silent: ['first_seen_at'],
    references: [{ columns: ['kind', 'id'], of: 'archive' }],
  },
)

export const archive_term = table(
  'A term of an archive.',
  { kind: text(ARCHIVE_KIND), id: integer('Archive (archive.id)'), term_id: integer('Term (taxonomy_term.id)') },
  {
    key: ['kind', 'id', 'term_id'],
    references: [
      { columns: ['kind', 'id'], of: 'archive' },
      { columns: ['term_id'], of: 'taxonomy_term' },
    ],
    withoutRowid: true,
  },
)

export const archive_vocabulary = table(
  'A vocabulary of an archive.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('Archive (archive.id)'),
    vocabulary_id: integer('Vocabulary (vocabulary.id)'),
  },
  {
    key: ['kind', 'id', 'vocabulary_id'],
    references: [
      { columns: ['kind', 'id'], of: 'archive' },
      { columns: ['vocabulary_id'], of: 'vocabulary' },
    ],
    withoutRowid: true,
  },
)

export const archive_file = table(
  'A downloaded archive file, stored next to the database and named by its checksum.',
  {
    url: text('Download address (archive_edition.url)'),
    sha256: text('SHA-256, hex'),
    bytes: integer('Size'),
    content_type: optional(text('MIME type from the response')),
    file_name: optional(text('File name from the response')),
    path: text('Path below the downloads folder'),
    fetched_at: moment('Time received'),
  },
  { key: ['url'], silent: ['fetched_at'], withoutRowid: true },
)

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
