import { integer, optional, table, text } from './declare.ts'

export const vocabulary = table('A list of terms.', { id: integer('Id at the service') }, { key: ['id'] })

export const vocabulary_text = table(
  'The name of a vocabulary in one language.',
  { id: integer('Vocabulary (vocabulary.id)'), locale: text('Language, such as es'), name: text('Name') },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'vocabulary' }], withoutRowid: true },
)

export const taxonomy_term = table(
  'A term of items and archives.',
  {
    id: integer('Id at the service'),
    vocabulary_id: optional(integer('Vocabulary (vocabulary.id)')),
  },
  { key: ['id'] },
)

export const taxonomy_term_text = table(
  'The name of a taxonomy term in one language.',
  { id: integer('Term (taxonomy_term.id)'), locale: text('Language, such as es'), name: text('Name') },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'taxonomy_term' }], withoutRowid: true },
)
