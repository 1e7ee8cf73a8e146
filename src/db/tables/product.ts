import { integer, optional, rowid, SEARCHED_KIND, table, text } from './declare.ts'

export const data_dictionary = table(
  'Meaning of every table, view and column.',
  {
    object: text('Table or view'),
    column_name: text('Column; empty for the table or view itself'),
    kind: text('table or view'),
    position: integer('Position of the column, from 1; 0 for the table or view itself'),
    type: optional(text('integer, real, text or blob; NULL for columns of views')),
    unit: optional(text('Unit or format')),
    meaning: text('Meaning'),
  },
  { key: ['object', 'column_name'], withoutRowid: true },
)

export const search_item = table(
  'A searchable text; its id is the rowid of `search`, an FTS5 index (name, more, text; accents folded).',
  {
    id: rowid('Local id'),
    kind: text(SEARCHED_KIND),
    item_id: integer('Indicator, item or archive'),
    locale: text('Language, such as es'),
  },
  { key: ['id'] },
)
