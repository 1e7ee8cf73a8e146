import { integer, optional, rowid, SEARCHED_KIND, table, text } from './declare.ts'

export const data_dictionary = table(
  'The meaning of every table, view and column, for users who have only the file.',
  {
    object: text('The table or view'),
    column_name: text('The column; empty for the table or view itself'),
    kind: text('table or view'),
    position: integer('The place of the column, from 1; 0 for the table or view itself'),
    type: optional(text('integer, real, text or blob; NULL for columns of views')),
    unit: optional(text('The unit or form of its values')),
    meaning: text('What it means'),
  },
  { key: ['object', 'column_name'], withoutRowid: true },
)

export const search_item = table(
  'A text that can be searched: `search` is an FTS5 index (name, more, text; accents folded) whose rowid is the id here.',
  {
    id: rowid('Our number for it'),
    kind: text(SEARCHED_KIND),
    item_id: integer('The indicator, item or archive'),
    locale: text('The language, such as es'),
  },
  { key: ['id'] },
)
