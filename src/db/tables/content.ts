import {
  ARCHIVE_KIND,
  CONTENT_KIND,
  flag,
  instant,
  integer,
  json,
  LISTED_TEXT,
  LOCALE,
  moment,
  optional,
  table,
  text,
} from './declare.ts'

const ITEM = { kind: text(CONTENT_KIND), id: integer('Item (content.id)') }
const ARCHIVE = { kind: text(ARCHIVE_KIND), id: integer('Archive (archive.id)') }

export const content = table(
  'A news item, glossary entry, document or page.',
  {
    kind: text(CONTENT_KIND),
    id: integer('Id at the service'),
    published_status: optional(text('Publication state at the service')),
    published_at: optional(text('Publication date, as received (ISO 8601 with offset)')),
    updated_at: optional(text('Time of the last change, as received')),
    expires_at: optional(text('Expiry date, as received')),
    created_at: optional(text('Creation date, as received')),
    sticky: optional(flag('1 if pinned')),
    first_seen_at: moment('First seen'),
    last_seen_at: optional(moment('Last seen in a complete listing')),
    withdrawn_at: optional(moment('First found missing from a complete listing; the item is kept')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const content_text = table(
  'Texts of an item in one language.',
  {
    ...ITEM,
    ...LOCALE,
    title: optional(text('Title')),
    slug: optional(text('URL slug')),
    permalink: optional(text("Path on the service's site")),
    summary: optional(text('Summary')),
    body: optional(text('Body, HTML as received')),
    body_text: optional(text('Body as plain text')),
    payload: optional(json('Other fields as JSON')),
    ...LISTED_TEXT,
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
  },
  {
    key: ['kind', 'id', 'locale'],
    silent: ['last_seen_at', 'withdrawn_at', 'fetch_id', 'body_text'],
    references: { content: ['kind', 'id'] },
  },
)

export const content_revision = table(
  "An earlier version of an item's texts.",
  {
    ...ITEM,
    ...LOCALE,
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
    title: optional(text('Title of this version')),
    summary: optional(text('Summary of this version')),
    body: optional(text('Body of this version, HTML as received')),
    payload: optional(json('Other fields of this version, as JSON')),
    superseded_by: integer('Fetch that received the next version (_fetch.id)'),
  },
  { key: ['kind', 'id', 'locale', 'fetch_id'] },
)

export const content_term = table(
  'A term of an item.',
  { ...ITEM, term_id: integer('Term (taxonomy_term.id)') },
  {
    key: ['kind', 'id', 'term_id'],
    references: { content: ['kind', 'id'], taxonomy_term: ['term_id'] },
    withoutRowid: true,
  },
)

export const content_vocabulary = table(
  'A vocabulary of an item, also if the item has no term of it.',
  { ...ITEM, vocabulary_id: integer('Vocabulary (vocabulary.id)') },
  {
    key: ['kind', 'id', 'vocabulary_id'],
    references: { content: ['kind', 'id'], vocabulary: ['vocabulary_id'] },
    withoutRowid: true,
  },
)

export const content_media = table(
  'A file or image attached to an item.',
  {
    ...ITEM,
    ...LOCALE,
    media_id: integer('Id of the file at the service'),
    title: optional(text('Title')),
    media_type: optional(text('Type at the service: Document, Photo …')),
    file_name: optional(text('File name')),
    content_type: optional(text('MIME type')),
    file_size: optional(integer('Size')),
    url: optional(text('Download URL as received, relative to the service')),
    payload: optional(json('Other fields as JSON')),
  },
  { key: ['kind', 'id', 'locale', 'media_id'], references: { content: ['kind', 'id'] } },
)

export const archive = table(
  'A regularly published file.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('Id at the service'),
    horizon: optional(
      text(
        'Period of an edition, as the service abbreviates it: D day, M month, T quarter, A year; also H, S, QM, O and NA',
      ),
    ),
    archive_type: optional(text('zip, xls, xml, pdf, csv or json')),
    first_seen_at: moment('First seen'),
    payload: optional(json('Other fields as JSON')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at'] },
)

export const archive_text = table(
  'Texts of an archive in one language.',
  {
    ...ARCHIVE,
    ...LOCALE,
    name: optional(text('Name')),
    description: optional(text('Description')),
  },
  { key: ['kind', 'id', 'locale'], references: { archive: ['kind', 'id'] } },
)

export const archive_edition = table(
  'A published edition of an archive.',
  {
    ...ARCHIVE,
    date: text('Day under which the service lists it, YYYY-MM-DD'),
    date_times: json('Covered days as a JSON array: none, one, or first and last'),
    publication_dates: json('Publication days as a JSON array: none, one, or first and last'),
    url: optional(text('Download URL as received, relative to the service')),
    first_seen_at: moment('First seen'),
    payload: optional(json('Dates and download link as received, as JSON')),
  },
  {
    key: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
    silent: ['first_seen_at'],
    references: { archive: ['kind', 'id'] },
  },
)

export const archive_term = table(
  'A term of an archive.',
  { ...ARCHIVE, term_id: integer('Term (taxonomy_term.id)') },
  {
    key: ['kind', 'id', 'term_id'],
    references: { archive: ['kind', 'id'], taxonomy_term: ['term_id'] },
    withoutRowid: true,
  },
)

export const archive_vocabulary = table(
  'A vocabulary of an archive.',
  { ...ARCHIVE, vocabulary_id: integer('Vocabulary (vocabulary.id)') },
  {
    key: ['kind', 'id', 'vocabulary_id'],
    references: { archive: ['kind', 'id'], vocabulary: ['vocabulary_id'] },
    withoutRowid: true,
  },
)

export const archive_file = table(
  'A downloaded archive file, named by its checksum.',
  {
    url: text('Download URL (archive_edition.url)'),
    sha256: text('SHA-256, hex'),
    bytes: integer('Size'),
    content_type: optional(text('MIME type from the response')),
    file_name: optional(text('File name from the response')),
    path: text('Path relative to the downloads folder'),
    fetched_at: moment('Fetch time'),
    loaded_sha256: optional(text('SHA-256 of the version whose rows archive_row has')),
  },
  { key: ['url'], silent: ['fetched_at'], withoutRowid: true },
)

export const archive_row = table(
  'A row of a downloaded archive file with a known layout (`archives load`).',
  {
    ...ARCHIVE,
    date: text('Edition (archive_edition.date)'),
    file: text('File, or file in the ZIP; of a workbook with its sheet: I90DIA_20250703.xls/I90DIA00'),
    line: integer('Line of the file, or row of the JSON or sheet, from 1'),
    layout: text(
      'Layout: pvpc or settlement, whose view is archive_ and this name; i90_other for rows of I90 workbooks without values',
    ),
    columns: json(
      'Cells as received: a JSON array, or an object if they have names. Of sheets, by the letters of columns',
    ),
  },
  { key: ['kind', 'id', 'date', 'file', 'line'], withoutRowid: true },
)

export const archive_i90_row = table(
  'A row of a sheet of an I90 workbook (`archives load`), for each measure. The view archive_i90 has a row for each value.',
  {
    ...ARCHIVE,
    date: text('Edition (archive_edition.date)'),
    file: text('Workbook'),
    sheet: text('Number of the sheet, such as 03'),
    line: integer('Row of the sheet, from 1'),
    measure: text('Measure, if the periods of the sheet have several, such as MW; empty otherwise'),
    local_date: text('Local day of the data'),
    unit: optional(text('Programming unit (unidad de programación)')),
    labels: json('The other labels of the row by the names of their columns, as a JSON object'),
    at: instant('Start of the day'),
    step_s: integer('Length of the periods'),
    period_values: json('The value of each period of the day, as a JSON array; null for an empty cell'),
  },
  { key: ['kind', 'id', 'date', 'file', 'sheet', 'line', 'measure'], withoutRowid: true },
)

export const widget = table(
  "A widget of the service's site.",
  {
    id: integer('Id (id_widget in the response)'),
    slug: optional(text('URL slug (id in the response)')),
    type: optional(text('Widget or offer')),
    first_seen_at: moment('First seen'),
    last_seen_at: optional(moment('Last seen in a complete listing')),
    withdrawn_at: optional(moment('First found missing from a complete listing; the widget is kept')),
  },
  { key: ['id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const widget_text = table(
  'A widget in one language.',
  {
    id: integer('Widget (widget.id)'),
    ...LOCALE,
    name: optional(text('Name')),
    subtitle: optional(text('Subtitle')),
    payload_v1: optional(json('List entry (API version 1) as JSON')),
    payload_v2: optional(json('Widget (API version 2) as JSON')),
    ...LISTED_TEXT,
  },
  { key: ['id', 'locale'], silent: ['last_seen_at', 'withdrawn_at'], references: { widget: ['id'] } },
)
