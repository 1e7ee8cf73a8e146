import { ARCHIVE_KIND, integer, json, moment, optional, table, text } from './declare.ts'

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
