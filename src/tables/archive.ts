import { ARCHIVE_KIND, integer, json, moment, optional, table, text } from './declare.ts'

export const archive = table(
  'A file that the service publishes again and again.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('The number that the service gives it'),
    horizon: optional(text('How long a time one edition is about: D M A H S T QM O NA')),
    archive_type: optional(text('zip, xls, xml, pdf, csv or json')),
    first_seen_at: moment('When it was first seen here'),
    payload: optional(json('Every field of the service without a column of its own, as JSON')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at'] },
)

export const archive_text = table(
  "An archive's texts in one language.",
  {
    kind: text(ARCHIVE_KIND),
    id: integer('The archive'),
    locale: text('The language, such as es'),
    name: optional(text('Its name')),
    description: optional(text('Its description')),
  },
  { key: ['kind', 'id', 'locale'], references: [{ columns: ['kind', 'id'], of: 'archive' }] },
)

export const archive_edition = table(
  'One entry of a listing: an archive with the dates it is about and those on which it was published.',
  {
    kind: text(ARCHIVE_KIND),
    id: integer('The archive'),
    date: text('The day the entry was listed for, YYYY-MM-DD'),
    date_times: json('The days the edition is about: a JSON array of none, one or two (first and last)'),
    publication_dates: json('The days it was published: a JSON array of none, one or two (first and last)'),
    url: optional(text('Where the file is to be had, as it came: relative to the service')),
    first_seen_at: moment('When it was first seen here'),
    payload: optional(json('The dates and the download as they came, as JSON')),
  },
  {
    key: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
    silent: ['first_seen_at'],
    references: [{ columns: ['kind', 'id'], of: 'archive' }],
  },
)

export const archive_term = table(
  'A term that an archive is filed under.',
  { kind: text(ARCHIVE_KIND), id: integer('The archive'), term_id: integer('The term (taxonomy_term.id)') },
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
  'A vocabulary that an archive is filed under.',
  { kind: text(ARCHIVE_KIND), id: integer('The archive'), vocabulary_id: integer('The vocabulary (vocabulary.id)') },
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
  'A file of an archive that was downloaded. The file itself is next to the database; its name is its checksum.',
  {
    url: text('Where it was to be had (archive_edition.url)'),
    sha256: text('Its checksum, hex'),
    bytes: integer('Its size'),
    content_type: optional(text('Its MIME type, from the answer')),
    file_name: optional(text('Its name, from the answer')),
    path: text('Its path below the folder of downloads'),
    fetched_at: moment('When it came'),
  },
  { key: ['url'], silent: ['fetched_at'], withoutRowid: true },
)
