import { integer, optional, table, text } from './declare.ts'

export const vocabulary = table(
  'A list of terms.',
  { id: integer('The number that the service gives it') },
  { key: ['id'] },
)

export const vocabulary_text = table(
  'The name of a vocabulary in one language.',
  { id: integer('The vocabulary'), locale: text('The language, such as es'), name: text('Its name') },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'vocabulary' }], withoutRowid: true },
)

export const taxonomy_term = table(
  'A term that content and archives are filed under.',
  {
    id: integer('The number that the service gives it'),
    vocabulary_id: optional(integer('The vocabulary it belongs to (vocabulary.id)')),
  },
  { key: ['id'] },
)

export const taxonomy_term_text = table(
  'The name of a taxonomy term in one language.',
  { id: integer('The term'), locale: text('The language, such as es'), name: text('Its name') },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'taxonomy_term' }], withoutRowid: true },
)
