/** Tables of texts whose earlier versions are kept: the table of the history, and the columns of a version. */
export const TEXT_HISTORIES = {
  indicator_text: { history: 'indicator_revision', columns: ['name', 'short_name', 'description'] },
  content_text: { history: 'content_revision', columns: ['title', 'summary', 'body', 'payload'] },
} as const

/** Tables of texts that can be searched: the columns that become `name`, `more` and `text` of the index; null for none. */
export const SEARCHED_TEXTS = {
  indicator_text: ['name', 'short_name', 'description_text'],
  content_text: ['title', 'summary', 'body_text'],
  archive_text: ['name', null, 'description'],
} as const
