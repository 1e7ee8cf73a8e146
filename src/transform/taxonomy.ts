import { integerOf, isObject, listOf, textOf } from '../base/json.ts'
import type { OwnedRows, RowValues, TableRows } from '../tables/rows.ts'
import type { TableName } from '../tables/schema.ts'

/** An item, and the terms and vocabularies that it names. */
export interface Filed {
  readonly owner: RowValues
  readonly terms: unknown
  readonly vocabularies: unknown
}

/** The rows of the terms and vocabularies that items name, and of the links between them. */
export function taxonomyRows(
  filed: readonly Filed[],
  locale: string,
  links: { readonly term: TableName; readonly vocabulary: TableName },
): { tables: TableRows[]; owned: OwnedRows[] } {
  const terms = new Map<number, { vocabularyId: number | null; name: string | null }>()
  const vocabularies = new Map<number, string | null>()
  const termLinks: RowValues[] = []
  const vocabularyLinks: RowValues[] = []
  for (const item of filed) {
    for (const term of listOf(item.terms).filter(isObject)) {
      const id = integerOf(term.id_taxonomy_term)
      if (id === null) continue
      const vocabularyId = integerOf(term.vocabulary_id)
      terms.set(id, { vocabularyId, name: textOf(term.name) })
      if (vocabularyId !== null && !vocabularies.has(vocabularyId)) vocabularies.set(vocabularyId, null)
      termLinks.push({ ...item.owner, term_id: id })
    }
    for (const vocabulary of listOf(item.vocabularies).filter(isObject)) {
      const id = integerOf(vocabulary.id_vocabulary)
      if (id === null) continue
      vocabularies.set(id, textOf(vocabulary.name))
      vocabularyLinks.push({ ...item.owner, vocabulary_id: id })
    }
  }
  const named = <T>(entries: Iterable<readonly [number, T]>, name: (value: T) => string | null): RowValues[] =>
    [...entries].flatMap(([id, value]) => (name(value) === null ? [] : [{ id, locale, name: name(value) }]))
  const ownersOf = (list: 'terms' | 'vocabularies'): RowValues[] =>
    filed.filter((item) => item[list] !== undefined).map(({ owner }) => owner)
  const owner = Object.keys(filed[0]?.owner ?? {})
  return {
    tables: [
      { table: 'vocabulary', rows: [...vocabularies.keys()].map((id) => ({ id })) },
      { table: 'vocabulary_text', rows: named(vocabularies, (name) => name) },
      {
        table: 'taxonomy_term',
        rows: [...terms].map(([id, { vocabularyId }]) =>
          vocabularyId === null ? { id } : { id, vocabulary_id: vocabularyId },
        ),
      },
      { table: 'taxonomy_term_text', rows: named(terms, ({ name }) => name) },
    ],
    owned: [
      { table: links.term, owner, owners: ownersOf('terms'), rows: termLinks, locale },
      { table: links.vocabulary, owner, owners: ownersOf('vocabularies'), rows: vocabularyLinks, locale },
    ],
  }
}
